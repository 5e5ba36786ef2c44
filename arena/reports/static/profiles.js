// The profiles of bots: the data have every text, and one bot or two are shown when they are chosen.
"use strict";

(() => {
  const FRAGMENT = /^#profile-(\d+)(?:-(\d+))?$/;

  function make(tag, content, name) {
    const made = document.createElement(tag);
    made.append(...[content ?? []].flat());
    if (name) made.className = name;
    return made;
  }

  // A value with its interval below it, as cells of a row: value, low, high.
  function withEnds([value, low, high], name) {
    const ends = low && high ? [make("span", `${low.replace(" %", "")}..${high}`, "ends")] : [];
    return make("td", [make("span", value, name), ...ends]);
  }

  // A picture of a difference: a line from end to end, a point, and where 0 is.
  function drawDifference([value, low, high], most, isSure) {
    const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    picture.setAttribute("viewBox", "-52 -6 104 12");
    picture.setAttribute("aria-hidden", "true");
    const place = (text) => (50 * Number(text)) / most;
    const draw = (tag, attributes, name) => {
      const part = document.createElementNS(picture.namespaceURI, tag);
      for (const [key, one] of Object.entries(attributes)) part.setAttribute(key, one);
      part.setAttribute("class", name);
      picture.append(part);
    };
    draw("line", { x1: 0, x2: 0, y1: -6, y2: 6 }, "zero");
    draw("line", { x1: place(low), x2: place(high), y1: 0, y2: 0 }, "between");
    draw("circle", { cx: place(value), cy: 0, r: 3.2 }, isSure ? "point" : "point open");
    return picture;
  }

  // A head is a text, and the class of its cell.
  function makeTable(title, heads, rows, notes) {
    const part = make("div", make("h4", title), "part");
    const head = make("tr", heads.map(([text, name]) => make(text ? "th" : "td", text, name)));
    for (const cell of head.querySelectorAll("th")) cell.scope = "col";
    for (const row of rows) row.cells[0].scope = "row";
    const table = make("table", [make("thead", head), make("tbody", rows)]);
    table.setAttribute("aria-label", title);
    part.append(table, ...notes.filter(Boolean).map((note) => make("p", note, "note")));
    return part;
  }

  function inThrees(texts) {
    return texts.flatMap((_, at) => (at % 3 ? [] : [texts.slice(at, at + 3)]));
  }

  function mount(holder) {
    const data = JSON.parse(holder.querySelector("script").textContent);
    const article = holder.querySelector("article");
    const chooser = holder.querySelector(".chooser");
    const [first, second] = chooser.querySelectorAll("select");
    const said = chooser.querySelector(".said");

    // The texts of some cells, each a number in so many digits.
    function read(cells) {
      const texts = [];
      for (let at = 0; at < cells.length; at += data.width) {
        let number = 0;
        for (const digit of cells.slice(at, at + data.width)) {
          number = number * data.digits.length + data.digits.indexOf(digit);
        }
        texts.push(data.texts[number]);
      }
      return texts;
    }

    function nameOf(place) {
      const name = make(place < data.profiles ? "a" : "span", data.short[place], "name");
      name.title = data.names[place];
      if (place < data.profiles) name.href = `#profile-${place + 1}`;
      return name;
    }

    // The head of a bot's column.
    function headOf(place) {
      const at = data.short[place].indexOf("(") + 1;
      const parts = [data.short[place].slice(0, at), make("wbr"), data.short[place].slice(at)];
      const name = make("span", parts, "name");
      name.title = data.names[place];
      return [name, "bot"];
    }

    // The tables of measures; `rows` are the cells of all measures, in the order of the groups.
    function groupParts(rows, heads) {
      const parts = [];
      for (const group of data.groups) {
        const own = rows.splice(0, group.rows.length);
        const made = own.flatMap((cells, n) =>
          (cells ? [make("tr", [make("th", group.rows[n]), ...cells])] : []));
        if (made.length) parts.push(makeTable(group.title, heads(group), made, [group.note]));
      }
      return parts;
    }

    function listPart(title, heads, rows, toCells, note) {
      if (!rows.length) return [];
      const made = rows.map(([place, cells]) =>
        make("tr", [make("th", nameOf(place)), ...toCells(read(cells))]));
      return [makeTable(title, heads, made, [note])];
    }

    function gamesPart(place) {
      const items = data.games[place].flatMap((id) => {
        const item = document.getElementById(id);
        if (!item) return [];
        const link = make("a", item.querySelector("a").textContent);
        link.href = `#${id}`;
        return [make("li", [link, make("p", item.querySelector("p").textContent)])];
      });
      items.push(...data.named[place].map((text) => make("li", text)));
      return items.length ? [make("div", [make("h4", "Games to look at"), make("ul", items)], "part")] : [];
    }

    function one(place) {
      const rows = inThrees(read(data.own[place])).map((own) => own[0] && [withEnds(own)]);
      return [
        make("h3", data.names[place]),
        make("p", data.summaries[place]),
        make("div", [
          ...groupParts(rows, (group) => [[""], [group.head]]),
          ...listPart("Beyond its Elo", [["Against"], ["Score", "few"], ["By Elo", "few"], ["Points beyond", "wide"]],
            data.beyond[place], ([score, byElo, beyond, verdict]) => [
              make("td", score),
              make("td", byElo),
              make("td", [beyond, make("span", verdict, "ends words")]),
            ], "Where it scores most and least beyond what the ratings say, in percentage points."),
          ...listPart("What a decision gives away", [["Against"], ["Loss", "wide"], ["Decisions", "some"]], data.losses[place],
            ([loss, low, high, number]) => [withEnds([loss, low, high]), make("td", number)], data.notes.losses),
          ...gamesPart(place),
        ], "parts"),
      ];
    }

    function directPart(places, cells) {
      const [games, ...texts] = read(cells);
      const half = texts.length / 2;
      const [own, other] = [texts.slice(0, half), texts.slice(half)];
      const rows = data.directs.map((title, n) => {
        const two = [own, other].map((side) =>
          (n ? make("td", side[n + 2]) : withEnds(side.slice(0, 3))));
        return make("tr", [make("th", title), ...two]);
      }).filter((row) => [...row.cells].slice(1).some((cell) => !["", "0"].includes(cell.textContent)));
      const heads = [[""], ...places.map(headOf)];
      const note = "These games are left out of the other tables, but for what cards are worth.";
      const part = makeTable(`Against each other: ${games}`, heads, rows, [note]);
      part.classList.add("direct");
      return part;
    }

    // Both values of each measure, the difference and its ends; cards have the values of profiles.
    function measured(place, other, texts) {
      const own = [place, other].map((one) => inThrees(read(data.own[one])).map(([value]) => value));
      const groups = data.groups.flatMap((group) => group.rows.map(() => group));
      return groups.map((group, n) => {
        const values = group.name === "cards" ? own.map((side) => side[n]) : texts.splice(0, 2);
        return [...values, ...texts.splice(0, 3)];
      });
    }

    function two(place, other) {
      const [cells, marks, direct] = data.beside[place][other - place - 1];
      const names = [data.names[place], data.names[other]];
      const [opponents, sure, ...texts] = read(cells);
      const all = measured(place, other, texts);
      const scales = data.groups.flatMap((group) => group.units.map((unit) => `${group.name} ${unit}`));
      const most = {};
      all.forEach(([, , , ...ends], n) => {
        most[scales[n]] = Math.max(most[scales[n]] ?? 0, ...ends.map((end) => Math.abs(Number(end))));
      });
      const rows = all.map(([own, others, ...difference], n) => {
        if (!own && !others) return null;
        const isSure = marks[n] === "+";
        const found = withEnds(difference, isSure ? "sure" : "");
        if (marks[n] !== "-") found.append(make("span", data.verdicts[marks[n]], "verdict"));
        const isKnown = difference.every(Boolean) && most[scales[n]];
        const picture = isKnown ? drawDifference(difference, most[scales[n]], isSure) : "";
        return [make("td", own), make("td", others), found, make("td", picture, "picture")];
      });
      const parts = groupParts(rows, () => [[""], ...[place, other].map(headOf), ["Difference", "difference"], ["", "picture"]]);
      if (direct) parts.push(directPart([place, other], direct));
      return [
        make("h3", [make("bdi", names[0]), " and ", make("bdi", names[1])]),
        make("p", [
          `${opponents}. A difference is `, make("bdi", names[1]), " less ", make("bdi", names[0]),
          `, of shares in percentage points, with its 95 % interval. ${sure}.`,
        ]),
        make("div", parts, "parts"),
      ];
    }

    function show(places) {
      const [place, other] = places;
      article.replaceChildren(...(other === undefined ? one(place) : two(place, other)));
      article.className = other === undefined ? "one" : "two";
      article.id = `profile-${places.map((one) => one + 1).join("-")}`;
      article.setAttribute("aria-label", article.querySelector("h3").textContent);
      article.hidden = false;
      first.value = String(place);
      second.disabled = place >= data.couples;
      second.value = other === undefined ? "" : String(other);
    }

    function choose() {
      article.hidden = first.value === "";
      if (article.hidden) {
        second.value = said.textContent = "";
        return;
      }
      const places = [Number(first.value)];
      const other = Number(second.value);
      if (second.value !== "" && places[0] < data.couples && other !== places[0]) places.push(other);
      show(places.sort((one, another) => one - another));
      said.textContent = article.getAttribute("aria-label");
      try {
        history.replaceState(null, "", `#${article.id}`);
      } catch { // a frame without an address
      }
    }

    function follow() {
      const found = FRAGMENT.exec(location.hash);
      if (!found) return;
      const places = found.slice(1).filter(Boolean).map((text) => Number(text) - 1);
      places.sort((one, another) => one - another);
      const most = places.length > 1 ? data.couples : data.profiles;
      if (places.some((place) => place < 0 || place >= most) || places[0] === places[1]) return;
      show(places);
      article.focus({ preventScroll: true });
      article.scrollIntoView();
    }

    function makeOptions(select, number, none) {
      select.append(new Option(none, ""), ...data.short.slice(0, number).map((name, n) => new Option(name, n)));
    }

    makeOptions(first, data.profiles, "choose a bot");
    makeOptions(second, data.couples, "no other bot");
    article.tabIndex = -1;
    chooser.hidden = false;
    holder.querySelector(".unscripted").remove();
    chooser.addEventListener("change", choose);
    window.addEventListener("hashchange", follow);
    follow();
  }

  for (const holder of document.querySelectorAll("div.profiles")) mount(holder);
})();
