// Play: a person's games: begin one, play it, and look at those that are over.
"use strict";

(() => {
  const Arena = window.Arena;
  const Table = window.Table;
  const { ask, attempt, make, makeButton, makeField, makeLink, makeName, makeSelect, makeTable } = Table;
  const NAMINGS = { english: "English", german: "Deutsch", deck: "Standard deck" };
  const PHASES = {
    begins: "begins", bot: "the bot thinks", yours: "your turn", playing: "under way",
    ended: "ended", left: "left unfinished", failed: "failed",
  };

  // ---- The page on which a game is begun.

  async function showStart(main) {
    const home = await ask("api/home");
    const { records } = await ask("api/records");
    const games = make("div", "games");
    for (const problem of home.problems) games.append(make("p", "warning", problem));
    if (home.interrupted.length) games.append(make("h2", "", "Interrupted games"), listInterrupted(home.interrupted));
    if (home.open.length) games.append(make("h2", "", "Open games"), listOpen(home.open));
    games.append(make("h2", "", "Your games"), listRecords(records));
    main.append(make("h1", "", "Play"), make("div", "start", "", makeForm(home), games));
  }

  function makeForm(home) {
    const form = make("form", "begin");
    const bot = Table.makeBotField("Opponent", home.bots, "greedy");
    const begins = makeSelect([["lot", "chosen by lot"], ["me", "you"], ["bot", "the bot"]], "lot");
    const names = makeSelect(home.namings.map((name) => [name, NAMINGS[name]]), "english");
    const start = make("button", "main-button", "Play");
    form.append(bot.element, makeField("Who begins", begins), makeField("Cards", names), start);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      start.disabled = true;
      attempt(async () => {
        const wanted = { bot: bot.read(), begins: begins.value, names: names.value };
        const { id } = await ask("api/games", wanted);
        window.location.hash = Table.addressOf("play", id);
      }).finally(() => { start.disabled = false; });
    });
    return form;
  }

  function listOpen(games) {
    const list = make("ul", "plain-list");
    for (const game of games) {
      const link = makeLink("", game.kind, game.id);
      link.append(makeName(game.title));
      list.append(make("li", "", "", link, ` \u2013 ${PHASES[game.phase]}`));
    }
    return list;
  }

  // Games whose table was killed: each goes on from its last action, or is kept as it stands.
  function listInterrupted(games) {
    const list = make("ul", "plain-list");
    for (const game of games) {
      const path = `api/interrupted/${encodeURIComponent(game.name)}`;
      const item = make("li", "", "", makeName(game.title), ` (`, make("code", "", game.bot), `) \u2013 ${game.plies} actions`);
      const act = (action) => attempt(async () => {
        const { id } = await ask(`${path}/${action}`, {});
        if (id) window.location.hash = Table.addressOf("play", id);
        else item.replaceChildren(makeName(game.title), " \u2013 kept unfinished");
      });
      item.append(" ", makeButton("Go on", () => act("go-on")), " ", makeButton("Keep it unfinished", () => act("keep")));
      list.append(item);
    }
    return list;
  }

  function listRecords(records) {
    if (!records.length) return make("p", "soft", "None yet. Games played with `arena human` are here, too.");
    const rows = records.map((game) => [
      makeLink(`${game.line}`, "record", game.line), makeName(game.players.join(" \u2013 ")),
      game.winner === null ? game.win_type : makeName(`${game.winner}, ${game.win_type}`),
      `${game.points[0]} : ${game.points[1]}`, game.plies,
    ]);
    return makeTable("Recorded games, the latest first", ["line", "seat 0 \u2013 seat 1", "winner", "points", "plies"], rows);
  }

  // ---- A game that is played.

  // A sentence that may begin with the label of the bot.
  function writeEvent(text, bot) {
    return text.startsWith(`${bot} `) ? [makeName(bot), text.slice(bot.length)] : [text];
  }

  class Game {
    constructor(main, id) {
      this.path = `api/games/${encodeURIComponent(id)}`;
      this.frames = [];
      this.sent = -1; // the ply for which an action was sent
      this.parts = {
        title: make("h1"), status: make("p", "turn-line"), tools: make("div", "tools"), result: make("section", "result"),
        board: make("div"), hint: make("section", "hint"), log: make("details", "log"),
      };
      const { title, status, tools, result, board, hint, log } = this.parts;
      board.tabIndex = -1;
      board.addEventListener("keydown", (event) => this.press(event));
      result.hidden = true;
      hint.hidden = true;
      this.hintButton = makeButton("Hint", () => this.askHint());
      this.leaveButton = makeButton("Leave the game", () => attempt(() => ask(`${this.path}/leave`, {})));
      tools.append(this.hintButton, this.leaveButton);
      main.append(title, status, result, board, tools, log);
      this.close = Table.listen(`${this.path}/events`, (news) => this.show(news));
    }

    show(news) {
      Table.addFrames(this.frames, news);
      this.news = news;
      const { title, status, hint } = this.parts;
      const bot = news.players[1 - news.seat];
      title.replaceChildren("You against ", makeName(bot));
      document.title = `${news.phase === "yours" ? "Your turn: " : ""}you against ${bot}`;
      const told = this.describe(bot);
      status.replaceChildren(...told.map((text) => make("span", "event", "", ...writeEvent(text, bot))));
      Table.say([...told, news.result || ""].join(" "));
      hint.hidden = true;
      this.hintButton.hidden = this.leaveButton.hidden = news.over;
      this.hintButton.disabled = news.phase !== "yours";
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
      const goesOn = interrupted && this.sent < 0 && frame.ply < interrupted + rules.round_plies;
      if (goesOn) told.push(`The game goes on where it was interrupted, at ply ${interrupted}.`);
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

    // Play a card by its sign, or take with T, while the board has the focus.
    press(event) {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const sign = event.key === "c" ? "C" : event.key === "t" ? "T" : event.key;
      const frame = this.frames.at(-1);
      if (sign.length === 1 && this.news.phase === "yours" && frame.legal.includes(sign)) {
        event.preventDefault();
        this.act(sign);
      }
    }

    act(char) {
      const { ply } = this.frames.at(-1);
      if (this.sent === ply) return;
      this.sent = ply;
      this.parts.board.focus({ preventScroll: true });
      attempt(() => ask(`${this.path}/act`, { ply, action: char })).then((answer) => {
        if (answer === undefined) this.sent = -1;
      });
    }

    async askHint() {
      const { board, hint } = this.parts;
      const frame = this.frames.at(-1);
      this.hintButton.disabled = true;
      this.hintButton.textContent = "Asking\u2026";
      const found = await attempt(() => ask(`${this.path}/hint`, {}));
      this.hintButton.textContent = "Hint";
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
      const buttons = make("div", "tools", "", makeButton("Next game, seats swapped", () => this.playNext(), "main-button"));
      if (news.phase === "ended") buttons.append(makeButton("Replay", () => this.replay()));
      buttons.append(makeLink("Another opponent", "play"));
      result.append(buttons);
      result.scrollIntoView({ block: "nearest" });
    }

    playNext() {
      attempt(async () => {
        const { id } = await ask(`${this.path}/next`, {});
        window.location.hash = Table.addressOf("play", id);
      });
    }

    replay() {
      attempt(async () => {
        const timeline = await ask(`${this.path}/timeline`);
        const { board, log } = this.parts;
        const viewer = make("div");
        board.replaceWith(viewer);
        log.remove();
        Arena.mountViewer(viewer, timeline, { names: this.news.names });
        viewer.scrollIntoView();
      });
    }
  }

  // ---- A game of the file of records.

  async function showRecord(main, line) {
    const timeline = await ask(`api/record?line=${encodeURIComponent(line)}`);
    const viewer = make("div");
    main.append(make("h1", "", `Game ${line}: `, makeName(timeline.players.join(" against "))), viewer);
    Arena.mountViewer(viewer, timeline, { names: "english" });
  }

  Object.assign(Table, {
    showStart, showRecord,
    showGame: (main, id) => new Game(main, id).close,
  });
})();
