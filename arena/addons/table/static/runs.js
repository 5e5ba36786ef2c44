// Runs: what lies below the folder of results: standings, reports, games, and runs under way.
"use strict";

(() => {
  const Arena = window.Arena;
  const Table = window.Table;
  const { ask, attempt, make, makeButton, makeField, makeLink, makeName, makeSelect, makeTable } = Table;
  const queryOf = (values) => new URLSearchParams(values).toString();
  const LEAGUE_EVERY = 3000;  // milliseconds
  const percent = (share) => `${(100 * share).toFixed(1)}\u2009%`;
  const rounded = (number) => (number === null ? "\u2013" : number.toFixed(0));

  async function showRuns(main) {
    const { runs } = await ask("api/runs");
    main.append(make("h1", "", summarise(runs)));
    if (runs.length) main.append(make("ul", "things", "", ...runs.map(makeThing)));
    else main.append(make("p", "soft", "", "Make one: ", make("code", "", "arena run quickstart"), "."));
  }

  // How many things there are, and how many of them are in which state.
  function summarise(runs) {
    if (!runs.length) return "Nothing has been run yet.";
    const counts = ["running", "not finished", "damaged"].map((state) => [state, runs.filter((run) => run.state === state).length]);
    const said = counts.filter(([, count]) => count).map(([state, count]) => `${count} ${count === 1 ? "is" : "are"} ${state}`);
    const results = runs.length === 1 ? "One result" : `${runs.length} results`;
    return said.length ? `${results}: ${said.join(", ")}.` : `${results}; nothing is running.`;
  }

  // One thing that was started: what it is called, what it has found, how it stands, and its report.
  function makeThing(run) {
    const name = run.kind === "league" || run.runs.length === 0
      ? makeNamed(run.name, run.kind === "league" ? "league" : "run")
      : make("span", "", "", makeName(run.name));
    name.classList.add("thing-name");
    const report = make("span", "thing-report");
    if (run.report) {
      const link = makeLink(run.kind === "league" ? "pages" : "report", "report", run.report);
      link.setAttribute("aria-label", `${link.textContent} of ${run.name}`);
      report.append(link);
    }
    const state = make("span", `state ${run.state.replace(" ", "-")}`, run.state);
    return make("li", "thing", "", name, makeKind(run), make("p", "thing-verdict", run.verdict), state, report, makeTime(run.changed));
  }

  function makeKind(run) {
    if (!run.inner) return make("span", "kind-of", run.kind);
    const left = run.inner > run.runs.length ? `, the last ${run.runs.length} here` : "";
    const summary = make("summary", "", `${run.kind} of ${run.inner} ${run.inner === 1 ? "run" : "runs"}${left}`);
    summary.setAttribute("aria-label", `${summary.textContent}: ${run.name}`);
    const links = run.runs.map((inner) => {
      const link = makeLink("", "run", `${run.name}/${inner}`);
      link.append(makeName(inner));
      return make("li", "", "", link);
    });
    return make("details", "kind-of", "", summary, make("ul", "plain-list", "", ...links));
  }

  // When something was changed: the time today, else the day.
  function makeTime(changed) {
    const at = new Date(1000 * changed);
    const [day, year] = [at.toDateString() === new Date().toDateString(), at.getFullYear() === new Date().getFullYear()];
    const form = day ? { timeStyle: "short" } : { day: "numeric", month: "short", ...(year ? {} : { year: "numeric" }) };
    const time = make("time", "thing-time", at.toLocaleString("en-GB", form));
    time.dateTime = at.toISOString();
    time.title = at.toLocaleString("en-GB", { dateStyle: "full", timeStyle: "short" });
    return time;
  }

  function makeNamed(name, part) {
    const link = makeLink("", part, name);
    link.append(makeName(name));
    return link;
  }

  // ---- One run.

  class Run {
    constructor(main, name) {
      this.name = name;
      this.faults = [];
      this.close = () => {};
      this.parts = {
        state: make("p", "turn-line"), bar: make("progress"), standings: make("div"), faults: make("div"), games: make("section"),
      };
      const { state, bar, standings, faults, games } = this.parts;
      bar.setAttribute("aria-label", "Games played");
      this.links = make("p", "tools");
      main.append(make("h1", "", "", makeName(name)), this.links, state, bar, standings, faults, games);
    }

    async start() {
      const { runs: [known] } = await ask(`api/runs?${queryOf({ name: this.name })}`);
      if (known.verdict) this.links.before(make("p", "said", known.verdict));
      if (known.report) this.links.append(makeLink("The report", "report", known.report));
      if (known.state === "running") {
        this.close = Table.listen(`api/run/events?${queryOf({ name: this.name })}`, (news) => this.hear(news));
      } else await this.load();
    }

    async load() {
      const run = await ask(`api/run?${queryOf({ name: this.name })}`);
      this.show(run, run.finished ? "" : "; not finished");
      for (const warning of run.warnings) this.parts.standings.append(make("p", "warning", warning));
      this.faults = run.faults;
      this.pairings = run.pairings;
      this.showFaults();
      this.showGames();
    }

    hear(news) {
      if (news.error) {
        this.parts.state.textContent = news.error;
        return;
      }
      const rate = news.rate === null ? "" : `, ${news.rate >= 10 ? news.rate.toFixed(0) : news.rate.toFixed(1)} games/s`;
      this.show(news, `${rate}; running`);
      this.faults.push(...news.faults);
      this.showFaults();
      for (const fault of news.faults.slice(-1)) Table.say(`${fault.bot}: ${fault.kind}, ${fault.message}`);
      if (news.over) attempt(() => this.load());
    }

    show(run, more) {
      const { state, bar, standings } = this.parts;
      state.textContent = `${run.played.toLocaleString("en")} of ${run.total.toLocaleString("en")} games${more}`;
      Object.assign(bar, { max: Math.max(1, run.total), value: run.played, hidden: run.played >= run.total });
      standings.replaceChildren(makeStandings(run.standings));
    }

    showFaults() {
      const { faults } = this.parts;
      if (!this.faults.length) {
        faults.replaceChildren();
        return;
      }
      const items = this.faults.map((fault) => {
        const text = make("span", "", "", makeName(fault.bot), `: ${fault.kind} at ply ${fault.ply}: ${fault.message}`);
        const more = make("details", "fault", "", make("summary", "", "", text));
        for (const part of [fault.traceback, fault.output]) if (part) more.append(make("pre", "evidence", part));
        if (fault.command) more.append(make("p", "", "", make("code", "", fault.command)));
        return make("li", "", "", more);
      });
      faults.replaceChildren(make("h2", "", `Faults (${this.faults.length})`), make("ul", "plain-list", "", ...items));
    }

    showGames() {
      const { games } = this.parts;
      const pairings = this.pairings.map((bots, number) => [`${number}`, bots.join(" \u2013 ")]);
      const select = makeSelect(pairings, "0");
      const list = make("div");
      const show = (first) => attempt(() => this.list(list, select.value, first));
      select.addEventListener("change", () => show(0));
      games.replaceChildren(make("h2", "", "Games"), makeField("Bots", select), list);
      show(0);
    }

    async list(place, pairing, first) {
      const found = await ask(`api/run/games?${queryOf({ name: this.name, pairing, first })}`);
      const rows = found.games.map((game) => [
        makeLink(`${game.pair}/${game.seat}`, "game", this.name, pairing, game.pair, game.seat),
        makeName(game.players.join(" \u2013 ")), game.winner === null ? "draw" : makeName(game.winner), game.win_type, game.points.join(" : "), game.plies,
      ]);
      const [bot, opponent] = found.bots;
      const caption = `Games of ${bot} (its seat is after the slash) against ${opponent}`;
      place.replaceChildren(makeTable(caption, ["game", "seat 0 \u2013 seat 1", "winner", "by", "points", "plies"], rows));
      const turn = make("div", "tools");
      const page = (text, from) => turn.append(makeButton(text, () => attempt(() => this.list(place, pairing, from))));
      if (first) page("Earlier games", Math.max(0, first - 50));
      if (found.more) page("Later games", first + 50);
      place.append(turn);
    }
  }

  function makeStandings(rows) {
    const interval = (row) => {
      if (row.elo === null || (row.elo_low === null && row.elo_high === null)) return "\u2013";
      if (row.elo_high === null) return `at least ${rounded(row.elo_low)}`;
      if (row.elo_low === null) return `at most ${rounded(row.elo_high)}`;
      return `${rounded(row.elo_low)}\u2060\u2026\u2060${rounded(row.elo_high)}`;
    };
    const cells = rows.map((row) => [
      row.rank, makeName(row.bot), row.elo === null ? "not rated" : rounded(row.elo), interval(row),
      percent(row.score), percent(row.city_wins / row.games), row.games, row.forfeits,
    ]);
    return makeTable("Standings", ["rank", "bot", "Elo", "95\u2009%", "score", "by City", "games", "forfeits"], cells);
  }

  async function showRun(main, name) {
    const run = new Run(main, name);
    await run.start();
    return () => run.close();
  }

  // ---- A league, which is asked again while it is looked at.

  async function showLeague(main, name) {
    const places = { said: make("h1"), notes: make("div"), standings: make("div"), news: make("div") };
    main.append(make("p", "soft", "", makeName(name)), places.said, places.standings, places.notes, places.news);
    let last = "";
    const ask_again = async () => {
      const league = await ask(`api/league?${queryOf({ name })}`);
      const text = JSON.stringify(league);
      if (text === last) return;
      last = text;
      places.said.replaceChildren(makeName(league.sentence || name));
      places.notes.replaceChildren(...league.notes.map((note) => make("p", "soft", note)));
      places.standings.replaceChildren(makeLeagueTable(league.standings));
      const news = league.news.map((one) => [one.at.slice(0, 16).replace("T", " "), makeName(one.text)]);
      places.news.replaceChildren(makeTable("What happened last", ["when (UTC)", "what"], news));
    };
    await ask_again();
    const timer = setInterval(() => { if (!document.hidden) attempt(ask_again); }, LEAGUE_EVERY);
    return () => clearInterval(timer);
  }

  function makeLeagueTable(rows) {
    const end = (number, sign) => (number === null ? sign : rounded(number));
    const cells = rows.map((row) => [
      row.rank === null ? "" : row.rank, makeName(`${row.bot} ${row.version}`), makeName(row.owner),
      row.elo === null ? "not rated" : rounded(row.elo),
      row.elo === null ? "" : `${end(row.elo_low, "<")}\u2060\u2026\u2060${end(row.elo_high, ">")}`,
      row.pairs, row.group, row.note,
    ]);
    return makeTable("Standings", ["rank", "bot", "owner", "Elo", "95\u2009%", "pairs", "group", "note"], cells);
  }

  // ---- A report: a page of its own, which can reach nothing of this one. It may only name another
  // page below the folder of results, which is then shown in its place.

  const FRAME = "arena-table";

  function findPage(frame, { source, data }) {
    const base = new URL("report/", window.location.href).href;
    if (source !== frame.contentWindow || typeof data?.open !== "string" || !URL.canParse(data.open, frame.src)) return null;
    const { href } = new URL(data.open, frame.src);
    try {
      return href.startsWith(base) ? decodeURIComponent(new URL(href).pathname.slice(new URL(base).pathname.length)) : null;
    } catch {
      return null; // a sign of per cent that is none of an address
    }
  }

  async function showReport(main, page) {
    const name = page.replace(/\/(report|site\/index)\.html$/, "").replace(/\/site\/bots\/([^/]*)\.html$/, ": $1");
    const frame = make("iframe", "report");
    frame.setAttribute("sandbox", "allow-scripts");
    frame.name = FRAME;
    frame.title = `Report of ${name}`;
    const path = page.split("/").map(encodeURIComponent).join("/");
    frame.src = `report/${path}`;
    const alone = make("a", "", "Open it alone");
    Object.assign(alone, { href: `alone/${path}`, target: "_blank", rel: "noopener" });
    main.append(make("h1", "", "Report of ", makeName(name)), make("p", "", "", alone), frame);
    const follow = (event) => {
      const found = findPage(frame, event);
      if (found !== null) window.location.hash = Table.addressOf("report", found);
    };
    window.addEventListener("message", follow);
    return () => window.removeEventListener("message", follow);
  }

  async function showRunGame(main, name, pairing, pair, seat) {
    const timeline = await ask(`api/run/game?${queryOf({ name, pairing, pair, seat })}`);
    const viewer = make("div");
    const title = make("h1", "", "", makeName(timeline.players.join(" against ")));
    main.append(title, make("p", "soft", `pair ${pair} of `, makeNamed(name, "run")), viewer);
    Arena.mountViewer(viewer, timeline, { names: "english" });
  }

  Object.assign(Table, { showLeague, showReport, showRun, showRunGame, showRuns });
})();
