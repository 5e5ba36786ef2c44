// Viewer: a whole game, to be stepped through with keys, buttons, a slider and a list of actions; its settings
// (who looks, what the cards are called), and below it a bot's evidence, changed rules, the record and the keys.
"use strict";

(() => {
  const Arena = window.Arena;
  const { make } = Arena;
  const NAMINGS = [["english", "English"], ["german", "Deutsch"], ["deck", "Standard deck"]];
  const KEYS = "Keys: left and right for a ply, Page Up and Page Down or the number of a round, Home and End, " +
    "space to play";
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

  const fold = (title, ...content) => make("details", "panel", "", make("summary", "", title), ...content);

  // The old way works on every page: one that plain HTTP has brought, or in a frame, has no clipboard.
  function copy(area, said) {
    area.closest("details").open = true;
    area.select();
    said.textContent = document.execCommand("copy") ? "Copied." : "Not allowed here: copy the text by hand.";
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
    const details = fold("Record", make("p", "note", "One line for arena view - and arena replay -."), area);
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

  // Whether a control of the page has its own use for a key.
  function isForControl({ tagName, type }, key) {
    if (type === "radio") return key === " " || key.startsWith("Arrow");
    if (tagName === "BUTTON" || tagName === "SUMMARY") return key === " ";
    return tagName === "SELECT" || tagName === "TEXTAREA";
  }

  class Viewer {
    constructor(element, timeline, { names = "english", page = false, onAction = null } = {}) {
      this.element = element;
      this.timeline = timeline;
      this.players = timeline.players;
      this.last = timeline.frames.length - 1;
      this.names = names;
      this.perspective = timeline.seat === null ? "referee" : timeline.seat;
      this.onAction = onAction;
      this.page = page && window === window.parent;
      this.ply = this.page ? this.readFragment() : 0;
      this.ending = new AbortController();
      if (element.arenaViewer) element.arenaViewer.end();
      element.arenaViewer = this;
      this.build();
      this.listen(page);
      this.showAll();
    }

    build() {
      this.transport = new Arena.Transport(this);
      this.parts = {
        status: make("p", "status"), board: make("div"), unseen: make("section", "panel"),
        judged: make("section", "panel"), thoughts: make("section", "panel"), actions: make("div", "actions"),
      };
      this.parts.status.setAttribute("role", "status");
      const { status, board, unseen, judged, thoughts, actions } = this.parts;
      const panels = make("div", "panels", "", judged, unseen, thoughts);
      const heading = make("h2", "", "Actions");
      const legend = make("p", "note legend", "Line above: ", Arena.makeLabel(this.players[0]), "; line below: ",
        Arena.makeLabel(this.players[1]));
      this.found = make("p", "note found");
      const list = make("section", "panel action-panel", "", heading, legend, this.found, actions);
      this.removed = make("p", "note");
      const head = make("div", "head", "", buildSettings(this));
      const notes = make("div", "notes", "", this.removed, ...buildNotes(this.timeline));
      this.element.classList.add("arena-viewer");
      this.element.replaceChildren(make("div", "viewer-grid", "", head, status, board, panels, list, notes,
        this.transport.element));
    }

    listen(page) {
      const until = { signal: this.ending.signal };
      const place = page ? document : this.element.closest("dialog") || this.element;
      place.addEventListener("keydown", (event) => this.press(event), until);
      if (this.page) window.addEventListener("hashchange", () => this.jump(this.readFragment()), until);
    }

    // Stop, before another game is shown in this element.
    end() {
      this.transport.stop();
      this.ending.abort();
    }

    press(event) {
      if (event.altKey || event.ctrlKey || event.metaKey || (event.shiftKey && event.key !== "M")) return;
      if (isForControl(event.target, event.key)) return;
      const act = this.actOf(event.key);
      if (!act) return;
      event.preventDefault();
      act();
    }

    actOf(key) {
      const { rounds, round_plies: plies } = this.timeline.rules;
      if (/^[1-9]$/.test(key) && Number(key) <= rounds) return () => this.jump((Number(key) - 1) * plies);
      return {
        ArrowLeft: () => this.jump(this.ply - 1), ArrowRight: () => this.jump(this.ply + 1),
        PageUp: () => this.jumpRound(-1), PageDown: () => this.jumpRound(1),
        Home: () => this.jump(0), End: () => this.jump(this.last), " ": () => this.transport.toggle(),
        m: () => this.jumpBlunder(1), M: () => this.jumpBlunder(-1),
      }[key];
    }

    jump(ply) {
      this.transport.stop();
      this.show(ply);
    }

    // To the beginning of this round, or of the one before or after.
    jumpRound(step) {
      const plies = this.timeline.rules.round_plies;
      const number = step < 0 ? Math.ceil(this.ply / plies) - 1 : Math.floor(this.ply / plies) + 1;
      this.jump(number * plies);
    }

    // To the position of the next blunder, or of the one before; nowhere if there is none.
    jumpBlunder(step) {
      const plies = Arena.blunderPlies(this.timeline, this.perspective);
      const found = step < 0 ? plies.filter((ply) => ply < this.ply).pop() : plies.find((ply) => ply > this.ply);
      if (found !== undefined) this.jump(found);
    }

    show(ply) {
      this.ply = Math.min(this.last, Math.max(0, ply));
      this.showFrame();
    }

    look(perspective) {
      this.perspective = perspective;
      this.showAll();
    }

    rename(names) {
      this.names = names;
      this.showAll();
    }

    // Show another timeline of the same game at the same ply: a longer one, or one that was judged.
    update(timeline) {
      const { judge } = this.timeline;
      this.timeline = timeline;
      this.last = timeline.frames.length - 1;
      this.ply = Math.min(this.ply, this.last);
      if (timeline.judge !== judge) {
        this.transport.stop();
        this.build();
      }
      this.showAll();
    }

    // What depends on who looks and on the names, and then the position.
    showAll() {
      const { timeline, names, perspective } = this;
      Arena.drawActions(this.parts.actions, timeline, { names, perspective, onJump: (ply) => this.jump(ply) });
      this.transport.showCurve();
      this.removed.textContent = perspective === "referee" ? this.describeRemoved() : "";
      this.found.textContent = timeline.judge ? this.describeFound() : "";
      this.showFrame();
    }

    describeRemoved() {
      const { removed } = this.timeline;
      const kinds = [...removed].map((char) => Arena.kindName(char, this.names));
      return removed ? `Out of the game, unseen by both: ${kinds.join(", ")}.` : "";
    }

    describeFound() {
      const found = Arena.blunderPlies(this.timeline, this.perspective).length;
      return found ? `${Arena.plural(found, "blunder")}, marked by a corner.` : "No blunder.";
    }

    showFrame() {
      const frame = this.timeline.frames[this.ply];
      const { board, actions, status } = this.parts;
      const options = { players: this.players, rules: this.timeline.rules, names: this.names, onAction: null };
      const [winner, onAction] = this.ply === this.last ? [this.timeline.winner, this.onAction] : [null, null];
      const you = this.onAction ? this.timeline.seat : undefined;
      Arena.drawBoard(board, frame, { ...options, perspective: this.perspective, you, winner, onAction });
      this.showPanels(frame, options);
      Arena.markAction(actions, this.ply);
      status.replaceChildren(...Arena.describeFrame(this.timeline, this.ply, this.names, this.perspective));
      this.transport.showPlace(frame);
      this.uncover();
      if (this.page) this.writeFragment();
    }

    // The controls stay at the end of the window: the hand of who acts next must not lie under them.
    uncover() {
      const hand = this.parts.board.querySelector(".seat.acts .hand");
      if (!hand) return;
      const [place, controls] = [hand, this.transport.element].map((part) => part.getBoundingClientRect());
      const isSeen = this.parts.board.querySelector(".felt").getBoundingClientRect().top < controls.top;
      hand.style.scrollMarginBottom = `${controls.height}px`;
      if (isSeen && place.bottom > controls.top && place.top < window.innerHeight) hand.scrollIntoView({ block: "nearest" });
    }

    showPanels(frame, options) {
      const { unseen, judged, thoughts } = this.parts;
      const seat = this.perspective;
      for (const panel of [unseen, judged, thoughts]) panel.replaceChildren();
      if (seat !== "referee") Arena.drawUnseen(unseen, frame, { ...options, seat });
      if (Arena.judgedAt(this.timeline, this.ply, seat)) Arena.drawJudged(judged, this.timeline, this.ply, options);
      if (frame.thoughts && (seat === "referee" || seat === frame.turn)) Arena.drawThoughts(thoughts, frame, options);
    }

    readFragment() {
      const found = /^#ply=(\d{1,6})$/.exec(window.location.hash);
      return found ? Math.min(this.last, Number(found[1])) : this.ply || 0;
    }

    // Browsers allow only so many changes of the address, so that the last of many counts.
    writeFragment() {
      clearTimeout(this.writing);
      this.writing = setTimeout(() => window.history.replaceState(null, "", `#ply=${this.ply}`), 250);
    }
  }

  // Show a timeline in an element. With `page` the keys are those of the whole page; with `onAction` the
  // seat of the timeline plays, and it is called with the sign of an action that is clicked at the last ply.
  Arena.mountViewer = (element, timeline, options) => new Viewer(element, timeline, options);
  Object.assign(Arena, { buildChoice, makeSelect });
})();
