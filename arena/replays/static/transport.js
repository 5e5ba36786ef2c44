// Transport: the slider with the chance to win ply by ply as a curve, and the buttons that step, play and
// find blunders.
"use strict";

(() => {
  const Arena = window.Arena;
  const { make, shape } = Arena;
  const PACES = { slow: 2400, normal: 1200, fast: 500 }; // milliseconds a ply while the game plays
  const ICONS = {
    first: "M5 4v16M20 4 8 12l12 8Z", back: "M17 4 6 12l11 8Z", next: "M7 4l11 8-11 8Z",
    last: "M19 4v16M4 4l12 8-12 8Z", play: "M6 3l15 9-15 9Z", pause: "M6 4h4v16H6ZM14 4h4v16h-4Z",
    before: "M12 5 3 12l9 7ZM21 5l-9 7 9 7Z", after: "M12 5l9 7-9 7ZM3 5l9 7-9 7Z",
    "blunder-back": "M10 5 3 12l7 7ZM16 4h3v10h-3ZM16 18h3v3h-3Z",
    "blunder-on": "M14 5l7 7-7 7ZM5 4h3v10H5ZM5 18h3v3H5Z",
  };

  const HEIGHT = 100; // of the curve

  // The chances of seat 0 as they are known to the referee or to a seat; null where they are not.
  function chancesOf(timeline, perspective) {
    if (perspective === "referee" || timeline.seat !== null) {
      return timeline.frames.map((frame) => frame.chance);
    }
    return timeline.frames.map((frame) => (frame.beliefs ? frame.beliefs[perspective] : null));
  }

  // Between which chances each of these may be; null where that was not measured.
  function rangesOf(timeline, perspective) {
    if (perspective === "referee" || timeline.seat !== null) {
      return timeline.frames.map((frame) => frame.range);
    }
    return timeline.frames.map((frame) => (frame.belief_ranges ? frame.belief_ranges[perspective] : null));
  }

  // The ply whose action changed the chance most; null where no two neighbours are known.
  function decisivePly(chances) {
    let best = null;
    for (let ply = 1; ply < chances.length; ply += 1) {
      if (chances[ply] === null || chances[ply - 1] === null) continue;
      const swing = Math.abs(chances[ply] - chances[ply - 1]);
      if (best === null || swing > best.swing) best = { ply, swing };
    }
    return best && best.swing > 0 ? best.ply : null;
  }

  // The parts of the curve that are known without a gap, as lists of points.
  function runsOf(chances) {
    const runs = [];
    chances.forEach((chance, ply) => {
      if (chance === null) return;
      const last = runs[runs.length - 1];
      const point = [ply, (1 - chance) * HEIGHT];
      if (last && last[last.length - 1][0] === ply - 1) last.push(point);
      else runs.push([point]);
    });
    return runs;
  }

  const line = (points) => points.map(([x, y], index) => `${index ? "L" : "M"}${x} ${y.toFixed(2)}`).join("");

  function area(points, limit) {
    const cut = points.map(([x, y]) => [x, limit(y, HEIGHT / 2)]);
    return `${line(cut)}L${points[points.length - 1][0]} 50L${points[0][0]} 50Z`;
  }

  function describeSwing(timeline, chances) {
    const known = chances.filter((chance) => chance !== null);
    if (!known.length) return "The chance to win is not known for this game.";
    const [first, last] = [known[0], known[known.length - 1]].map(Arena.percent);
    const ply = decisivePly(chances);
    const most = ply === null ? "" : `; it changed most at ply ${ply}`;
    return `Chance of ${timeline.players[0]} to win, ply by ply: from ${first} to ${last}${most}.`;
  }

  // Draw the curve of a game; the caller puts the slider under it.
  function drawSwing(element, timeline, perspective) {
    const chances = chancesOf(timeline, perspective);
    const last = Math.max(1, chances.length - 1);
    const svg = shape("svg", { viewBox: `0 0 ${last} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" });
    svg.setAttribute("aria-label", describeSwing(timeline, chances));
    for (let ply = timeline.rules.round_plies; ply < last; ply += timeline.rules.round_plies) {
      svg.append(shape("path", { d: `M${ply} 0V${HEIGHT}`, class: "round-line" }));
    }
    svg.append(shape("path", { d: `M0 50H${last}`, class: "even-line" }));
    for (const points of runsOf(chances)) {
      svg.append(shape("path", { d: area(points, Math.min), class: "for-0" }));
      svg.append(shape("path", { d: area(points, Math.max), class: "for-1" }));
    }
    for (const side of [0, 1]) {
      const edges = rangesOf(timeline, perspective).map((range) => (range ? range[side] : null));
      for (const points of runsOf(edges)) svg.append(shape("path", { d: line(points), class: "range-line" }));
    }
    for (const points of runsOf(chances)) svg.append(shape("path", { d: line(points), class: "chance-line" }));
    const known = chances.some((chance) => chance !== null);
    element.classList.toggle("unknown", !known);
    element.replaceChildren(svg, ...(known ? drawLabels(timeline) : []));
    const ply = decisivePly(chances);
    if (ply !== null) element.append(drawDecisive(ply, last, chances[ply]));
    for (const blunder of Arena.blunderPlies(timeline, perspective)) element.append(drawBlunder(blunder, last));
  }

  function drawLabels(timeline) {
    return [0, 1].map((seat) => {
      const text = make("span", `swing-label for-${seat}`, "", Arena.shortName(timeline.players, seat), " wins");
      text.setAttribute("aria-hidden", "true");
      return text;
    });
  }

  function drawDecisive(ply, last, chance) {
    const dot = make("span", "decisive");
    dot.title = `the chance to win changed most at ply ${ply}`;
    dot.style.insetInlineStart = `${(ply / last) * 100}%`;
    dot.style.insetBlockStart = `${(1 - chance) * 100}%`;
    return dot;
  }

  function drawBlunder(ply, last) {
    const mark = make("span", "blunder-mark", "\u25bc");
    mark.title = `a blunder at ply ${ply}`;
    mark.setAttribute("aria-hidden", "true");
    mark.style.insetInlineStart = `${(ply / last) * 100}%`;
    return mark;
  }

  // A range of chances with one sign of per cent.
  const writeRange = ([low, high]) => `${Arena.writeChance(low).replace("\u2009%", "")}\u2013${Arena.writeChance(high)}`;

  class Transport {
    constructor(viewer) {
      this.viewer = viewer;
      this.timer = null;
      this.pace = "normal";
      this.swing = make("div", "swing");
      this.slider = this.buildSlider();
      this.needle = make("span", "needle");
      this.place = make("span", "place-in-game");
      this.swing.addEventListener("click", (event) => this.jumpTo(event));
      this.element = make("div", "transport", "",
        make("div", "swing-box", "", this.swing, this.needle, this.slider),
        make("div", "button-line", "", this.buildButtons(), this.place));
    }

    buildSlider() {
      const slider = make("input", "slider");
      Object.assign(slider, { type: "range", min: 0, max: this.viewer.last, step: 1, value: 0 });
      slider.setAttribute("aria-label", "Ply");
      slider.addEventListener("input", () => this.viewer.jump(Number(slider.value)));
      return slider;
    }

    buildButtons() {
      const { viewer } = this;
      const buttons = [
        this.buildButton("first", "To the deal (Home)", () => viewer.jump(0)),
        this.buildButton("before", "Round back (Page Up)", () => viewer.jumpRound(-1)),
        this.buildButton("back", "Step back (left arrow)", () => viewer.jump(viewer.ply - 1)),
        this.playButton = this.buildButton("play", "Play (space)", () => this.toggle()),
        this.buildButton("next", "Step (right arrow)", () => viewer.jump(viewer.ply + 1)),
        this.buildButton("after", "Round on (Page Down)", () => viewer.jumpRound(1)),
        this.buildButton("last", "To the end (End)", () => viewer.jump(viewer.last)),
      ];
      if (viewer.timeline.judge) {
        buttons.push(
          this.buildButton("blunder-back", "Blunder before (M)", () => viewer.jumpBlunder(-1)),
          this.buildButton("blunder-on", "Next blunder (m)", () => viewer.jumpBlunder(1)));
      }
      return make("div", "buttons", "", ...buttons);
    }

    buildButton(icon, label, act) {
      const button = make("button", icon);
      button.type = "button";
      this.setIcon(button, icon, label);
      button.addEventListener("click", act);
      return button;
    }

    setIcon(button, icon, label) {
      const svg = shape("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" });
      svg.append(shape("path", { d: ICONS[icon] }));
      button.title = label;
      button.setAttribute("aria-label", label);
      button.replaceChildren(svg);
    }

    // The choice of how fast the game plays; while it plays the change counts at once.
    buildPace() {
      const choose = (pace) => {
        this.pace = pace;
        if (this.timer !== null) this.start();
      };
      const paces = Object.keys(PACES).map((pace) => [pace, pace]);
      return Arena.buildChoice("Pace ", paces, this.pace, choose);
    }

    toggle() {
      if (this.timer !== null) {
        this.stop();
        return;
      }
      if (this.viewer.ply === this.viewer.last) this.viewer.show(0);
      this.start();
    }

    start() {
      clearInterval(this.timer);
      this.timer = setInterval(() => this.tick(), PACES[this.pace]);
      this.setIcon(this.playButton, "pause", "Pause (space)");
    }

    tick() {
      const { viewer } = this;
      if (viewer.element.isConnected && viewer.ply < viewer.last) viewer.show(viewer.ply + 1);
      else this.stop();
    }

    stop() {
      if (this.timer === null) return;
      clearInterval(this.timer);
      this.timer = null;
      this.setIcon(this.playButton, "play", "Play (space)");
    }

    jumpTo(event) {
      const box = this.swing.getBoundingClientRect();
      this.viewer.jump(Math.round(((event.clientX - box.left) / box.width) * this.viewer.last));
    }

    // What depends on who looks.
    showCurve() {
      this.slider.max = this.viewer.last;
      drawSwing(this.swing, this.viewer.timeline, this.viewer.perspective);
    }

    showPlace(frame) {
      const { ply, last, timeline, perspective } = this.viewer;
      const [chance, range] = [chancesOf, rangesOf].map((find) => find(timeline, perspective)[ply]);
      this.place.replaceChildren(`Ply ${ply} of ${last}, round ${frame.round}`);
      if (chance !== null) {
        const name = Arena.shortName(timeline.players, 0);
        this.place.append("; ", name, ` wins with ${Arena.writeChance(chance)}`);
        if (range && range[0] < range[1]) this.place.append(` (${writeRange(range)})`);
      }
      this.slider.value = ply;
      this.slider.setAttribute("aria-valuetext", this.place.textContent);
      this.needle.style.setProperty("--at", last ? ply / last : 0);
    }
  }

  Arena.Transport = Transport;
})();
