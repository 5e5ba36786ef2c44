// Copying: text to the clipboard, and rows as CSV.
"use strict";
window.Report = {};

(() => {
  // As arena.store.csv_files does: no spreadsheet makes a formula of a text after an apostrophe.
  function guard(text) {
    return /^'*[ \t\r\n=+\-@＝＋－＠]/.test(text) ? `'${text}` : text;
  }

  function quote(text) {
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  // Lines of values, the first one of names.
  function toCsv(lines) {
    const write = (value) => quote(typeof value === "string" ? guard(value) : String(value ?? ""));
    return lines.map((line) => `${line.map(write).join(",")}\n`).join("");
  }

  // A page that was opened from a file may have no clipboard: then the text is selected and copied.
  function copyBySelection(text) {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "unseen";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return copyBySelection(text);
    }
  }

  function makeCopy(button, said, read) {
    button.addEventListener("click", async () => {
      said.textContent = (await copy(read())) ? "Copied" : "The browser does not allow copying";
      button.focus();
    });
  }

  Object.assign(window.Report, { makeCopy, toCsv });
})();
