// Knowledge: what a seat has not seen, how likely the other seat holds each kind, what each action was worth
// where it was chosen, and which choices were blunders.
"use strict";

(() => {
  const Arena = window.Arena;
  const { countOf, make } = Arena;

  // The chance that none of `wanted` cards is among `drawn` of `total`: hypergeometric.
  function chanceOfNone(wanted, drawn, total) {
    let chance = 1;
    for (let index = 0; index < drawn; index += 1) {
      chance *= Math.max(0, total - wanted - index) / (total - index);
    }
    return chance;
  }

  // What a seat knows of the cards that it does not see, by kind. All orders of the unseen
  // cards are equally likely: what the other seat's actions suggest is not counted.
  function findUnseen(frame, seat, rules) {
    const seen = frame.row + frame.piles[0] + frame.piles[1] + frame.hands[seat];
    const held = frame.counts[1 - seat];
    const unseen = [...Arena.CHARS].map((char, kind) => rules.copies[kind] - countOf(seen, char));
    const total = unseen.reduce((sum, count) => sum + count, 0);
    return [...Arena.CHARS].map((char, kind) => ({
      char,
      unseen: unseen[kind],
      chance: 1 - chanceOfNone(unseen[kind], held, total),
      expected: total ? (unseen[kind] * held) / total : 0,
    }));
  }

  const percent = (share) => `${Math.round(share * 100)}\u2009%`;

  // A chance in per cent that says 0 and 100 only of what is certain.
  function writeChance(chance) {
    if (chance > 0 && chance < 0.005) return "<1\u2009%";
    if (chance < 1 && chance >= 0.995) return ">99\u2009%";
    return percent(chance);
  }

  function drawBar(share) {
    const bar = make("span", "bar");
    const filled = make("span", "filled");
    filled.style.inlineSize = `${(share * 100).toFixed(1)}%`;
    bar.append(filled);
    return bar;
  }

  function drawUnseenLine(found, names) {
    const line = make("tr", found.unseen ? "" : "none");
    const head = make("th", "", "", Arena.drawSign(found.char, names), ` ${Arena.kindName(found.char, names)}`);
    head.scope = "row";
    const chance = make("td", "chance", "", drawBar(found.chance), make("span", "share", writeChance(found.chance)));
    line.append(head, make("td", "number", `${found.unseen}`), chance, make("td", "number", found.expected.toFixed(2)));
    return line;
  }

  function headLine(...names) {
    const line = make("tr");
    for (const name of names) {
      const head = make("th", "", name);
      head.scope = "col";
      line.append(head);
    }
    return make("thead", "", "", line);
  }

  // Draw what a seat does not see into an element.
  function drawUnseen(element, frame, { seat, players, rules, names }) {
    const found = findUnseen(frame, seat, rules);
    const total = found.reduce((sum, one) => sum + one.unseen, 0);
    const held = frame.counts[1 - seat];
    const title = make("h2", "", "Not seen by ", Arena.makeLabel(players[seat]));
    const where = make("p", "note", `${Arena.plural(total, "card")}: ${held} in the other hand, ` +
      `${rules.removed} out of the game, ${total - held - rules.removed} not dealt yet. A chance says how ` +
      "likely the other hand has at least one such card, if all orders of these cards are equally likely " +
      "(hypergeometric); on average it has as many as the last column says.");
    const table = make("table", "unseen-cards");
    const body = make("tbody");
    body.append(...found.map((one) => drawUnseenLine(one, names)));
    table.append(make("caption", "unseen-text", "Unseen cards by kind"),
      headLine("Kind", "Unseen", "Chance", "Average"), body);
    element.replaceChildren(title, table, where);
  }

  // Draw what the seat that acts next thought of its actions, the best first.
  function drawThoughts(element, frame, { players, names }) {
    const title = make("h2", "", "What ", Arena.makeLabel(players[frame.turn]), " thought");
    const table = make("table", "thoughts");
    const body = make("tbody");
    const sorted = [...frame.thoughts].sort((one, other) => other.value - one.value);
    const counted = sorted.some((thought) => thought.visits !== undefined);
    body.append(...sorted.map((thought) => drawThought(thought, names, counted)));
    const heads = counted ? ["Action", "Chance to win", "Visits"] : ["Action", "Chance to win"];
    table.append(make("caption", "unseen-text", "Thoughts about each action"), headLine(...heads), body);
    element.replaceChildren(title, table);
  }

  // Draw an action with a chance to win and notes, as a line of a table.
  function drawChance({ action, value, chosen }, notes, names) {
    const line = make("tr", chosen ? "chosen" : "");
    const take = action === "T";
    const head = make("th", "", "", take ? "Take" : Arena.drawSign(action, names));
    if (!take) head.append(` ${Arena.kindName(action, names)}`);
    for (const note of notes) head.append(make("span", "badge chosen-note", note));
    head.scope = "row";
    const share = make("span", "share", `${(value * 100).toFixed(1)}\u2009%`);
    line.append(head, make("td", "chance", "", drawBar(value), share));
    return line;
  }

  function drawThought(thought, names, counted) {
    const notes = [thought.chosen && "✓ chosen", thought.note].filter(Boolean);
    const line = drawChance(thought, notes, names);
    if (counted) line.append(make("td", "number", thought.visits === undefined ? "" : thought.visits.toLocaleString("en")));
    return line;
  }

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
      return drawChance({ action: char, value, chosen: char === judged.action }, notes, names);
    }));
    table.append(make("caption", "unseen-text", "What each action was worth"),
      headLine("Action", "Chance to win"), body);
    const loss = make("strong", judged.blunder ? "loss blunder" : "loss", describeLoss(judged));
    const how = make("span", "note", `Judged by ${timeline.judge}, by what the seat knew.`);
    element.replaceChildren(title, table, make("p", "verdict", "", loss, how));
  }

  Object.assign(Arena, {
    announceBlunder, blunderPlies, describeBlunder, drawJudged, drawThoughts, drawUnseen, findUnseen, judgedAt, percent, writeChance,
  });
})();
