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

  // The server sends every ply as it is played; the page shows them at the speed that is wanted.
  class Watched {
    constructor(main, id) {
      this.path = `api/watched/${encodeURIComponent(id)}`;
      this.frames = [];
      this.shown = 0;
      this.viewer = null;
      this.timer = null;
      this.parts = {
        title: make("h1"), state: make("p", "soft"), viewer: make("div"), evidence: make("details", "panel"),
      };
      const { title, state, viewer, evidence } = this.parts;
      evidence.hidden = true;
      this.speed = makeSelect(SPEEDS, "300");
      this.speed.addEventListener("change", () => this.pace());
      this.stepButton = makeButton("Next action", () => this.reveal(this.shown + 1));
      this.stopButton = makeButton("Stop the game", () => attempt(() => ask(`${this.path}/leave`, {})));
      const tools = make("div", "tools", "", makeField("Speed", this.speed), this.stepButton, this.stopButton);
      main.append(title, state, tools, viewer, evidence);
      this.pace();
      const stop = Table.listen(`${this.path}/events`, (news) => this.hear(news));
      this.close = () => {
        stop();
        clearInterval(this.timer);
        if (this.viewer) this.viewer.stop();
      };
    }

    hear(news) {
      Table.addFrames(this.frames, news);
      this.news = news;
      this.stopButton.hidden = news.over;
      this.parts.title.replaceChildren(makeName(news.players.join(" against ")));
      document.title = news.players.join(" against ");
      this.reveal(this.speed.value === "0" ? this.frames.length : Math.max(1, this.shown));
    }

    pace() {
      clearInterval(this.timer);
      const speed = this.speed.value;
      this.stepButton.hidden = speed !== "";
      if (speed === "0" && this.news) this.reveal(this.frames.length);
      if (Number(speed)) this.timer = setInterval(() => this.reveal(this.shown + 1), Number(speed));
    }

    // Show so many positions; who looks at the last one goes on with the next.
    reveal(count) {
      if (!this.news || this.ended) return;
      const { news, viewer } = this;
      const follows = !viewer || viewer.ply === viewer.last;
      this.shown = Math.min(count, this.frames.length);
      const all = news.over && this.shown === this.frames.length;
      this.update({
        ...news, title: "", frames: this.frames.slice(0, this.shown), winner: null,
        ending: (all && news.result) || "", evidence: "",
      });
      if (follows) this.viewer.show(this.viewer.last);
      this.parts.state.textContent = this.describe(all);
      if (all) this.finish();
    }

    describe(all) {
      const { phase, seed, error } = this.news;
      const ends = { ended: "The game is over.", left: "The game was stopped.", failed: `The game has failed: ${error}.` };
      return `${all ? ends[phase] : "They play."} Seed ${seed}.`;
    }

    update(timeline) {
      if (this.viewer) this.viewer.update(timeline);
      else this.viewer = Arena.mountViewer(this.parts.viewer, timeline, { names: "english" });
    }

    // The whole game has been shown: now what is known of it only at its end.
    finish() {
      this.ended = true;
      clearInterval(this.timer);
      this.speed.parentElement.hidden = this.stepButton.hidden = true;
      if (this.news.phase !== "ended") return;
      attempt(async () => {
        const timeline = await ask(`${this.path}/timeline`);
        this.update(timeline);
        if (!timeline.evidence) return;
        const { evidence } = this.parts;
        evidence.replaceChildren(make("summary", "", "Evidence of the fault"), make("pre", "evidence", timeline.evidence));
        evidence.hidden = false;
      });
    }
  }

  Object.assign(Table, {
    showWatchStart: showStart,
    showWatched: (main, id) => new Watched(main, id).close,
  });
})();
