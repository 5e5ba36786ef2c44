// Notes: what stands below a game: a bot's evidence, changed rules, the record, and the keys.
"use strict";

(() => {
  const Arena = window.Arena;
  const { make } = Arena;
  const KEYS = "Keys: left and right for a ply, Page Up and Page Down or the number of a round, Home and End, " +
    "space to play";

  const fold = (title, ...content) => make("details", "panel", "", make("summary", "", title), ...content);

  // A page in a frame may not use the clipboard: then the old way is tried on the text itself.
  async function copy(area, said) {
    try {
      await navigator.clipboard.writeText(area.value);
      said.textContent = "Copied.";
    } catch {
      area.select();
      said.textContent = document.execCommand("copy") ? "Copied." : "Not allowed here: copy the text by hand.";
    }
  }

  function buildRecord(record) {
    const area = make("textarea");
    area.readOnly = true;
    area.rows = 4;
    area.value = record;
    area.setAttribute("aria-label", "The game as a record");
    const said = make("span", "note");
    said.setAttribute("aria-live", "polite");
    const button = make("button", "copy", "Copy the record");
    button.type = "button";
    button.addEventListener("click", () => copy(area, said));
    const details = fold("Record", make("p", "note", "One line for arena show, arena analyse and arena view."), area);
    return [make("div", "copying", "", button, said), details];
  }

  function buildNotes({ evidence, rules, record, judge }) {
    const notes = [];
    if (evidence) notes.push(fold("Evidence of the fault", make("pre", "", evidence)));
    const changes = Object.entries(rules.changes || {}).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
    if (changes.length) notes.push(fold("Changed rules", make("pre", "", changes.join("\n"))));
    if (record) notes.push(...buildRecord(record));
    notes.push(make("p", "note keys", judge ? `${KEYS}, m and M for the next blunder and the one before.` : `${KEYS}.`));
    return notes;
  }

  Object.assign(Arena, { buildNotes });
})();
