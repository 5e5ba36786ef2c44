// Watch: two bots play, and the viewer follows at the speed that is wanted.
"use strict";

(() => {
  const Arena = window.Arena;
  const Table = window.Table;
  const { ask, attempt, make, makeButton, makeField, makeName, makeSelect } = Table;
  const SPEEDS = [["0", "as they play"], ["300", "fast"], ["1200", "slowly"], ["", "step by step"]];

  async function showStart(main) {
    const home = await ask("api/home");
    const form = make("form", "begin");
    const bots = [["Seat 0", "champion"], ["Seat 1", "greedy"]].map(([text, name]) => Table.makeBotField(text, home.bots, name));
    const seed = make("input");
    Object.assign(seed, { type: "text", inputMode: "numeric", pattern: "[0-9]{1,18}", placeholder: "a new one" });
    const start = make("button", "main-button", "Watch");
    form.append(...bots.map((bot) => bot.element), makeField("Seed of the deal", seed), start);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      start.disabled = true;
      attempt(async () => {
        const wanted = { bots: bots.map((bot) => bot.read()), seed: seed.value ? Number(seed.value) : null };
        const { id } = await ask("api/watched", wanted);
        window.location.hash = Table.addressOf("watch", id);
      }).finally(() => { start.disabled = false; });
    });
    main.append(make("h1", "", "Watch"), form);
  }

  class Watched {
    constructor(main, id) {
      this.path = `api/watched/${encodeURIComponent(id)}`;
      this.frames = [];
      this.viewer = null;
      this.timer = null;
      this.parts = { title: make("h1"), state: make("p", "soft"), viewer: make("div"), evidence: make("details", "panel") };
      const { title, state, viewer, evidence } = this.parts;
      evidence.hidden = true;
      this.speed = makeSelect(SPEEDS, "300");
      this.speed.addEventListener("change", () => this.pace());
      this.stopButton = makeButton("Stop the game", () => attempt(() => ask(`${this.path}/leave`, {})));
      const tools = make("div", "tools", "", makeField("Speed", this.speed), this.stopButton);
      main.append(title, state, tools, viewer, evidence);
      const stop = Table.listen(`${this.path}/events`, (news) => this.hear(news));
      this.close = () => {
        stop();
        clearInterval(this.timer);
        if (this.viewer) this.viewer.stop();
      };
    }

    hear(news) {
      Table.addFrames(this.frames, news);
      this.stopButton.hidden = news.over;
      this.parts.title.replaceChildren(makeName(news.players.join(" against ")));
      document.title = news.players.join(" against ");
      this.parts.state.textContent = this.describe(news);
      this.update({
        ...news, title: "", frames: this.frames, over: news.over, winner: null, removed: null,
        ending: news.result || "", evidence: news.evidence || "",
      });
      if (news.phase === "ended") this.complete();
    }

    // How far the game is; the end is told where it is shown.
    describe({ phase, seed, error }) {
      const texts = {
        playing: "They play.", ended: "The game is over.", left: "The game was stopped.", failed: `The game has failed: ${error}.`,
      };
      return `${texts[phase]} Seed ${seed}.`;
    }

    // Show a timeline at the ply that is being looked at.
    update(timeline) {
      if (this.viewer) this.viewer.update(timeline);
      else {
        this.viewer = Arena.mountViewer(this.parts.viewer, timeline, { names: "english" });
        for (const name of ["jump", "toggle"]) this.rest(name);
        this.pace();
      }
      if (this.speed.value === "0") this.viewer.show(this.viewer.last);
    }

    // The game goes on by itself until somebody uses the viewer.
    rest(name) {
      const act = this.viewer[name];
      this.viewer[name] = (...words) => {
        this.speed.value = "";
        clearInterval(this.timer);
        act.apply(this.viewer, words);
      };
    }

    // The finished game, with what is known of it only now.
    complete() {
      attempt(async () => {
        const timeline = await ask(`${this.path}/timeline`);
        this.update(timeline);
        if (!timeline.evidence) return;
        const { evidence } = this.parts;
        evidence.replaceChildren(make("summary", "", "Evidence of the fault"), make("pre", "evidence", timeline.evidence));
        evidence.hidden = false;
      });
    }

    pace() {
      clearInterval(this.timer);
      const speed = this.speed.value;
      if (speed === "0") this.viewer.show(this.viewer.last);
      else if (speed) this.timer = setInterval(() => this.step(), Number(speed));
    }

    step() {
      const { viewer } = this;
      if (viewer.ply < viewer.last) viewer.show(viewer.ply + 1);
    }
  }

  Object.assign(Table, {
    showWatchStart: showStart,
    showWatched: (main, id) => new Watched(main, id).close,
  });
})();
