// Page: what every part of the table needs: elements, requests, and news from the server.
"use strict";
window.Table = {};

(() => {
  const Table = window.Table;
  const { make, makeSelect } = window.Arena;
  const ENDED = "This page is no longer let in. Open the last address that `arena table` has printed.";
  const SILENT = "The server does not answer: has `arena table` ended?";

  const byId = (id) => document.getElementById(id);

  // Say something to those who listen and do not look; only what differs is read again.
  function say(text) {
    const place = byId("said");
    place.textContent = place.textContent === text ? `${text}\u00a0` : text;
  }

  function complain(text) {
    const place = byId("complaint");
    place.textContent = text;
    place.hidden = !text;
  }

  // Ask the server; with a body it is asked to do something.
  async function ask(path, body) {
    const options = body === undefined ? {} : {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
    };
    let answer;
    try {
      answer = await fetch(path, options);
    } catch {
      throw new Error(SILENT);
    }
    if (answer.status === 403) throw new Error(ENDED);
    const data = await answer.json();
    if (!answer.ok) throw new Error(data.error);
    return data;
  }

  // Do something that may fail, and say why it did.
  async function attempt(action) {
    complain("");
    try {
      return await action();
    } catch (error) {
      complain(error.message);
      return undefined;
    }
  }

  // Ask for something that takes seconds: the button says so until it is there, and keeps the focus.
  async function askFor(button, waiting, path, body) {
    if (button.getAttribute("aria-disabled") === "true") return undefined;
    const text = button.textContent;
    button.setAttribute("aria-disabled", "true");
    button.textContent = waiting;
    say(waiting);
    const found = await attempt(() => ask(path, body));
    button.removeAttribute("aria-disabled");
    button.textContent = text;
    return found;
  }

  // Listen to news until they are over. A page that nobody sees gives its connection back: a
  // browser has only six of them for all tabs. Returns what ends it.
  function listen(path, onNews) {
    let source = null;
    let over = false;
    const close = () => {
      if (source) source.close();
      source = null;
    };
    const open = () => {
      if (source || over || document.hidden) return;
      source = new EventSource(path);
      source.onmessage = (event) => {
        const news = JSON.parse(event.data);
        over = news.over;
        if (over) close();
        onNews(news);
      };
      source.onerror = () => {
        if (source) complain(source.readyState === EventSource.CLOSED ? ENDED : SILENT);
      };
      source.onopen = () => {
        if (byId("complaint").textContent === SILENT) complain("");
      };
    };
    const look = () => (document.hidden ? close() : open());
    document.addEventListener("visibilitychange", look);
    open();
    return () => {
      over = true;
      document.removeEventListener("visibilitychange", look);
      close();
    };
  }

  // The frames of news: the server sends each of them once.
  function addFrames(frames, news) {
    frames.length = Math.min(frames.length, news.from);
    frames.push(...news.frames);
  }

  function makeButton(text, onClick, className = "plain") {
    const button = make("button", className, text);
    button.type = "button";
    button.addEventListener("click", onClick);
    return button;
  }

  function makeLink(text, ...parts) {
    const link = make("a", "", text);
    link.href = addressOf(...parts);
    return link;
  }

  const addressOf = (...parts) => `#/${parts.map(encodeURIComponent).join("/")}`;

  const makeField = (text, ...inputs) => make("label", "field", "", make("span", "field-name", text), ...inputs);

  // A table; a cell is a text, a number or an element, and numbers stand to the right.
  function makeTable(caption, heads, rows) {
    const table = make("table", "facts");
    const line = make("tr");
    heads.forEach((head, column) => {
      const cell = make("th", rows.length && isNumber(rows[0][column]) ? "number" : "", head);
      cell.scope = "col";
      line.append(cell);
    });
    const body = make("tbody");
    for (const row of rows) {
      body.append(make("tr", "", "", ...row.map(makeCell)));
    }
    table.append(make("caption", "", caption), make("thead", "", "", line), body);
    const box = make("div", "facts-box", "", table);
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", caption);
    return box;
  }

  const isNumber = (content) => typeof content === "number" || /^[−-]?[\d.,]+\u2009?%?$/.test(content);

  function makeCell(content) {
    if (content instanceof Node) return make("td", "", "", content);
    return make("td", isNumber(content) ? "number" : "", `${content}`);
  }

  // A label of a bot is input: it is shown as text, and its direction stays its own.
  const makeName = (text) => make("bdi", "label", text);

  // What a person writes for a bot: one of those that have a name, or a file.
  function makeBotField(text, bots, chosen) {
    const values = bots.map((bot) => [bot.name, bot.elo ? `${bot.name} (Elo ${bot.elo})` : bot.name]);
    const select = makeSelect([...values, ["", "another: a file or a spec"]], chosen);
    const about = make("p", "about");
    const other = make("input");
    Object.assign(other, { type: "text", spellcheck: false, autocomplete: "off", placeholder: "./my_bot.py", maxLength: 4000 });
    other.setAttribute("aria-label", `${text}: a file or a spec`);
    const show = () => {
      other.hidden = select.value !== "";
      const bot = bots.find((one) => one.name === select.value);
      about.textContent = bot ? bot.description : "A path such as ./my_bot.py, or a name with parameters.";
    };
    select.addEventListener("change", show);
    show();
    const element = make("div", "bot-field", "", makeField(text, select), other, about);
    return { element, read: () => select.value || other.value.trim() };
  }

  Object.assign(Table, {
    addFrames, addressOf, ask, askFor, attempt, byId, complain, listen, make, makeBotField, makeButton,
    makeField, makeLink, makeName, makeSelect, makeTable, say,
  });
})();
