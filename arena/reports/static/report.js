// The page of a report: tables are sorted, filtered and copied, replays open.
"use strict";

(() => {
  const NUMBERS = new Set(["count", "number", "elo", "change", "share", "points", "chance", "p", "seconds"]);

  // As arena.store.csv_files does: no spreadsheet makes a formula of a text after an apostrophe.
  function quote(value, isNumber) {
    const text = !isNumber && /^'*[ \t\r\n=+\-@＝＋－＠]/.test(value) ? `'${value}` : value;
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  // The old way works on every page: one that plain HTTP has brought has no clipboard.
  function makeCopy(button, said, read) {
    button.addEventListener("click", () => {
      const area = document.createElement("textarea");
      Object.assign(area, { value: read(), className: "unseen" });
      document.body.append(area);
      area.select();
      said.textContent = document.execCommand("copy") ? "Copied" : "The browser does not allow copying";
      area.remove();
      button.focus();
    });
  }

  // Tables

  function makeSheet(sheet) {
    const { tHead, tBodies: [body] } = sheet.querySelector("table");
    const heads = [...tHead.rows[0].cells];
    const rows = [...body.rows];
    const said = sheet.querySelector(".said");
    const isNumber = heads.map((head) => NUMBERS.has(head.dataset.kind));
    const read = (row, column) => {
      const text = row.cells[column].dataset.v ?? row.cells[column].textContent.trim();
      return isNumber[column] ? text.replaceAll(",", "") : text;
    };

    function sort(column, order) {
      const sign = order === "ascending" ? 1 : -1;
      const compare = (one, other) => {
        const [a, b] = [read(one, column), read(other, column)];
        if (!a || !b) return !a - !b;
        return sign * (isNumber[column] ? a - b : a.localeCompare(b, "en", { numeric: true }));
      };
      for (const head of heads) head.removeAttribute("aria-sort");
      heads[column].setAttribute("aria-sort", order);
      body.append(...rows.sort(compare));
    }

    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      const orders = ["ascending", "descending"];
      if (isNumber[column]) orders.reverse();
      button.addEventListener("click", () => {
        sort(column, orders[Number(head.getAttribute("aria-sort") === orders[0])]);
      });
    });

    const input = sheet.querySelector("input");
    input?.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of rows) {
        const shown = [...row.cells].map((cell) => cell.textContent);
        const wholes = heads.map((_, column) => (isNumber[column] ? "" : read(row, column)));
        const text = [...shown, ...wholes].join(" ");
        row.hidden = !words.every((word) => text.toLowerCase().includes(word));
      }
      const left = rows.filter((row) => !row.hidden).length;
      said.textContent = words.length ? `${left} of ${rows.length} rows` : "";
    });

    const button = sheet.querySelector(".tools button");
    makeCopy(button, said, () => {
      const lines = [heads.map((head) => head.dataset.name)];
      for (const row of rows.filter((one) => !one.hidden)) {
        lines.push(heads.map((_, column) => quote(read(row, column), isNumber[column])));
      }
      return lines.map((line) => `${line.join(",")}\n`).join("");
    });
    for (const part of [button, input?.parentElement]) part?.removeAttribute("hidden");
  }

  document.querySelectorAll("div.sheet").forEach(makeSheet);

  for (const code of document.querySelectorAll("details.listing")) {
    const [button, said] = code.querySelectorAll("button, .said");
    button.hidden = false;
    makeCopy(button, said, () => code.querySelector("pre").textContent);
  }

  // A link opens what is folded.
  function unfold() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const fold = target && target.closest("details");
    if (!fold) return;
    fold.open = true;
    target.scrollIntoView();
  }

  window.addEventListener("hashchange", unfold);
  unfold();

  // Replays

  const dialog = document.getElementById("replay");
  if (!dialog) return;
  const replays = JSON.parse(document.getElementById("replays").textContent);

  function openReplay(id) {
    if (!Object.hasOwn(replays, id)) return false;
    const timeline = replays[id];
    document.getElementById("replay-title").textContent = timeline.title;
    const place = dialog.querySelector(".viewer");
    place.replaceChildren();
    dialog.showModal();
    window.Arena.mountViewer(place, timeline, {});
    return true;
  }

  dialog.querySelector(".close").addEventListener("click", () => dialog.close());
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link && openReplay(link.getAttribute("href").slice(1))) event.preventDefault();
  });
  openReplay(location.hash.slice(1)); // the page was opened by a link to a replay
})();
