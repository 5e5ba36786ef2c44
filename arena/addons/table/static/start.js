// Start: the page on which a game is begun: how strong the bot is, and the games so far.
"use strict";

(() => {
  const Arena = window.Arena;
  const Table = window.Table;
  const { ask, attempt, make, makeButton, makeField, makeLink, makeName, makeSelect, makeTable } = Table;
  const UNCOUNTED = "Not counted: games with a take back, games that you left, and a deal that you had played before.";
  const PHASES = {
    begins: "begins", bot: "the bot thinks", yours: "your turn", playing: "under way",
    ended: "ended", left: "left unfinished", failed: "failed",
  };

  // ---- The page on which a game is begun.

  async function showStart(main) {
    const home = await ask("api/home");
    const own = await ask("api/records");
    const games = make("div", "games");
    for (const problem of home.problems) games.append(make("p", "warning", problem));
    if (home.interrupted.length) games.append(make("h2", "", "Interrupted games"), listInterrupted(home.interrupted));
    if (home.open.length) games.append(make("h2", "", "Games at this table"), listOpen(home.open));
    games.append(make("h2", "", "Your record"), ...makeTallies(own.strengths), make("p", "", own.rating));
    games.append(make("h2", "", "Your games"), listRecords(own.records));
    const lead = make("p", "", "If you have never seen the game, read ", makeLink("the rules", "rules"),
      " first, or open them beside the board.");
    main.append(make("h1", "", "Choose how strong the bot is, and play."), lead, make("div", "start", "", makeForm(home, own), games));
  }

  function makeForm(home, own) {
    const form = make("form", "begin");
    const bot = makeOpponent(home.bots, own);
    const begins = makeSelect([["lot", "chosen by lot"], ["me", "you"], ["bot", "the bot"]], "lot");
    const names = makeSelect(Arena.NAMINGS, "english");
    const start = make("button", "main-button", "Play");
    form.append(...bot.elements, makeField("Who begins", begins), makeField("Cards", names), start);
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

  // One of the strengths; or, folded away, any other bot.
  function makeOpponent(bots, own) {
    const choices = own.strengths.map(({ strength }) => makeStrength(strength, strength.number === own.suggested));
    const strengths = make("fieldset", "strengths", "", make("legend", "", "How strong the bot is"), ...choices,
      make("p", "about", "Elo measures strength: who has 200 points more wins about three games of four."));
    const other = Table.makeBotField("Bot", bots, "grandmaster");
    const [choice, input] = makeChoice("", false, "this bot");
    other.element.addEventListener("input", () => { input.checked = true; });
    const folded = make("details", "expert", "", make("summary", "", "Another bot: by its name, a file or a spec"), choice, other.element);
    const read = () => document.querySelector("input[name=strength]:checked").value || other.read();
    return { elements: [strengths, folded], read };
  }

  function makeStrength({ number, words, bot, elo }, chosen) {
    const [choice] = makeChoice(bot, chosen, `${number} ${words}`);
    choice.append(make("span", "soft", `Elo ${elo}`));
    return choice;
  }

  function makeChoice(value, chosen, text) {
    const input = make("input");
    Object.assign(input, { type: "radio", name: "strength", value, checked: chosen });
    return [make("label", "choice", "", input, make("span", "", text)), input];
  }

  // The strengths that somebody has played, and only what has happened against them.
  function makeTallies(tallies) {
    const kinds = [["won", "won"], ["drawn", "drawn"], ["lost", "lost"], ["uncounted", "not counted"]];
    const shown = kinds.filter(([key]) => tallies.some((tally) => tally[key]));
    const played = tallies.filter((tally) => shown.some(([key]) => tally[key]));
    if (!played.length) return [];
    const rows = played.map((tally) => [`${tally.strength.number} ${tally.strength.words}`, ...shown.map(([key]) => tally[key])]);
    const table = makeTable("Your games against each strength", ["strength", ...shown.map(([, head]) => head)], rows);
    return tallies.some((tally) => tally.uncounted) ? [table, make("p", "about", UNCOUNTED)] : [table];
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
    if (!records.length) return make("p", "soft", "", "None yet. Games played with ", make("code", "", "arena human"), " are here, too.");
    const rows = records.map((game) => [
      makeLink(`${game.line}`, "record", game.line), makeName(game.players.join(" \u2013 ")),
      writeEnding(game), `${game.points[0]} : ${game.points[1]}`, game.plies,
    ]);
    return makeTable("Recorded games, the latest first", ["line", "seat 0 \u2013 seat 1", "winner", "points", "plies"], rows);
  }

  function writeEnding({ winner, win_type: way, taken_back: undone }) {
    const ending = winner === null ? make("span", "", way) : makeName(`${winner}, ${way}`);
    return undone ? make("span", "", "", ending, " (with take back)") : ending;
  }

  Object.assign(Table, { showStart });
})();
