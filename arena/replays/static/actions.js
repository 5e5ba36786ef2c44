// Actions: what happened, as a list to click and as a sentence to read.
"use strict";

(() => {
  const Arena = window.Arena;
  const { make } = Arena;
  const MOST_COLUMNS = 14; // of a grid with a line for each seat

  // A label in a sentence: bidirectional text in it must not reach beyond it.
  const isolate = (label) => `\u2068${label}\u2069`;

  const namesOf = (action, names) =>
    Arena.cardsOf(action.cards, action.copies).map((card) => Arena.cardName(card.char, card.copy, names));

  function writeAction(action, names) {
    const cards = namesOf(action, names);
    return action.char === "T" ? `takes ${cards.length}: ${cards.join(", ")}` : `plays ${cards[0]}`;
  }

  // What an action changed: [a few words, the sentence].
  function describeMark(mark, players, names) {
    if (mark.what === "set") {
      return mark.count > 1 ? `completes ${mark.count} sets 5-6-7-8` : "completes a set 5-6-7-8";
    }
    if (mark.what === "city") return `has ${mark.held} of ${mark.needed} cities`;
    const kind = Arena.kindName(mark.kind, names);
    if (mark.after === null) return `levels the majority of ${kind} that ${isolate(players[mark.before])} had`;
    if (mark.before === null) return `wins the majority of ${kind}`;
    return `turns the majority of ${kind}, from ${isolate(players[mark.before])}`;
  }

  // The sentence about a position: what led to it, and who acts next. It is read aloud.
  function describeFrame(timeline, ply, names, perspective) {
    const { frames, players } = timeline;
    const frame = frames[ply];
    const parts = [];
    if (frame.action) {
      const { action } = frame;
      parts.push(make("span", `who seat-${action.seat}`, "", Arena.makeLabel(players[action.seat])));
      parts.push(` ${writeAction(action, names)}. `);
      for (const mark of action.marks) {
        parts.push(make("span", "mark", describeMark(mark, players, names)), " ");
      }
      const judged = Arena.judgedAt(timeline, ply - 1, perspective);
      if (judged?.blunder) parts.push(make("span", "mark blunder", Arena.describeBlunder(judged, names)), " ");
      if (frame.round !== frames[ply - 1].round) parts.push(make("span", "mark", `round ${frame.round} begins`), " ");
    } else {
      parts.push("The deal. ");
    }
    if (ply === frames.length - 1) parts.push(make("span", "ending", timeline.ending));
    else parts.push(Arena.makeLabel(players[frame.turn]), " acts next.");
    const next = Arena.judgedAt(timeline, ply, perspective);
    if (next?.blunder) parts.push(" ", make("span", "mark blunder", Arena.announceBlunder(next, names)));
    return parts;
  }

  // What a chip says: the kind or the rank of a card, or how many are taken.
  function writeChip(action, names) {
    if (action.char === "T") return `T${action.cards.length}`;
    if (names === "deck") return namesOf(action, names)[0];
    if (action.char === "C") return names === "german" ? "G" : "C";
    return Arena.valueOf(action.char) ? Arena.signed(Arena.valueOf(action.char)) : action.char;
  }

  function drawChip(timeline, ply, { names, perspective, onJump }) {
    const { action } = timeline.frames[ply];
    const judged = Arena.judgedAt(timeline, ply - 1, perspective);
    const chip = make("button", "chip", writeChip(action, names));
    chip.classList.toggle("takes", action.char === "T");
    chip.classList.toggle("marked", action.marks.length > 0);
    chip.classList.toggle("blunder", Boolean(judged?.blunder));
    chip.type = "button";
    chip.dataset.ply = ply;
    const words = action.marks.map((mark) => describeMark(mark, timeline.players, names));
    if (judged?.blunder) words.push(Arena.describeBlunder(judged, names));
    const marks = words.map((text) => `; ${text}`).join("");
    const sentence = `Ply ${ply}: ${isolate(timeline.players[action.seat])} ${writeAction(action, names)}${marks}`;
    chip.setAttribute("aria-label", sentence);
    chip.title = sentence;
    chip.addEventListener("click", () => onJump(ply));
    return chip;
  }

  // Draw the list of the actions: a grid for each round, a line for each seat.
  function drawActions(element, timeline, options) {
    const { rounds, round_plies: plies } = timeline.rules;
    const grids = [];
    for (let round = 0; round < rounds; round += 1) {
      const first = round * plies + 1;
      if (first >= timeline.frames.length) break;
      grids.push(drawRound(timeline, round, first, Math.min(first + plies, timeline.frames.length), options));
    }
    element.replaceChildren(...grids);
    if (!grids.length) element.append(make("p", "empty", "no action"));
  }

  function drawRound(timeline, round, first, end, options) {
    const list = make("ol", timeline.rules.round_plies > MOST_COLUMNS ? "round many" : "round");
    list.setAttribute("aria-label", `Round ${round + 1}`);
    list.style.setProperty("--plies", timeline.rules.round_plies);
    for (let ply = first; ply < end; ply += 1) {
      const item = make("li", `of-seat-${timeline.frames[ply].action.seat}`, "", drawChip(timeline, ply, options));
      item.style.setProperty("--column", ply - first + 1);
      list.append(item);
    }
    const head = make("span", "round-name", `Round ${round + 1}`);
    head.setAttribute("aria-hidden", "true");
    return make("div", "round-box", "", head, list);
  }

  // Mark the action that led to the position: Tab leads to it alone, and the focus goes along.
  function markAction(element, ply) {
    const focused = element.contains(document.activeElement);
    for (const chip of element.querySelectorAll(".chip")) {
      const now = Number(chip.dataset.ply) === ply;
      chip.classList.toggle("done", Number(chip.dataset.ply) < ply);
      chip.tabIndex = Number(chip.dataset.ply) === Math.max(1, ply) ? 0 : -1;
      if (focused && chip.tabIndex === 0) chip.focus();
      if (now) chip.setAttribute("aria-current", "step");
      else chip.removeAttribute("aria-current");
    }
  }

  Object.assign(Arena, { describeFrame, drawActions, markAction });
})();
