// Decisions: what each action was worth where it was chosen, and which choices were blunders.
"use strict";

(() => {
  const Arena = window.Arena;
  const { make } = Arena;

  // The decision at a ply as the referee or a seat may see it; null where none was judged.
  function judgedAt(timeline, ply, perspective) {
    const frame = timeline.frames[ply];
    if (!frame || !frame.judged) return null;
    return perspective === "referee" || perspective === frame.turn ? frame.judged : null;
  }

  // The plies of the blunders, each that of the position in which it was made.
  function blunderPlies(timeline, perspective) {
    return timeline.frames
      .map((frame) => frame.ply)
      .filter((ply) => judgedAt(timeline, ply, perspective)?.blunder);
  }

  const points = (share) => (share * 100).toFixed(1).replace("-", "\u2212");
  const actionName = (char, names) => (char === "T" ? "to take" : Arena.kindName(char, names));

  // A blunder in a few words, as it is marked and read aloud: one that was made, or that follows.
  function describeBlunder(judged, names) {
    return `a blunder: it lost ${points(judged.loss)} points of 100 (${judged.mistake}); better was ${actionName(judged.best, names)}`;
  }

  function announceBlunder(judged, names) {
    return `a blunder follows, ${actionName(judged.action, names)}: it loses ${points(judged.loss)} points of 100; ` +
      `better is ${actionName(judged.best, names)}`;
  }

  function describeLoss(judged) {
    const loss = `Loss: ${points(judged.loss)} \u00b1 ${points(judged.error)} points of 100`;
    if (judged.mistake) return `${loss}${judged.blunder ? ", a blunder" : ""}: ${judged.mistake}. `;
    return judged.loss < 0 ? `${loss}; below 0, so none was seen. ` : `${loss}. `;
  }

  // Draw what each action was worth to the seat that chose, the best first.
  function drawJudged(element, timeline, ply, { names }) {
    const { judged, turn } = timeline.frames[ply];
    const title = make("h2", "", "What ", Arena.makeLabel(timeline.players[turn]), " could choose");
    const table = make("table", "thoughts judged");
    const body = make("tbody");
    const sorted = Object.entries(judged.chances).sort((one, other) => other[1] - one[1]);
    body.append(...sorted.map(([char, value]) => {
      const notes = [];
      if (char === judged.action) notes.push("✓ chosen");
      if (char === judged.best) notes.push("★ best");
      return Arena.drawChance({ action: char, value, chosen: char === judged.action }, notes, names);
    }));
    table.append(make("caption", "unseen-text", "What each action was worth"),
      Arena.headLine("Action", "Chance to win"), body);
    const loss = make("strong", judged.blunder ? "loss blunder" : "loss", describeLoss(judged));
    const how = make("span", "note", `Judged by ${timeline.judge}, by what the seat knew.`);
    element.replaceChildren(title, table, make("p", "verdict", "", loss, how));
  }

  Object.assign(Arena, { announceBlunder, blunderPlies, describeBlunder, drawJudged, judgedAt });
})();
