// Main: which part of the table is shown, by what stands behind the # of the address.
"use strict";

(() => {
  const Table = window.Table;
  const main = Table.byId("main");
  const PARTS = {
    play: [[0, Table.showStart], [1, Table.showGame]],
    record: [1, 2, 3].map((count) => [count, Table.showRecord]),
    rules: [[0, Table.showRules]],
    watch: [[0, Table.showWatchStart], [1, Table.showWatched]],
    runs: [[0, Table.showRuns]],
    run: [[1, Table.showRun]],
    league: [[1, Table.showLeague]],
    report: [[1, Table.showReport]],
    game: [[4, Table.showRunGame]],
  };
  const SECTIONS = { play: "play", record: "play", rules: "rules", watch: "watch" };
  const TITLE = "District Noir Arena";
  let close = null;
  let shown = 0;

  function find() {
    const [part, ...words] = window.location.hash.replace(/^#\/?/, "").split("/").map(decode);
    const found = (PARTS[part] || []).find(([count]) => count === words.length);
    return found ? { part, words, show: found[1] } : { part: "play", words: [], show: Table.showStart };
  }

  function decode(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return "";
    }
  }

  async function route() {
    if (window.location.hash === "#main") return;
    const number = shown += 1;
    if (close) close();
    close = null;
    document.title = TITLE;
    Table.say("");
    const { part, words, show } = find();
    const section = SECTIONS[part] || "runs";
    for (const link of document.querySelectorAll("nav a")) {
      if (link.hash === `#/${section}`) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    const place = document.createElement("div");
    main.className = part;
    main.replaceChildren(place);
    const ended = await Table.attempt(() => show(place, ...words));
    if (number !== shown) {
      if (ended) ended();
      return;
    }
    close = ended || null;
    const title = { runs: "Runs", play: "Play" }[part];
    const heading = (!words.length && title) || place.querySelector("h1")?.textContent; // none yet for a game: its news have the title
    if (heading) document.title = `${heading} \u2013 ${TITLE}`;
  }

  window.addEventListener("hashchange", () => {
    route();
    main.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  });
  route();
})();
