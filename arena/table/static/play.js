// Play: a person's game: play it, take back, ask for a hint, and see how it ended.
"use strict";

(() => {
  const Arena = window.Arena;
  const Table = window.Table;
  const { ask, attempt, make, makeButton, makeLink, makeName } = Table;

  // ---- A game that is played.

  // A sentence that may begin with the label of the bot.
  function writeEvent(text, bot) {
    return text.startsWith(`${bot} `) ? [makeName(bot), text.slice(bot.length)] : [text];
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
      this.undone = -1; // the ply to which the person has gone back
      this.parts = {
        title: make("h1"), status: make("p", "turn-line"), round: make("p", "soft"), tools: make("div", "tools"), result: make("section", "result"),
        board: make("div"), review: make("div"), hint: make("section", "hint"), note: make("p", "soft"), log: make("details", "log"),
      };
      const { title, status, round, tools, result, review, board, hint, note, log } = this.parts;
      board.tabIndex = -1;
      const press = (event) => this.press(event);
      document.addEventListener("keydown", press);
      result.hidden = true;
      hint.hidden = true;
      this.hintButton = makeButton("Hint", () => this.askHint());
      this.backButton = makeButton("Take back my last action", () => this.takeBack());
      this.leaveButton = makeButton("Leave the game", () => attempt(() => ask(`${this.path}/leave`, {})));
      const rules = new Table.RulesPanel(() => this.news.names);
      tools.append(this.hintButton, this.backButton, rules.button, this.leaveButton);
      const table = make("div", "at-the-table", "", make("div", "", "", status, round, result, review, board, tools, note, log), rules.element);
      main.append(title, table);
      const stop = Table.listen(`${this.path}/events`, (news) => this.show(news));
      this.close = () => {
        document.removeEventListener("keydown", press);
        stop();
      };
    }

    show(news) {
      Table.addFrames(this.frames, news);
      if (this.news && news.taken_back > this.news.taken_back) {
        this.undone = this.frames.at(-1).ply;
        this.sent = -1;
      }
      this.news = news;
      const { title, status, round, hint, note } = this.parts;
      const bot = news.players[1 - news.seat];
      title.replaceChildren("You against ", makeName(bot), describeStrength(news.strength));
      note.textContent = describeTakenBack(news.taken_back);
      round.textContent = `Round ${this.frames.at(-1).round} of ${news.rules.rounds}`;
      document.title = `${news.phase === "yours" ? "Your turn: " : ""}you against ${bot}`;
      const told = this.describe(bot);
      status.replaceChildren(...told.map((text) => make("span", "event", "", ...writeEvent(text, bot))));
      Table.say([...told, news.result || ""].join(" "));
      hint.hidden = true;
      this.hintButton.hidden = this.backButton.hidden = this.leaveButton.hidden = news.over;
      this.hintButton.disabled = news.phase !== "yours";
      this.backButton.disabled = news.phase !== "yours" || news.back_to === null;
      this.draw();
      this.showLog();
      if (news.over) this.showEnd();
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
      const before = this.frames[Math.max(0, own - 1)];
      if (phase === "yours" && before.round !== frame.round) told.push(`Round ${frame.round} begins.`);
      if (!texts.length) told.push(frame.turn === seat ? "You begin." : `${bot} begins.`);
      if (phase === "yours") told.push(frame.legal.includes("T") ? "Your turn: play a card, or take." : "Your turn: play a card.");
      if (phase === "bot") told.push(`${bot} is thinking\u2026`);
      if (phase === "left") told.push("You have left the game.");
      if (phase === "failed") told.push(`The game has failed: ${this.news.error}`);
      return told;
    }

    draw() {
      const { news } = this;
      const frame = this.frames.at(-1);
      const mine = news.phase === "yours" && this.sent !== frame.ply;
      this.parts.board.dataset.ply = frame.ply;
      Arena.drawBoard(this.parts.board, frame, {
        players: news.players.map((label, seat) => (seat === news.seat ? "you" : label)),
        rules: news.rules, perspective: news.seat, names: news.names,
        onAction: mine ? (char) => this.act(char) : null,
      });
    }

    // Play a card by its sign, or take with T, wherever nothing is typed or chosen.
    press(event) {
      if (event.altKey || event.ctrlKey || event.metaKey || !this.news) return;
      if (event.target.matches("input, select, textarea")) return;
      const sign = event.key === "c" ? "C" : event.key === "t" ? "T" : event.key;
      const frame = this.frames.at(-1);
      if (sign.length === 1 && this.news.phase === "yours" && frame.legal.includes(sign)) {
        event.preventDefault();
        this.act(sign);
      }
    }

    act(char) {
      this.send("act", { action: char });
    }

    takeBack() {
      this.send("take-back", {});
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
      if (this.hintButton.hasAttribute("aria-disabled")) return;
      const { board, hint } = this.parts;
      const frame = this.frames.at(-1);
      this.hintButton.setAttribute("aria-disabled", "true"); // so that it keeps the focus
      this.hintButton.textContent = "Asking\u2026";
      const found = await attempt(() => ask(`${this.path}/hint`, {}));
      this.hintButton.textContent = "Hint";
      this.hintButton.removeAttribute("aria-disabled");
      this.hintButton.disabled = this.news.phase !== "yours";
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
      if (document.activeElement === document.body) this.parts.board.focus({ preventScroll: true });
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
