// Learn: the rules, on a page or beside the board, and the review of a person's game.
"use strict";

(() => {
  const Arena = window.Arena;
  const Table = window.Table;
  const { ask, attempt, make, makeButton, makeField, makeLink, makeSelect, makeTable } = Table;
  const points = (share) => (100 * share).toFixed(1);

  // ---- The rules.

  function drawCards(chars, names) {
    const list = make("ul", "cards");
    for (const [index, char] of [...chars].entries()) {
      const copy = [...chars.slice(0, index)].filter((other) => other === char).length;
      const spoken = Arena.makeHidden(Arena.spokenName(char, copy, names));
      list.append(make("li", "card-place", "", Arena.drawCard(char, copy, names), spoken));
    }
    return list;
  }

  function drawKind({ char, copies, worth }, names) {
    const meaning = names === "english" ? "" : ` = ${Arena.kindName(char, "english")}`;
    const name = make("span", "", `${copies} \u00d7 ${Arena.kindName(char, names)}${meaning}`);
    return make("li", "kind", "", Arena.drawCard(char, 0, names), make("span", "", "", name, make("span", "soft", worth)));
  }

  function drawRules(element, { parts, cards }, names) {
    element.replaceChildren(...parts.flatMap(({ title, text, cards: shown }) => [
      make("h3", "", title), make("p", "", text), ...(shown ? [drawCards(shown, names)] : []),
    ]));
    element.append(make("h3", "", "The cards"), make("ul", "kinds", "", ...cards.map((card) => drawKind(card, names))));
  }

  // The rules beside the board; `names` says what the cards are called there.
  class RulesPanel {
    constructor(names) {
      this.names = names;
      this.content = make("div", "rules-text arena-viewer");
      this.element = make("aside", "rules-panel", "", make("h2", "", "Rules"), this.content);
      Object.assign(this.element, { id: "rules-panel", hidden: true, tabIndex: 0 });
      this.element.setAttribute("aria-label", "Rules");
      this.element.addEventListener("keydown", (event) => { if (event.key === "Escape") this.toggle(); });
      this.button = makeButton("Rules", () => this.toggle());
      this.button.setAttribute("aria-controls", this.element.id);
      this.button.setAttribute("aria-expanded", "false");
    }

    async toggle() {
      const rules = this.element.hidden && await attempt(() => ask("api/rules"));
      if (rules) drawRules(this.content, rules, this.names());
      this.element.hidden = !rules;
      this.button.setAttribute("aria-expanded", `${Boolean(rules)}`);
      (rules ? this.element : this.button).focus();
    }
  }

  async function showRules(main) {
    const rules = await ask("api/rules");
    const content = make("div", "rules-text arena-viewer");
    const names = makeSelect(Arena.NAMINGS, "english");
    const draw = () => drawRules(content, rules, names.value);
    names.addEventListener("change", draw);
    draw();
    main.append(make("h1", "", "Rules"), makeField("Cards", names), content);
  }

  // ---- The review of a game.

  const writeAction = (char, names) => (char === "T" ? "take" : `play ${Arena.kindName(char, names)}`);

  function drawMistake(mistake, review, line, names) {
    const { ply, frame, action, best, loss, blunder } = mistake;
    const [value, low, high] = loss.map(points);
    const board = make("div");
    const players = review.players.map((label, seat) => (seat === review.seat ? "you" : label));
    const options = { players, rules: review.rules, perspective: review.seat, you: review.seat, names, onAction: null };
    Arena.drawBoard(board, frame, options);
    const better = `Better was to ${writeAction(best, names)}.`;
    const cost = `To ${writeAction(action, names)} gave away ${value} points of 100 of the chance to win ` +
      `(95\u2009%: ${low}..${high})${blunder ? ": a blunder" : ""}. In words: it ${mistake.mistake}.`;
    const values = frame.thoughts.map((one) => [one.action === "T" ? "take" : Arena.kindName(one.action, names), points(one.value), notesOf(one, best)]);
    return make("details", "mistake", "", make("summary", "", `Round ${frame.round}, ply ${ply}. ${cost} ${better}`),
      board, makeTable(`Chance to win after each action at ply ${ply}, in per cent`, ["action", "chance", ""], values),
      make("p", "", "", makeLink(`Open the replay at ply ${ply}`, "record", line, ply, names)));
  }

  const notesOf = ({ action, chosen }, best) => (chosen ? "played" : action === best ? "best" : "");

  // The costliest decisions of a recorded game, which are looked at as soon as this is made.
  function makeReview(line, names) {
    const content = make("p", "soft", "Your decisions are being looked at\u2026");
    const section = make("section", "review", "", make("h2", "", "Your costliest decisions"), content);
    section.setAttribute("aria-label", "Review");
    attempt(() => ask("api/review", { line })).then((review) => {
      if (!review) {
        content.textContent = "They could not be looked at.";
        return;
      }
      const mistakes = review.mistakes.map((one) => drawMistake(one, review, line, names));
      if (mistakes.length) mistakes[0].open = true;
      content.replaceWith(make("p", "", review.summary), ...mistakes, make("p", "soft", review.judge));
      Table.say(review.summary);
    });
    return section;
  }

  Object.assign(Table, { RulesPanel, makeReview, showRules });
})();
