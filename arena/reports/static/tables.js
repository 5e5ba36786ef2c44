// Tables: rows are made as they are needed, sorted, filtered, opened and copied.
"use strict";

(() => {
  const Report = window.Report;
  const NUMBERS = new Set(["count", "number", "elo", "change", "share", "points", "chance", "seconds"]);
  const PART = 50; // rows that are made at once
  const NEAR = 400; // pixels from the end of the rows
  const LONG = 60; // characters of a text that is wrapped
  const WRAPPED = 24; // characters of a name that is one line

  function compare(one, other, sign) {
    if (one === null || other === null) return (one === null) - (other === null);
    if (typeof one === "number") return sign * (one - other);
    return sign * one.localeCompare(other, "en", { numeric: true });
  }

  // A row of the page, or one of its data that is made into one when it is shown.
  class Row {
    constructor(number, element, cells) {
      this.number = number;
      this.element = element;
      this.cells = cells;
    }

    text(column) {
      if (this.element) return this.element.cells[column].textContent.trim();
      const cell = this.cells[column];
      return typeof cell === "string" ? cell : cell[0];
    }

    exact(column) {
      if (this.element) return this.element.cells[column].dataset.v;
      const cell = this.cells[column];
      return typeof cell === "string" ? undefined : cell[1];
    }

    value(column, kind) {
      const value = this.exact(column) ?? this.text(column);
      if (!NUMBERS.has(kind)) return value;
      return value === "" ? null : Number(String(value).replaceAll(",", ""));
    }
  }

  class Sheet {
    constructor(holder) {
      this.holder = holder;
      this.table = holder.querySelector("table");
      this.region = holder.querySelector(".scroll");
      this.body = this.table.tBodies[0];
      this.heads = [...this.table.tHead.rows[0].cells];
      this.said = holder.querySelector(".said");
      const script = holder.querySelector(":scope > script");
      const { rows = [], links = [], more = [] } = script ? JSON.parse(script.textContent) : {};
      Object.assign(this, { links, more });
      const first = [...this.body.rows];
      this.rows = first.map((element, number) => new Row(number, element, null));
      this.rows.push(...rows.map((cells, index) => new Row(first.length + index, null, cells)));
      this.shown = this.rows;
      this.made = first.length;
      for (const row of this.rows.slice(0, this.made)) this.makeOpener(row);
      this.region.addEventListener("scroll", () => this.grow(), { passive: true });
      this.heads.forEach((head, column) => this.makeSortable(head, column));
      const input = holder.querySelector("input");
      input.addEventListener("input", () => this.filter(input.value));
      Report.makeCopy(holder.querySelector("[data-copy]"), this.said, () => this.toCsv());
      const widen = holder.querySelector(".widen");
      if (widen) widen.addEventListener("click", () => this.widen(widen));
      holder.querySelector(".tools").hidden = false;
    }

    // Rows

    grow() {
      const { scrollTop, clientHeight, scrollHeight } = this.region;
      if (scrollTop + clientHeight < scrollHeight - NEAR) return;
      const next = this.shown.slice(this.made, this.made + PART);
      this.body.append(...next.map((row) => this.elementOf(row)));
      this.made += next.length;
    }

    // Begin the rows anew: in another order, or with other ones.
    restart() {
      this.made = Math.min(PART, this.shown.length);
      this.body.replaceChildren(...this.shown.slice(0, this.made).map((row) => this.elementOf(row)));
      this.region.scrollTop = 0;
    }

    elementOf(row) {
      if (!row.element) {
        const element = document.createElement("tr");
        this.heads.forEach((head, column) => element.append(this.makeCell(row, head, column)));
        row.element = element;
        this.makeOpener(row);
      }
      return row.element;
    }

    makeCell(row, head, column) {
      const { kind } = head.dataset;
      const isKey = head.classList.contains("key");
      const cell = document.createElement(isKey ? "th" : "td");
      const [text, exact] = [row.text(column), row.exact(column)];
      if (isKey) cell.scope = "row";
      else if (kind === "text") cell.classList.add(text.length > LONG ? "prose" : "words");
      else if (kind === "code" && text) cell.className = "mono";
      if (head.classList.contains("extra")) cell.classList.add("extra");
      const whole = exact ?? text; // a label may be shown by a short name
      if (kind === "text" && WRAPPED < whole.length && whole.length <= LONG) cell.title = whole;
      if (exact !== undefined) cell.dataset.v = exact;
      cell.append(this.makeContent(row, kind, isKey, text));
      return cell;
    }

    makeContent(row, kind, isKey, text) {
      const link = isKey && this.links[row.number];
      if (!link && !(kind === "code" && text)) return text;
      const element = document.createElement(link ? "a" : "code");
      if (link) element.href = link;
      element.textContent = text;
      return element;
    }

    // What a row opens to

    makeOpener(row) {
      if (!this.more[row.number]) return;
      const cell = row.element.querySelector("th");
      const button = document.createElement("button");
      button.type = "button";
      button.className = "opener";
      button.setAttribute("aria-expanded", "false");
      button.setAttribute("aria-label", `More of ${cell.textContent.trim()}`);
      button.addEventListener("click", () => this.open(row, button));
      cell.prepend(button);
    }

    open(row, button) {
      const isOpen = button.getAttribute("aria-expanded") === "true";
      button.setAttribute("aria-expanded", String(!isOpen));
      if (isOpen) {
        row.element.nextElementSibling.remove();
        return;
      }
      const element = document.createElement("tr");
      const cell = document.createElement("td");
      element.className = "more";
      cell.colSpan = this.heads.length;
      for (const text of this.more[row.number].split("\n")) {
        const line = document.createElement("p");
        line.textContent = text;
        cell.append(line);
      }
      element.append(cell);
      row.element.after(element);
    }

    closeAll() {
      for (const button of this.body.querySelectorAll(".opener")) button.setAttribute("aria-expanded", "false");
    }

    // Order, choice and copy

    makeSortable(head, column) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      const first = NUMBERS.has(head.dataset.kind) ? "descending" : "ascending";
      const second = first === "ascending" ? "descending" : "ascending";
      button.addEventListener("click", () => {
        this.sort(head, column, head.getAttribute("aria-sort") === first ? second : first);
      });
    }

    sort(head, column, order) {
      const sign = order === "ascending" ? 1 : -1;
      const values = new Map(this.rows.map((row) => [row, row.value(column, head.dataset.kind)]));
      const by = (one, other) => compare(values.get(one), values.get(other), sign);
      this.rows = [...this.rows].sort(by);
      const shown = new Set(this.shown);
      this.shown = this.rows.filter((row) => shown.has(row));
      for (const other of this.heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", order);
      this.closeAll();
      this.restart();
    }

    filter(wanted) {
      const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
      const matches = (row) => {
        const text = this.heads.flatMap((head, column) =>
          [row.text(column), NUMBERS.has(head.dataset.kind) ? "" : row.value(column)]).join(" ").toLowerCase();
        return words.every((word) => text.includes(word));
      };
      this.shown = words.length ? this.rows.filter(matches) : this.rows;
      this.said.textContent = words.length ? `${this.shown.length} of ${this.rows.length} rows` : "";
      this.closeAll();
      this.restart();
    }

    toCsv() {
      const line = (row) => this.heads.map((head, column) => row.value(column, head.dataset.kind));
      return Report.toCsv([this.heads.map((head) => head.dataset.name), ...this.shown.map(line)]);
    }

    widen(button) {
      const isWide = this.table.classList.toggle("wide");
      button.setAttribute("aria-pressed", String(isWide));
    }
  }

  // A folded table is made ready when it is unfolded.
  for (const holder of document.querySelectorAll("div.sheet")) {
    const fold = holder.closest("details");
    if (fold) fold.addEventListener("toggle", () => new Sheet(holder), { once: true });
    else new Sheet(holder);
  }
})();
