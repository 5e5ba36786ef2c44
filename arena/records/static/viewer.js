// Viewer: a whole game, to be stepped through with keys, buttons, a slider and a list of actions.
"use strict";

(() => {
  const Arena = window.Arena;
  const { make, shape } = Arena;
  const PACE = 1200; // milliseconds a ply while the game plays
  const NAMINGS = { english: "English", german: "Deutsch", deck: "Standard deck" };
  const ICONS = {
    first: "M5 4v16M20 4 8 12l12 8Z", back: "M17 4 6 12l11 8Z", next: "M7 4l11 8-11 8Z",
    last: "M19 4v16M4 4l12 8-12 8Z", play: "M6 3l15 9-15 9Z", pause: "M6 4h4v16H6ZM14 4h4v16h-4Z",
    before: "M12 5 3 12l9 7ZM21 5l-9 7 9 7Z", after: "M12 5l9 7-9 7ZM3 5l9 7-9 7Z",
  };

  // Whether a control of the page has its own use for a key.
  function isForControl({ tagName, type }, key) {
    if (type === "radio") return key === " " || key.startsWith("Arrow");
    if (tagName === "BUTTON" || tagName === "SUMMARY") return key === " ";
    return tagName === "SELECT";
  }

  class Viewer {
    constructor(element, timeline, { names = "english", page = false } = {}) {
      this.element = element;
      this.timeline = timeline;
      this.players = timeline.players;
      this.last = timeline.frames.length - 1;
      this.names = names;
      this.perspective = timeline.seat === null ? "referee" : timeline.seat;
      this.page = page && window === window.parent;
      this.ply = this.page ? this.readFragment() : 0;
      this.timer = null;
      this.ending = new AbortController();
      if (element.arenaViewer) element.arenaViewer.end();
      element.arenaViewer = this;
      this.build();
      this.listen(page);
      this.showAll();
    }

    build() {
      this.parts = {
        status: make("p", "status"), board: make("div"), unseen: make("section", "panel"),
        thoughts: make("section", "panel"), actions: make("div", "actions"),
        swing: make("div", "swing"),
      };
      this.parts.status.setAttribute("role", "status");
      const { status, board, unseen, thoughts, actions } = this.parts;
      const panels = make("div", "panels", "", unseen, thoughts);
      const heading = make("h2", "", "Actions");
      const legend = make("p", "note legend", "Line above: ", Arena.makeLabel(this.players[0]), "; line below: ",
        Arena.makeLabel(this.players[1]));
      const list = make("section", "panel action-panel", "", heading, legend, actions);
      this.removed = make("p", "note");
      const notes = make("div", "notes", "", this.removed, ...this.buildNotes());
      this.element.classList.add("arena-viewer");
      this.element.replaceChildren(make("div", "viewer-grid", "", this.buildSettings(), status, board, panels, list,
        notes, this.buildTransport()));
    }

    buildSettings() {
      const settings = make("div", "settings");
      settings.append(this.timeline.seat === null ? this.buildSwitch() : this.describeSeat());
      const select = make("select");
      for (const [value, text] of Object.entries(NAMINGS)) {
        const option = make("option", "", text);
        option.value = value;
        option.selected = value === this.names;
        select.append(option);
      }
      select.addEventListener("change", () => {
        this.names = select.value;
        this.showAll();
      });
      settings.append(make("label", "naming", "Cards ", select));
      return settings;
    }

    describeSeat() {
      const { seat } = this.timeline;
      return make("p", "only-seat", "What ", ...Arena.nameParts(this.players, seat), " knew, and nothing else.");
    }

    buildSwitch() {
      const field = make("fieldset", "switch", "", make("legend", "", "Who looks"));
      const group = `who-looks-${Viewer.count += 1}`;
      for (const value of ["referee", 0, 1]) {
        const input = make("input");
        input.type = "radio";
        input.name = group;
        input.value = `${value}`;
        input.checked = value === this.perspective;
        input.addEventListener("change", () => {
          this.perspective = value;
          this.showAll();
        });
        const text = value === "referee" ? ["Referee"] : Arena.nameParts(this.players, value);
        field.append(make("label", "", "", input, make("span", "", "", ...text)));
      }
      return field;
    }

    buildTransport() {
      const slider = make("input", "slider");
      Object.assign(slider, { type: "range", min: 0, max: this.last, step: 1, value: 0 });
      slider.setAttribute("aria-label", "Ply");
      slider.addEventListener("input", () => this.jump(Number(slider.value)));
      this.slider = slider;
      this.needle = make("span", "needle");
      this.parts.swing.addEventListener("click", (event) => this.jumpTo(event));
      const swing = make("div", "swing-box", "", this.parts.swing, this.needle, slider);
      const buttons = make("div", "buttons", "",
        this.buildButton("first", "To the deal (Home)", () => this.jump(0)),
        this.buildButton("before", "Round back (Page Up)", () => this.jumpRound(-1)),
        this.buildButton("back", "Step back (left arrow)", () => this.jump(this.ply - 1)),
        this.playButton = this.buildButton("play", "Play (space)", () => this.toggle()),
        this.buildButton("next", "Step (right arrow)", () => this.jump(this.ply + 1)),
        this.buildButton("after", "Round on (Page Down)", () => this.jumpRound(1)),
        this.buildButton("last", "To the end (End)", () => this.jump(this.last)));
      this.place = make("span", "place-in-game");
      return make("div", "transport", "", swing, make("div", "button-line", "", buttons, this.place));
    }

    buildButton(icon, label, act) {
      const button = make("button", icon);
      button.type = "button";
      this.setIcon(button, icon, label);
      button.addEventListener("click", act);
      return button;
    }

    setIcon(button, icon, label) {
      const svg = shape("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" });
      svg.append(shape("path", { d: ICONS[icon] }));
      button.title = label;
      button.setAttribute("aria-label", label);
      button.replaceChildren(svg);
    }

    // How the game ended, a bot's evidence, and the keys.
    buildNotes() {
      const notes = [];
      const { evidence, rules } = this.timeline;
      if (evidence) notes.push(this.fold("Evidence of the fault", make("pre", "", evidence)));
      const changes = Object.entries(rules.changes || {}).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
      if (changes.length) notes.push(this.fold("Changed rules", make("pre", "", changes.join("\n"))));
      notes.push(make("p", "note keys", "Keys: left and right for a ply, Page Up and Page Down or the number of a " +
        "round, Home and End, space to play."));
      return notes;
    }

    fold(title, content) {
      return make("details", "panel", "", make("summary", "", title), content);
    }

    listen(page) {
      const until = { signal: this.ending.signal };
      const place = page ? document : this.element.closest("dialog") || this.element;
      place.addEventListener("keydown", (event) => this.press(event), until);
      if (this.page) window.addEventListener("hashchange", () => this.jump(this.readFragment()), until);
    }

    // Stop, before another game is shown in this element.
    end() {
      this.stop();
      this.ending.abort();
    }

    press(event) {
      if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
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
        Home: () => this.jump(0), End: () => this.jump(this.last), " ": () => this.toggle(),
      }[key];
    }

    toggle() {
      if (this.timer !== null) {
        this.stop();
        return;
      }
      if (this.ply === this.last) this.show(0);
      this.timer = setInterval(() => this.tick(), PACE);
      this.setIcon(this.playButton, "pause", "Pause (space)");
    }

    tick() {
      if (this.element.isConnected && this.ply < this.last) this.show(this.ply + 1);
      else this.stop();
    }

    stop() {
      clearInterval(this.timer);
      this.timer = null;
      this.setIcon(this.playButton, "play", "Play (space)");
    }

    jump(ply) {
      if (this.timer !== null) this.stop();
      this.show(ply);
    }

    // To the beginning of this round, or of the one before or after.
    jumpRound(step) {
      const plies = this.timeline.rules.round_plies;
      const number = step < 0 ? Math.ceil(this.ply / plies) - 1 : Math.floor(this.ply / plies) + 1;
      this.jump(number * plies);
    }

    jumpTo(event) {
      const box = this.parts.swing.getBoundingClientRect();
      this.jump(Math.round(((event.clientX - box.left) / box.width) * this.last));
    }

    show(ply) {
      this.ply = Math.min(this.last, Math.max(0, ply));
      this.showFrame();
    }

    // Show another timeline of the same game, a longer one say, at the same ply.
    update(timeline) {
      this.timeline = timeline;
      this.last = timeline.frames.length - 1;
      this.slider.max = this.last;
      this.ply = Math.min(this.ply, this.last);
      this.showAll();
    }

    // What depends on who looks and on the names, and then the position.
    showAll() {
      Arena.drawActions(this.parts.actions, this.timeline, { names: this.names, onJump: (ply) => this.jump(ply) });
      Arena.drawSwing(this.parts.swing, this.timeline, this.perspective);
      this.removed.textContent = this.perspective === "referee" ? this.describeRemoved() : "";
      this.showFrame();
    }

    describeRemoved() {
      const { removed } = this.timeline;
      const kinds = [...removed].map((char) => Arena.kindName(char, this.names));
      return removed ? `Out of the game, unseen by both: ${kinds.join(", ")}.` : "";
    }

    showFrame() {
      const frame = this.timeline.frames[this.ply];
      const { board, unseen, thoughts, actions, status } = this.parts;
      const options = { players: this.players, rules: this.timeline.rules, names: this.names, onAction: null };
      const winner = this.ply === this.last ? this.timeline.winner : null;
      Arena.drawBoard(board, frame, { ...options, perspective: this.perspective, winner });
      const seat = this.perspective;
      unseen.replaceChildren();
      if (seat !== "referee") Arena.drawUnseen(unseen, frame, { ...options, seat });
      thoughts.replaceChildren();
      if (frame.thoughts && (seat === "referee" || seat === frame.turn)) Arena.drawThoughts(thoughts, frame, options);
      Arena.markAction(actions, this.ply);
      status.replaceChildren(...Arena.describeFrame(this.timeline, this.ply, this.names));
      this.showPlace(frame);
    }

    showPlace(frame) {
      const chance = Arena.chancesOf(this.timeline, this.perspective)[this.ply];
      const text = `Ply ${this.ply} of ${this.last}, round ${frame.round}`;
      this.place.replaceChildren(text);
      if (chance !== null) {
        this.place.append("; ", Arena.shortName(this.players, 0), ` wins with ${Arena.writeChance(chance)}`);
      }
      this.slider.value = this.ply;
      this.slider.setAttribute("aria-valuetext", this.place.textContent);
      this.needle.style.setProperty("--at", this.last ? this.ply / this.last : 0);
      if (this.page) this.writeFragment();
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
  Viewer.count = 0;

  // Show a timeline in an element. With `page` the keys are those of the whole page.
  Arena.mountViewer = (element, timeline, options) => new Viewer(element, timeline, options);
})();
