// Settings: who looks, what the cards are called, how fast the game plays.
"use strict";

(() => {
  const Arena = window.Arena;
  const { make } = Arena;
  const NAMINGS = [["english", "English"], ["german", "Deutsch"], ["deck", "Standard deck"]];
  let groups = 0;

  // A choice of values, each with its text.
  function makeSelect(values, chosen) {
    const select = make("select");
    for (const [value, text] of values) {
      const option = make("option", "", text);
      option.value = value;
      option.selected = value === chosen;
      select.append(option);
    }
    return select;
  }

  // The same with its label; `choose` is called with the value.
  function buildChoice(label, values, chosen, choose) {
    const select = makeSelect(values, chosen);
    select.addEventListener("change", () => choose(select.value));
    return make("label", "choice", label, select);
  }

  function describeSeat({ players, seat }) {
    return make("p", "only-seat", "What ", ...Arena.nameParts(players, seat), " knew, and nothing else.");
  }

  function buildSwitch({ players }, perspective, choose) {
    const field = make("fieldset", "switch", "", make("legend", "", "Who looks"));
    const group = `who-looks-${groups += 1}`;
    for (const value of ["referee", 0, 1]) {
      const input = make("input");
      input.type = "radio";
      input.name = group;
      input.value = `${value}`;
      input.checked = value === perspective;
      input.addEventListener("change", () => choose(value));
      const text = value === "referee" ? ["Referee"] : Arena.nameParts(players, value);
      field.append(make("label", "", "", input, make("span", "", "", ...text)));
    }
    return field;
  }

  function buildSettings(viewer) {
    const { timeline } = viewer;
    let who = make("span"); // a person who plays knows what is seen
    if (timeline.seat === null) who = buildSwitch(timeline, viewer.perspective, (value) => viewer.look(value));
    else if (!viewer.onAction) who = describeSeat(timeline);
    const names = buildChoice("Cards ", NAMINGS, viewer.names, (value) => viewer.rename(value));
    return make("div", "settings", "", who, make("div", "choices", "", names, viewer.transport.buildPace()));
  }

  Object.assign(Arena, { NAMINGS, buildChoice, buildSettings, makeSelect });
})();
