// Board: one position as it lies on a table, for the referee, for one seat, or for a player; and the list of
// the actions that led to it.
"use strict";

(() => {
  const Arena = window.Arena;
  const SUPPORTS = "5678";
  const LONGEST_NAME = 24; // characters beside the curve
  const MOST_COLUMNS = 14; // of a grid of actions with a line for each seat

  // Return an element with a class, a text, and children.
  function make(tag, className = "", text = "", ...children) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text) element.textContent = text;
    element.append(...children);
    return element;
  }

  const makeHidden = (text) => make("span", "unseen-text", text);
  const countOf = (text, char) => text.split(char).length - 1;
  const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

  // A label is input: bidirectional text in it must not reach beyond it.
  const makeLabel = (text) => make("bdi", "label", text);

  // The name of a seat's place: "Your hand", or "Hand of greedy".
  const placeOf = (noun, seat, { players, you }) =>
    (seat === you ? `Your ${noun.toLowerCase()}` : `${noun} of ${players[seat]}`);

  const isNamed = (players, seat) => players[seat] !== `seat ${seat}`;

  // The parts of a player's name with the seat: "greedy (seat 0)".
  function nameParts(players, seat) {
    return isNamed(players, seat) ? [makeLabel(players[seat]), ` (seat ${seat})`] : [players[seat]];
  }

  // A player's label where there is room for it, else the seat.
  function shortName(players, seat) {
    return players[seat].length <= LONGEST_NAME ? makeLabel(players[seat]) : `seat ${seat}`;
  }

  // The cards of a place, each with its number among those of its kind.
  function cardsOf(text, copies) {
    return [...text].map((char, index) => ({ char, copy: parseInt((copies || "")[index] || "0", 32) }));
  }

  const isSame = (one, other) => one.char === other.char && one.copy === other.copy;

  // The cards that the last action moved.
  function movedCards(frame) {
    return frame.action ? cardsOf(frame.action.cards, frame.action.copies) : [];
  }

  function drawCardItem(card, where, options) {
    const item = make("li", "card-place");
    item.title = Arena.cardName(card.char, card.copy, options.names);
    const spoken = `${Arena.spokenName(card.char, card.copy, options.names)}, ${where}`;
    const picture = Arena.drawCard(card.char, card.copy, options.names);
    item.append(picture, makeHidden(spoken));
    return item;
  }

  // A card that a player may play now: the whole card is a button.
  function drawPlayable(card, options) {
    const name = Arena.spokenName(card.char, card.copy, options.names);
    const button = make("button", "act");
    button.type = "button";
    button.dataset.action = card.char;
    button.title = `play ${Arena.cardName(card.char, card.copy, options.names)}`;
    button.append(Arena.drawCard(card.char, card.copy, options.names), makeHidden(`play ${name}, in your hand`));
    button.addEventListener("click", () => options.onAction(card.char));
    return make("li", "card-place", "", button);
  }

  const canAct = (frame, seat, options) =>
    Boolean(options.onAction) && frame.turn === seat && frame.legal !== "";

  const isVisible = (frame, seat, options) =>
    frame.hands[seat] !== null && (options.perspective === "referee" || options.perspective === seat);

  function drawHand(frame, seat, options) {
    const list = make("ul", "cards");
    list.setAttribute("aria-label", placeOf("Hand", seat, options));
    if (isVisible(frame, seat, options)) {
      const act = canAct(frame, seat, options);
      for (const card of cardsOf(frame.hands[seat], frame.copies && frame.copies.hands[seat])) {
        const legal = act && frame.legal.includes(card.char);
        list.append(legal ? drawPlayable(card, options) : drawCardItem(card, "in the hand", options));
      }
    } else {
      for (let index = 0; index < frame.counts[seat]; index += 1) {
        list.append(make("li", "card-place", "", Arena.drawBack(), makeHidden("hidden card, in the hand")));
      }
    }
    return drawPlace("hand", "Hand", frame.counts[seat], list);
  }

  function drawPlace(className, title, count, list) {
    const heading = make("p", "place-name", `${title} `, make("span", "place-count", `${count}`));
    const place = make("div", `place ${className}`, "", heading);
    place.append(count ? list : make("p", "empty", "no card"));
    return place;
  }

  // A pile, sorted by kind; what the last take brought is outlined.
  function drawPile(frame, seat, options) {
    const list = make("ul", "groups");
    list.setAttribute("aria-label", placeOf("Pile", seat, options));
    const { action } = frame;
    const fresh = action && action.char === "T" && action.seat === seat ? movedCards(frame) : [];
    const cards = cardsOf(frame.piles[seat], frame.copies && frame.copies.piles[seat]);
    for (const char of Arena.CHARS) {
      const same = cards.filter((card) => card.char === char);
      if (same.length) list.append(drawGroup(char, same, fresh, options));
    }
    return drawPlace("pile", "Pile", cards.length, list);
  }

  function drawGroup(char, cards, fresh, options) {
    const group = make("li", "group");
    for (const card of cards) {
      const picture = Arena.drawCard(char, card.copy, options.names);
      if (fresh.some((moved) => isSame(moved, card))) picture.classList.add("fresh");
      group.append(picture);
    }
    const written = cards.map((card) => Arena.cardName(char, card.copy, options.names));
    const spoken = cards.map((card) => Arena.spokenName(char, card.copy, options.names));
    const alike = new Set(written).size === 1;
    const times = cards.length > 1 ? `${cards.length} × ` : "";
    group.title = alike ? times + written[0] : written.join(" ");
    group.append(makeHidden(`${alike ? times + spoken[0] : spoken.join("; ")}, in the pile`));
    return group;
  }

  function drawSeat(frame, seat, options) {
    const section = make("div", `seat seat-${seat}`);
    section.setAttribute("role", "group");  // a page can show several boards
    section.setAttribute("aria-label", `${options.players[seat]}, seat ${seat}`);
    const head = make("div", "seat-head", "", make("span", "seat-number", `seat ${seat}`));
    if (isNamed(options.players, seat)) head.append(makeLabel(options.players[seat]));
    const [acts, has] = seat === options.you ? ["act", "have"] : ["acts", "has"];
    if (frame.turn === seat) head.append(make("span", "badge turn", `${acts} next`));
    if (frame.taken[seat] && frame.turn !== null) head.append(make("span", "badge", `${has} taken`));
    if (options.winner === seat) head.append(make("span", "badge turn", "wins"));
    head.append(make("span", "points", plural(frame.points[seat].total, "point").replace("-", "−")));
    section.append(head, make("div", "places", "", drawHand(frame, seat, options), drawPile(frame, seat, options)));
    if (frame.turn === seat) section.classList.add("acts");
    return section;
  }

  function drawRow(frame, options) {
    const section = make("div", "row");
    section.setAttribute("role", "group");
    section.setAttribute("aria-label", "Row");
    const cards = cardsOf(frame.row, frame.copies && frame.copies.row);
    const start = frame.turn === null ? cards.length : Math.max(0, cards.length - options.rules.take_size);
    const items = cards.map((card, index) => drawRowCard(frame, card, index, index >= start, cards.length, options));
    const lists = make("div", "row-lists");
    if (start) lists.append(drawRowPart("older", "Row, the older cards", items.slice(0, start)));
    if (start < items.length) lists.append(drawRowPart("brings", "Row, what a take brings", items.slice(start)));
    if (!items.length) lists.append(make("p", "empty", "no card in the row"));
    section.append(drawRowHead(frame, cards.length - start, options), lists);
    return section;
  }

  function drawRowHead(frame, brings, options) {
    const head = make("div", "row-head", "", make("p", "place-name", "Row ", make("span", "place-count", `${frame.row.length}`)));
    head.append(make("span", "brings-note", `round ${frame.round} of ${options.rules.rounds}`));
    if (brings && frame.turn !== null) head.append(make("span", "brings-note", `a take brings the last ${brings}`));
    if (frame.turn !== null && canAct(frame, frame.turn, options) && frame.legal.includes("T")) {
      const button = make("button", "act take", `Take ${brings}`);
      button.type = "button";
      button.dataset.action = "T";
      button.addEventListener("click", () => options.onAction("T"));
      head.append(button);
    }
    return head;
  }

  function drawRowPart(className, label, items) {
    const list = make("ul", `cards ${className}`, "", ...items);
    list.setAttribute("aria-label", label);
    return list;
  }

  function drawRowCard(frame, card, index, brought, length, options) {
    const where = `place ${index + 1} of ${length} in the row${brought ? ", in a take" : ""}`;
    const item = drawCardItem(card, where, options);
    const played = frame.action && frame.action.char !== "T" && index === length - 1;
    if (played) item.firstChild.classList.add("fresh");
    return item;
  }

  // The score sheet: what each source gives both seats.
  function drawScore(frame, options) {
    const table = make("table", "score");
    table.append(make("caption", "unseen-text", "Score"));
    const heads = make("tr", "", "", make("td"));
    for (const seat of [0, 1]) {
      const head = make("th", `seat-${seat}`, "", makeLabel(options.players[seat]));
      head.scope = "col";
      heads.append(head);
    }
    table.append(make("thead", "", "", heads));
    const body = make("tbody");
    [...SUPPORTS].forEach((char, index) => body.append(drawSupportLine(frame, char, index, options)));
    body.append(...drawOtherLines(frame, options));
    table.append(body);
    return table;
  }

  function scoreLine(head, cells, changed = null) {
    const line = make("tr");
    const name = make("th", "", "", ...[head].flat());
    name.scope = "row";
    line.append(name, ...cells.map((cell, seat) => {
      const made = make("td", changed === seat ? "changed" : "", "", ...[cell].flat());
      return made;
    }));
    return line;
  }

  const marksOf = (frame, what) =>
    frame.action ? frame.action.marks.filter((mark) => mark.what === what) : [];

  function drawSupportLine(frame, char, index, options) {
    const mark = marksOf(frame, "majority").find((one) => one.kind === char);
    const cells = [0, 1].map((seat) => {
      const points = frame.points[seat].majorities[index];
      const parts = [make("span", "", `${countOf(frame.piles[seat], char)}`)];
      if (points) parts.push(make("strong", "gain", `+${points}`));
      if (mark && mark.after === seat) parts.push(make("span", "turned", "turned"));
      if (mark && mark.after === null && mark.before === seat) parts.push(make("span", "turned", "level"));
      return parts;
    });
    const head = [Arena.drawSign(char, options.names), ` ${Arena.kindName(char, options.names)}`];
    return scoreLine(head, cells, mark ? (mark.after === null ? mark.before : mark.after) : null);
  }

  function drawOtherLines(frame, options) {
    const taker = frame.action ? frame.action.seat : null;
    const set = marksOf(frame, "set").length ? taker : null;
    const city = marksOf(frame, "city").length ? taker : null;
    const points = (name) => [0, 1].map((seat) => writePoints(frame.points[seat][name]));
    const cities = [0, 1].map((seat) => `${countOf(frame.piles[seat], "C")} of ${options.rules.cities_needed}`);
    const totals = scoreLine("Total", [0, 1].map((seat) => `${frame.points[seat].total}`.replace("-", "−")));
    totals.className = "total";
    return [
      scoreLine("Sets 5-6-7-8", points("sets"), set),
      scoreLine("Alliances", points("alliances")),
      scoreLine("Betrayals", points("betrayals")),
      scoreLine("Cities", cities, city),
      totals,
    ];
  }

  const writePoints = (value) => (value ? Arena.signed(value) : "0");

  // Draw a position into an element: the seats, the row and the score sheet.
  function drawBoard(element, frame, options) {
    const near = options.perspective === 1 || (options.perspective === "referee" && options.near === 1) ? 1 : 0;
    const table = make("div", "felt", "", drawSeat(frame, 1 - near, options), drawRow(frame, options), drawSeat(frame, near, options));
    const sheet = make("div", "sheet-of-scores", "", drawScore(frame, options));
    element.classList.add("arena-board");
    element.replaceChildren(table, sheet);
  }

  // A label in a sentence: bidirectional text in it must not reach beyond it.
  const isolate = (label) => `\u2068${label}\u2069`;

  const namesOf = (action, names) =>
    cardsOf(action.cards, action.copies).map((card) => Arena.cardName(card.char, card.copy, names));

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
      parts.push(make("span", `who seat-${action.seat}`, "", makeLabel(players[action.seat])));
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
    else parts.push(makeLabel(players[frame.turn]), " acts next.");
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

  Object.assign(Arena, {
    cardsOf, countOf, describeFrame, drawActions, drawBoard, make, makeHidden, makeLabel, markAction, nameParts, plural, shortName,
  });
})();
