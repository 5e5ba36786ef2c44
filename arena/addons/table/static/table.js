// The table: forms to begin a game, and a game in the viewer, in which a person's clicks and keys are actions.
"use strict";

(() => {
  const { Arena } = window;
  const { make, makeLabel, makeSelect } = Arena;
  const TITLE = "District Noir Arena";
  const ENDED = "This page is not let in any more: the terminal of the running `arena table` has the address.";
  const SILENT = "The server does not answer: has `arena table` ended?";
  const PHASES = { begins: "begins", bot: "under way", yours: "your turn", ended: "ended", left: "left", failed: "failed" };
  const main = document.getElementById("main");
  let shown = null; // the game that the page shows

  // ---- Requests, and what goes wrong with them.

  function complain(text) {
    const place = document.getElementById("complaint");
    place.textContent = text;
    place.hidden = !text;
  }

  // Ask the server; with a body it is asked to do something.
  async function ask(path, body) {
    const options = body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
    const answer = await fetch(path, options).catch(() => { throw new Error(SILENT); });
    if (answer.status === 403) throw new Error(ENDED);
    const data = await answer.json();
    if (!answer.ok) throw new Error(data.error);
    return data;
  }

  // Do something that may fail, and say why it did; a button is off meanwhile.
  async function attempt(action, button = null) {
    complain("");
    if (button) button.disabled = true;
    try {
      return await action();
    } catch (error) {
      complain(error.message);
      return undefined;
    } finally {
      if (button) button.disabled = false;
    }
  }

  async function begin(wanted) {
    const { id } = await ask("api/games", wanted);
    window.location.hash = `#/${id}`;
  }

  // ---- The page on which a game is begun.

  const makeField = (text, input) => make("label", "field", "", make("span", "", text), input);

  function makeButton(text, onClick) {
    const button = make("button", "plain", text);
    button.type = "button";
    button.addEventListener("click", () => attempt(onClick, button));
    return button;
  }

  // A bot with a name, or any other that is typed.
  function makeBotField(text, bots, chosen) {
    const select = makeSelect([...bots.map((bot) => [bot.name, bot.text]), ["", "another: a file or a spec"]], chosen);
    const other = make("input");
    Object.assign(other, { type: "text", spellcheck: false, autocomplete: "off", placeholder: "./my_bot.py", maxLength: 4000, hidden: true });
    other.setAttribute("aria-label", `${text}: a file or a spec`);
    select.addEventListener("change", () => { other.hidden = select.value !== ""; });
    return { parts: [makeField(text, select), other], read: () => select.value || other.value.trim() };
  }

  function makeForm(heading, text, parts, read) {
    const button = make("button", "plain main-button", heading);
    const form = make("form", "begin", "", make("h2", "", heading), make("p", "soft", text), ...parts, button);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      attempt(() => begin(read()), button);
    });
    return form;
  }

  function makeForms(bots) {
    const opponent = makeBotField("Bot", bots, bots[0].name);
    const begins = makeSelect([["lot", "chosen by lot"], ["me", "you"], ["bot", "the bot"]], "lot");
    const play = makeForm("Play", "Against a bot. If you have never seen the game, read the rules below first.",
      [...opponent.parts, makeField("Who begins", begins)],
      () => ({ bots: [opponent.read()], begins: begins.value }));
    const two = [["Seat 0", "champion"], ["Seat 1", "greedy"]].map(([text, name]) => makeBotField(text, bots, name));
    const seed = make("input");
    Object.assign(seed, { type: "text", inputMode: "numeric", pattern: "[0-9]{1,18}", placeholder: "a new one" });
    const watch = makeForm("Watch", "Two bots, with both hands open.",
      [...two.flatMap((bot) => bot.parts), makeField("Seed of the deal", seed)],
      () => ({ bots: two.map((bot) => bot.read()), seed: seed.value ? Number(seed.value) : null }));
    return make("div", "forms", "", play, watch);
  }

  async function showStart() {
    const { bots, games } = await ask("api/home");
    const list = make("ul");
    for (const { id, title, phase } of games) {
      const link = make("a", "", "", makeLabel(title));
      link.href = `#/${id}`;
      list.append(make("li", "", "", link, ` \u2013 ${PHASES[phase]}`));
    }
    const listed = games.length ? [make("h2", "", "Games at this table"), list] : [];
    main.replaceChildren(make("h1", "", "Choose a bot, and play."), makeForms(bots), ...listed);
  }

  // ---- A game.

  const wait = (milliseconds) => new Promise((resolve) => { setTimeout(resolve, milliseconds); });

  class Game {
    constructor(id) {
      this.path = `api/games/${encodeURIComponent(id)}`;
      this.news = { version: "" };
      this.sent = -1; // the ply for which an action was sent
      this.title = make("h1");
      this.place = make("div");
      this.place.tabIndex = -1;
      this.end = make("p", "soft end");
      this.leaveButton = makeButton("Leave the game", () => ask(`${this.path}/leave`, {}));
      this.tools = make("div", "tools", "", this.leaveButton);
      main.replaceChildren(this.title, this.tools, this.end, this.place);
      this.ending = new AbortController();
      document.addEventListener("keydown", (event) => this.press(event), { capture: true, signal: this.ending.signal });
    }

    close() {
      this.ending.abort();
      if (this.viewer) this.viewer.end();
    }

    // Show all news until the game is over. A hidden page asks for none: a browser has few connections.
    async follow() {
      while (shown === this && !this.news.over) {
        try {
          const news = document.hidden ? null : await ask(`${this.path}?after=${this.news.version}`);
          if (shown !== this) return;
          if (document.getElementById("complaint").textContent === SILENT) complain("");
          if (news && news.version !== this.news.version) this.show(news);
          else await wait(100);
        } catch (error) {
          complain(error.message);
          if (error.message !== SILENT) return;
          await wait(1000);
        }
      }
    }

    show(news) {
      this.news = news;
      const { timeline, phase, seat } = news;
      if (phase !== "yours") timeline.frames.at(-1).legal = ""; // nothing can be clicked
      this.title.replaceChildren(makeLabel(timeline.players.join(" against ")));
      document.title = `${phase === "yours" ? "Your turn: " : ""}${timeline.players.join(" against ")} \u2013 ${TITLE}`;
      this.leaveButton.hidden = news.over;
      const focused = document.activeElement; // the place itself, while the bot of the last card thinks
      const inBoard = focused === this.place || this.place.querySelector(".arena-board")?.contains(focused);
      this.view(timeline, seat !== null);
      if (inBoard) ((this.sign !== "T" && this.place.querySelector(".hand .act")) || this.place).focus();
      if (news.over) this.showEnd();
    }

    // The last position for a person; a watched game is played at the viewer's pace.
    view(timeline, isOwn) {
      const { viewer } = this;
      const atLast = !viewer || viewer.ply === viewer.last;
      if (viewer && viewer.timeline.seat === timeline.seat) viewer.update(timeline);
      else this.viewer = Arena.mountViewer(this.place, timeline, { names: viewer?.names, onAction: (char) => this.act(char) });
      if (isOwn) this.viewer.show(this.viewer.last);
      else if (atLast && this.viewer.ply < this.viewer.last) this.viewer.transport.start();
    }

    isAsked() {
      const { viewer, news } = this;
      return news.phase === "yours" && viewer.ply === viewer.last && this.sent !== viewer.ply;
    }

    // Play a card by its sign, or take with T, wherever the focus is but in a field.
    press(event) {
      if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest("input:not([type=range]), select, textarea")) return;
      const sign = ["c", "t"].includes(event.key) ? event.key.toUpperCase() : event.key;
      const legal = this.isAsked() && this.viewer.timeline.frames.at(-1).legal;
      if (sign.length !== 1 || !legal || !legal.includes(sign)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      this.act(sign);
    }

    // Once for each ply, also where somebody clicks twice.
    async act(sign) {
      if (!this.isAsked()) return;
      const { ply } = this.viewer;
      Object.assign(this, { sent: ply, sign });
      const done = await attempt(() => ask(`${this.path}/act`, { ply, action: sign }));
      if (!done) this.sent = -1;
    }

    showEnd() {
      const { phase, line, file, command, seat, timeline } = this.news;
      const kept = phase === "ended" ? "Recorded" : "Kept unfinished";
      if (line) this.end.append(`${kept}: line ${line} of `, make("code", "", file), ". ");
      if (command) this.end.append("The same deal again: ", make("code", "", command));
      if (phase === "ended" && !Object.keys(timeline.rules.changes).length) this.tools.append(this.makeJudgeButton());
      if (seat !== null) this.tools.append(makeButton("Rematch with seats swapped", () => begin({ bots: [this.news.bot], begins: seat ? "me" : "bot" })));
    }

    makeJudgeButton() {
      const button = makeButton("Judge every decision", async () => {
        button.textContent = "The decisions are being looked at\u2026";
        this.viewer.update(await ask(`${this.path}/judge`, {}));
        button.hidden = true;
      });
      return button;
    }
  }

  // ---- Which of both is shown, by what stands behind the # of the address.

  function route() {
    if (shown) shown.close();
    shown = null;
    document.title = TITLE;
    const id = window.location.hash.replace(/^#\/?/, "");
    if (!id) {
      attempt(showStart);
      return;
    }
    complain("");
    shown = new Game(id);
    shown.follow();
  }

  window.addEventListener("hashchange", route);
  route();
})();
