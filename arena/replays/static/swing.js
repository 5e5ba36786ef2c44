// Swing: the chance to win ply by ply as a curve over the slider.
"use strict";

(() => {
  const Arena = window.Arena;
  const { make, shape } = Arena;
  const HEIGHT = 100;

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

  Object.assign(Arena, { chancesOf, decisivePly, drawSwing, rangesOf });
})();
