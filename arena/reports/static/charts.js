// Charts: each is drawn when it comes into view, or when the page is printed.
"use strict";

(() => {
  const readout = document.getElementById("readout");

  function showReadout(handler, event, item, value) {
    const nothing = value === null || value === undefined || value === "";
    if (nothing && event?.pointerType === "touch") return; // the finger was lifted: it stays
    readout.replaceChildren();
    readout.hidden = nothing;
    if (nothing) return;
    const list = document.createElement("dl");
    for (const [name, text] of Object.entries(value)) {
      if (text === null || text === undefined || text === "undefined" || text === "null") continue;
      const [term, detail] = ["dt", "dd"].map((tag) => document.createElement(tag));
      term.textContent = name;
      detail.textContent = text;
      list.append(term, detail);
    }
    readout.append(list);
    const point = event.touches?.[0] ?? event;
    const room = document.documentElement.clientWidth - readout.offsetWidth - 8;
    const below = point.clientY + 16 + readout.offsetHeight < window.innerHeight;
    readout.style.left = `${Math.max(8, Math.min(point.clientX + 12, room))}px`;
    readout.style.top = `${below ? point.clientY + 16 : Math.max(8, point.clientY - readout.offsetHeight - 12)}px`;
  }

  const pen = document.createElement("canvas").getContext("2d");
  const font = getComputedStyle(document.body).fontFamily;

  function measure(text, size) {
    pen.font = `${size}px ${font}`;
    return pen.measureText(text).width;
  }

  const SAMPLE = "share of its wins that are by City, 0123456789 %";
  const LETTER = 6.5; // pixels of the mean letter: wider than in DejaVu Sans; a wider font is set smaller
  const SIZE = 12 * Math.min(1, LETTER * SAMPLE.length / measure(SAMPLE, 12));

  // Beside long names a plot is narrow: what is wider ends where the plot ends, and has room on the left.
  const narrower = (width, otherwise = "start") => ({ signal: `width < ${width} ? "end" : "${otherwise}"` });

  const ink = "currentColor";
  const CONFIG = {
    aria: false,
    background: null,
    font,
    view: { stroke: null },
    axisQuantitative: { labelOverlap: "greedy", labelSeparation: 8 },
    axisXQuantitative: { tickCount: { expr: "ceil(width / 70)" } }, // so that no label is left out
    axis: {
      labelColor: ink, titleColor: ink, tickColor: ink, domainColor: ink, gridColor: ink,
      gridOpacity: 0.14, domainOpacity: 0.4, tickOpacity: 0.4, labelFontSize: SIZE, titleFontSize: SIZE,
      titleFontWeight: "normal",
    },
    legend: { labelColor: ink, titleColor: ink, labelFontSize: SIZE, titleFontSize: SIZE, titleFontWeight: "normal", layout: { anchor: narrower(200) } },
    header: { labelColor: ink, titleColor: ink, labelFontSize: SIZE + 1 },
    title: { color: ink },
    text: { color: ink, fontSize: SIZE },
  };

  const NEAR = "300px"; // from the window: there a chart is drawn already

  // The colours of the specifications in the dark: each has a contrast of 3 at least there, too.
  const IN_THE_DARK = {
    "#0072b2": "#4aa3dc", "#d55e00": "#ff8a3d", "#6f7882": "#9aa4b0", "#b86e00": "#eba32d",
    "#0b4f86": "#3f92d2", "#3a93cb": "#9ad6f5", "#b0558a": "#d98cb9",
  };
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const figures = [...document.querySelectorAll("figure.chart")];

  function readSpec(figure) {
    const text = figure.querySelector("script").textContent;
    const spec = JSON.parse(text);
    return dark.matches && spec.usermeta?.colours !== "own" ? JSON.parse(inTheDark(text)) : spec;
  }

  function inTheDark(text) {
    return text.replace(/"#[0-9a-f]{6}"/g, (colour) => {
      const other = IN_THE_DARK[colour.slice(1, -1)];
      return other ? `"${other}"` : colour;
    });
  }

  // A title continues on a new line where its chart ends; only a word that is wider is cut.
  function wrap(title, room) {
    const lines = [""];
    for (const word of title.split(" ")) {
      const longer = `${lines.at(-1)} ${word}`.trim();
      if (!lines.at(-1) || measure(longer, SIZE) <= room) lines[lines.length - 1] = longer;
      else lines.push(word);
    }
    return lines;
  }

  function fitTitles(group, width) {
    for (const guide of [...group.axes ?? [], ...group.legends ?? []]) {
      const across = !["left", "right"].includes(guide.orient);
      const room = across ? width : group.height;
      if (typeof guide.title !== "string" || !(room > 0)) continue;
      if (across && group.axes?.includes(guide)) guide.titleAnchor = narrower(measure(guide.title, SIZE), "middle");
      Object.assign(guide, { title: wrap(guide.title, room), titleLimit: room });
    }
    for (const part of group.marks ?? []) fitTitles(part, width);
    return group;
  }

  // All that is awaited here is there at once, so that a page which is printed has its charts.
  const views = new Map(); // what shows a figure now

  async function draw(figure) {
    const spec = readSpec(figure);
    const plot = figure.querySelector(".plot");
    const isPicture = Boolean(spec.usermeta?.picture);
    const ink = getComputedStyle(figure).color; // a canvas does not know the colour of its text
    const config = isPicture ? JSON.parse(JSON.stringify(CONFIG).replaceAll("currentColor", ink)) : CONFIG;
    const options = { ast: true, actions: false, config, bind: figure.querySelector(".choices"), tooltip: showReadout };
    options.patch = (group) => fitTitles(group, plot.clientWidth);
    Object.assign(options, isPicture ? { renderer: "canvas", scaleFactor: 2 } : { renderer: "svg" });
    views.get(figure)?.finalize();
    views.set(figure, null); // a chart that is begun is not begun again
    const { view } = await vegaEmbed(plot, spec, options);
    views.set(figure, view);
    const tap = isPicture ? "touchstart" : "click"; // a picture finds what was tapped only so
    view.addEventListener(tap, (event, item) => showReadout(view, event, item, item && item.tooltip));
    figure.dataset.drawn = "";
  }

  const watch = new IntersectionObserver(async (entries) => {
    const seen = entries.filter((entry) => entry.isIntersecting && !views.has(entry.target));
    for (const { target } of seen) {
      await draw(target);
      await new Promise((resolve) => { setTimeout(resolve); }); // the reader's clicks come first
    }
    document.documentElement.dataset.drawn = ""; // what is in view
  }, { rootMargin: NEAR });
  for (const figure of figures) watch.observe(figure);
  if (!figures.length) document.documentElement.dataset.drawn = "";

  // On paper charts are narrower, so that their text can be read.
  window.addEventListener("beforeprint", () => {
    document.documentElement.classList.add("printing");
    figures.forEach(draw);
  });
  window.addEventListener("afterprint", () => {
    document.documentElement.classList.remove("printing");
    figures.forEach(draw);
  });
  dark.addEventListener("change", () => [...views.keys()].forEach(draw));

  document.addEventListener("scroll", () => { readout.hidden = true; }, { passive: true });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") readout.hidden = true; });
})();
