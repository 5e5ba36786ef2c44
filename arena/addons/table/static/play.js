// Play: a person's game: play it, take back, ask for a hint, and see how it ended.
"use strict";

(() => {
  const Arena = window.Arena;
  const Table = window.Table;
  const { ask, askFor, attempt, make, makeButton, makeLink, makeName } = Table;

  // ---- A game that is played.

  // A sentence that may begin with the label of the bot.
  function writeEvent(text, bot) {
    return text.startsWith(`${bot} `) ? [makeName(bot), text.slice(bot.length)] : [text];
  }

  // The same with the sign of minus that cards have, but for the label of the bot.
  function writeMinus(text, bot) {
    const [label, rest] = text.startsWith(`${bot} `) ? [bot, text.slice(bot.length)] : ["", text];
    return label + rest.replace(/(?<=[ (])-(?=\d)/g, "\u2212");
  }

  const describeStrength = (strength) => (strength ? ` (strength ${strength.number}, ${strength.words})` : "");

  function describeTakenBack(times) {
    if (!times) return "";
    return `Taken back in this game: ${times === 1 ? "once" : `${times} times`}. Its record says so, and it does not count for your Elo.`;
  }

  class Game {
    constructor(main, id) {
      this.path = `api/games/${encodeURIComponent(id)}`;
      this.frames = [];
      this.sent = -1; // the ply for which an action was sent, or at which one was taken back
      this.acted = false;
      this.took = false; // then the next Enter must not play a card: the board gets the focus
      this.undone = -1; // the ply to which the person has gone back
      this.parts = {
        title: make("h1"), status: make("p", "turn-line"), tools: make("div", "tools"), result: make("section", "result"),
        board: make("div"), review: make("div"), hint: make("section", "hint"), note: make("p", "soft"), log: make("details", "log"),
      };
      const { title, status, tools, result, review, board, hint, note, log } = this.parts;
      board.tabIndex = -1;
      board.setAttribute("role", "group");
      board.setAttribute("aria-label", "Board");
      result.hidden = true;
      hint.hidden = true;
      this.hintButton = makeButton("Hint", () => this.askHint());
      this.backButton = makeButton("Take back my last action", () => this.takeBack());
      this.leaveButton = makeButton("Leave the game", () => this.leave());
      const rules = new Table.RulesPanel(() => this.news.names);
      tools.append(this.hintButton, this.backButton, rules.button, this.leaveButton);
      const table = make("div", "at-the-table", "", make("div", "", "", status, result, review, board, tools, note, log), rules.element);
      main.append(title, table);
      const stop = Table.listen(`${this.path}/events`, (news) => this.show(news));
      const ending = new AbortController();
      Table.byId("main").addEventListener("keydown", (event) => this.press(event), { signal: ending.signal });
      this.close = () => {
        stop();
        ending.abort();
      };
    }

    show(news) {
      Table.addFrames(this.frames, news);
      if (this.news && news.taken_back > this.news.taken_back) {
        this.undone = this.frames.at(-1).ply;
        this.sent = -1;
      }
      this.news = news;
      const { title, hint, note } = this.parts;
      const bot = news.players[1 - news.seat];
      news.texts = news.texts.map((text) => writeMinus(text, bot));
      if (news.result) news.result = writeMinus(news.result, bot);
      title.replaceChildren("You against ", makeName(bot), describeStrength(news.strength));
      note.textContent = describeTakenBack(news.taken_back);
      document.title = `${news.phase === "yours" ? "Your turn: " : ""}you against ${bot}`;
      this.tell(this.describe(bot), news.result);
      hint.hidden = true;
      this.hintButton.hidden = this.backButton.hidden = this.leaveButton.hidden = news.over;
      this.hintButton.disabled = news.phase !== "yours";
      this.backButton.disabled = news.phase !== "yours" || news.back_to === null;
      this.draw();
      this.showLog();
      if (news.over) this.showEnd();
    }

    // Show sentences in the status, and say them and the result aloud.
    tell(told, result) {
      const bot = this.news.players[1 - this.news.seat];
      this.parts.status.replaceChildren(...told.map((text) => make("span", "event", "", ...writeEvent(text, bot))));
      Table.say([...told, result || ""].join(" "));
    }

    // What has happened since the person's last action, and what is next.
    describe(bot) {
      const { phase, texts, seat, interrupted, rules } = this.news;
      const own = this.frames.findLastIndex((frame) => frame.action && frame.action.seat === seat);
      const told = texts.slice(Math.max(0, own - 1)).map((text) => `${text.replace(/^you /, "You ")}.`);
      const frame = this.frames.at(-1);
      if (frame.ply === this.undone) told.push("Your last action is taken back.");
      const goesOn = interrupted && !this.acted && frame.ply < interrupted + rules.round_plies;
      if (goesOn) told.push(`The game goes on where it was interrupted, at ply ${interrupted}.`);
      const before = this.frames[Math.max(0, own - 1)].round;
      if (frame.turn !== null && frame.round !== before) told.push(`Round ${frame.round} of ${rules.rounds} begins.`);
      if (!texts.length) told.push(frame.turn === seat ? "You begin." : `${bot} begins.`);
      if (phase === "yours") told.push(this.describeTurn());
      if (phase === "bot") told.push(`${bot} is ${frame.turn === seat ? "getting ready" : "thinking"}\u2026`);
      if (phase === "left") told.push("You have left the game.");
      if (phase === "failed") told.push(`The game has failed: ${this.news.error}`);
      return told;
    }

    describeTurn() {
      return this.frames.at(-1).legal.includes("T") ? "Your turn: play a card, or take." : "Your turn: play a card.";
    }

    isAsked() {
      return this.news?.phase === "yours" && this.sent !== this.frames.at(-1).ply;
    }

    draw() {
      const { news } = this;
      const frame = this.frames.at(-1);
      const { board } = this.parts;
      const focused = board.contains(document.activeElement);
      board.dataset.ply = frame.ply;
      Arena.drawBoard(board, frame, {
        players: news.players.map((label, seat) => (seat === news.seat ? "you" : label)),
        rules: news.rules, perspective: news.seat, you: news.seat, names: news.names,
        onAction: this.isAsked() ? (char) => this.act(char) : null,
      });
      if (focused) ((!this.took && board.querySelector(".hand .act")) || board).focus();
    }

    // Play a card by its sign, or take with T, wherever the focus is but in a field.
    press(event) {
      if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest("input, select, textarea")) return;
      const sign = event.key === "c" ? "C" : event.key === "t" ? "T" : event.key;
      if (sign.length !== 1 || !`${Arena.CHARS}T`.includes(sign) || !this.isAsked()) return;
      event.preventDefault();
      if (this.frames.at(-1).legal.includes(sign)) this.act(sign);
      else this.tell([this.describeMissing(sign), this.describeTurn()]);
    }

    describeMissing(sign) {
      return sign === "T" ? "You cannot take now." : `${Arena.kindName(sign, this.news.names)} is not in your hand.`;
    }

    act(char) {
      this.took = char === "T";
      this.send("act", { action: char });
    }

    takeBack() {
      this.took = false;
      this.send("take-back", {});
    }

    leave() {
      this.parts.board.focus({ preventScroll: true });
      attempt(() => ask(`${this.path}/leave`, {}));
    }

    // Ask for something at this ply: once, also where somebody clicks twice.
    async send(what, body) {
      const { ply } = this.frames.at(-1);
      if (this.sent === ply) return;
      this.sent = ply;
      this.acted = true;
      this.undone = -1;
      this.parts.board.focus({ preventScroll: true });
      const answer = await attempt(() => ask(`${this.path}/${what}`, { ...body, ply }));
      if (answer === undefined && this.sent === ply) this.sent = -1;
    }

    async askHint() {
      const { board, hint } = this.parts;
      const frame = this.frames.at(-1);
      const found = await askFor(this.hintButton, "Asking\u2026", `${this.path}/hint`, {});
      if (!found || frame !== this.frames.at(-1) || this.news.phase !== "yours") return;
      Arena.drawThoughts(hint, { ...frame, thoughts: found.thoughts }, this.news);
      const action = found.action === "T" ? "take" : `play ${Arena.kindName(found.action, this.news.names)}`;
      const text = `${found.by} would ${action}`;
      hint.querySelector("h2").textContent = text;
      hint.hidden = false;
      board.querySelector(".sheet-of-scores").append(hint);
      hint.scrollIntoView({ block: "nearest" });
      Table.say(text);
    }

    showLog() {
      const { log } = this.parts;
      const { players, seat, texts, rules } = this.news;
      const bot = players[1 - seat];
      const list = make("ol");
      texts.forEach((text, ply) => {
        const item = make("li", "", "", ...writeEvent(text, bot));
        if (ply % rules.round_plies === 0) item.prepend(make("b", "", `Round ${ply / rules.round_plies + 1}: `));
        list.append(item);
      });
      log.replaceChildren(make("summary", "", `All actions so far (${texts.length})`), list);
    }

    showEnd() {
      const { news } = this;
      const { result } = this.parts;
      result.replaceChildren();
      result.hidden = false;
      const bot = news.players[1 - news.seat];
      if (news.result) result.append(make("h2", "", "", ...writeEvent(news.result, bot)));
      if (news.evidence) result.append(make("pre", "evidence", news.evidence));
      if (news.line) {
        const what = news.phase === "ended" ? "Recorded" : "Kept unfinished";
        result.append(make("p", "", `${what}: line ${news.line} of `, make("code", "", news.file)));
      }
      if (news.command) result.append(make("p", "soft", "The same deal again: ", make("code", "", news.command)));
      const buttons = make("div", "tools", "", makeButton("Rematch with seats swapped", () => this.playNext(), "main-button"));
      if (news.phase === "ended") buttons.append(makeLink("Replay", "record", news.line, 0, news.names));
      buttons.append(makeLink("Another opponent", "play"));
      result.append(buttons);
      if (news.phase === "ended") this.parts.review.replaceChildren(Table.makeReview(news.line, news.names));
      result.scrollIntoView({ block: "nearest" });
    }

    playNext() {
      attempt(async () => {
        const { id } = await ask(`${this.path}/next`, {});
        window.location.hash = Table.addressOf("play", id);
      });
    }
  }

  Object.assign(Table, { showGame: (main, id) => new Game(main, id).close });
})();
