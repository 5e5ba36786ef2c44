// The page of a report: charts are drawn, tables are sorted, filtered and copied, replays open.
"use strict";

(() => {
  const NUMBERS = new Set(["count", "number", "elo", "change", "share", "seconds"]);

  // Tables

  function valueOf(cell, kind) {
    const text = cell.dataset.v ?? cell.textContent.trim();
    if (!NUMBERS.has(kind)) return text;
    return text === "" ? null : Number(text.replaceAll(",", ""));
  }

  function compare(one, other, sign) {
    if (one === null || other === null) return (one === null) - (other === null);
    if (typeof one === "number") return sign * (one - other);
    return sign * one.localeCompare(other, "en", { numeric: true });
  }

  function sortBy(table, head, order) {
    const column = head.cellIndex;
    const sign = order === "ascending" ? 1 : -1;
    const body = table.tBodies[0];
    const keyed = [...body.rows].map((row) => [valueOf(row.cells[column], head.dataset.kind), row]);
    keyed.sort((one, other) => compare(one[0], other[0], sign));
    body.append(...keyed.map(([, row]) => row));
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order);
  }

  function makeSortable(table) {
    for (const head of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      const first = NUMBERS.has(head.dataset.kind) ? "descending" : "ascending";
      const second = first === "ascending" ? "descending" : "ascending";
      button.addEventListener("click", () => {
        sortBy(table, head, head.getAttribute("aria-sort") === first ? second : first);
      });
    }
  }

  function makeFilter(holder, table) {
    const input = holder.querySelector("input");
    const said = holder.querySelector(".said");
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of table.tBodies[0].rows) {
        const text = [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        shown += !row.hidden;
      }
      said.textContent = words.length ? `${shown} of ${table.tBodies[0].rows.length} rows` : "";
    });
  }

  // As arena.store.cells does: no spreadsheet makes a formula of a text after an apostrophe.
  function guard(text) {
    return /^'*[ \t\r\n=+\-@＝＋－＠]/.test(text) ? `'${text}` : text;
  }

  function quote(text) {
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  function toCsv(table) {
    const heads = [...table.tHead.rows[0].cells];
    const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);
    const lines = rows.map((row) =>
      heads.map((head, n) => {
        const value = valueOf(row.cells[n], head.dataset.kind) ?? "";
        return quote(typeof value === "string" ? guard(value) : String(value));
      }),
    );
    return [heads.map((head) => head.dataset.name), ...lines].map((line) => `${line.join(",")}\n`).join("");
  }

  // A page that was opened from a file may have no clipboard: then the text is selected and copied.
  function copyBySelection(text) {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "unseen";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return copyBySelection(text);
    }
  }

  function makeCopy(button, said, read) {
    button.addEventListener("click", async () => {
      said.textContent = (await copy(read())) ? "Copied" : "The browser does not allow copying";
      button.focus();
    });
  }

  for (const holder of document.querySelectorAll("div.sheet")) {
    const table = holder.querySelector("table");
    makeSortable(table);
    makeFilter(holder, table);
    makeCopy(holder.querySelector("[data-copy]"), holder.querySelector(".said"), () => toCsv(table));
    holder.querySelector(".tools").hidden = false;
  }

  for (const code of document.querySelectorAll("details.listing")) {
    const button = document.createElement("button");
    const said = document.createElement("span");
    button.type = "button";
    button.textContent = "Copy";
    said.className = "said";
    said.setAttribute("role", "status");
    code.querySelector("summary").after(button, said);
    makeCopy(button, said, () => code.querySelector("pre").textContent);
  }

  // Folded parts

  function unfold() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const fold = target && target.closest("details");
    if (!fold) return;
    fold.open = true;
    target.scrollIntoView();
  }

  window.addEventListener("hashchange", unfold);
  window.addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("details")) fold.open = true;
  });

  // Charts

  const readout = document.getElementById("readout");

  function showReadout(handler, event, item, value) {
    const nothing = value === null || value === undefined || value === "";
    if (nothing && event.pointerType === "touch") return; // the finger was lifted: it stays
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

  const ink = "currentColor";
  const CONFIG = {
    aria: false,
    background: null,
    font: getComputedStyle(document.body).fontFamily,
    view: { stroke: null },
    axis: {
      labelColor: ink, titleColor: ink, tickColor: ink, domainColor: ink, gridColor: ink,
      gridOpacity: 0.14, domainOpacity: 0.4, tickOpacity: 0.4, labelFontSize: 12, titleFontSize: 12,
      titleFontWeight: "normal",
    },
    legend: { labelColor: ink, titleColor: ink, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" },
    header: { labelColor: ink, titleColor: ink, labelFontSize: 13 },
    title: { color: ink },
    text: { color: ink },
  };

  async function draw(figure) {
    const spec = JSON.parse(figure.querySelector("script").textContent);
    const plot = figure.querySelector(".plot");
    const choices = figure.querySelector(".choices");
    const { view } = await vegaEmbed(plot, spec, {
      ast: true, renderer: "svg", actions: false, config: CONFIG, bind: choices, tooltip: showReadout,
    });
    view.addEventListener("click", (event, item) => showReadout(view, event, item, item && item.tooltip));
    figure.dataset.drawn = "";
  }

  document.addEventListener("scroll", () => { readout.hidden = true; }, { passive: true });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") readout.hidden = true; });

  async function drawAll() {
    for (const figure of document.querySelectorAll("figure.chart")) {
      await draw(figure);
      await new Promise((resolve) => { setTimeout(resolve); }); // the reader's clicks come first
    }
    document.documentElement.dataset.drawn = "";
  }
  drawAll();

  // Replays

  const replays = JSON.parse(document.getElementById("replays").textContent);
  const dialog = document.getElementById("replay");

  function openReplay(id) {
    if (!Object.hasOwn(replays, id)) return;
    const timeline = replays[id];
    document.getElementById("replay-title").textContent = timeline.title;
    const place = dialog.querySelector(".viewer");
    place.replaceChildren();
    dialog.showModal();
    window.Arena.mountViewer(place, timeline, {});
  }

  dialog.querySelector(".close").addEventListener("click", () => dialog.close());
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    const id = link && link.getAttribute("href").slice(1);
    if (!id || !Object.hasOwn(replays, id)) return;
    event.preventDefault();
    openReplay(id);
  });
})();
