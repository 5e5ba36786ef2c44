// Transport: the slider with its curve, and the buttons that step, play and find blunders.
"use strict";

(() => {
  const Arena = window.Arena;
  const { make, shape } = Arena;
  const PACES = { slow: 2400, normal: 1200, fast: 500 }; // milliseconds a ply while the game plays
  const ICONS = {
    first: "M5 4v16M20 4 8 12l12 8Z", back: "M17 4 6 12l11 8Z", next: "M7 4l11 8-11 8Z",
    last: "M19 4v16M4 4l12 8-12 8Z", play: "M6 3l15 9-15 9Z", pause: "M6 4h4v16H6ZM14 4h4v16h-4Z",
    before: "M12 5 3 12l9 7ZM21 5l-9 7 9 7Z", after: "M12 5l9 7-9 7ZM3 5l9 7-9 7Z",
    "blunder-back": "M10 5 3 12l7 7ZM16 4h3v10h-3ZM16 18h3v3h-3Z",
    "blunder-on": "M14 5l7 7-7 7ZM5 4h3v10H5ZM5 18h3v3H5Z",
  };

  // A range of chances with one sign of per cent.
  const writeRange = ([low, high]) => `${Arena.writeChance(low).replace("\u2009%", "")}\u2013${Arena.writeChance(high)}`;

  class Transport {
    constructor(viewer) {
      this.viewer = viewer;
      this.timer = null;
      this.pace = "normal";
      this.swing = make("div", "swing");
      this.slider = this.buildSlider();
      this.needle = make("span", "needle");
      this.place = make("span", "place-in-game");
      this.swing.addEventListener("click", (event) => this.jumpTo(event));
      this.element = make("div", "transport", "",
        make("div", "swing-box", "", this.swing, this.needle, this.slider),
        make("div", "button-line", "", this.buildButtons(), this.place));
    }

    buildSlider() {
      const slider = make("input", "slider");
      Object.assign(slider, { type: "range", min: 0, max: this.viewer.last, step: 1, value: 0 });
      slider.setAttribute("aria-label", "Ply");
      slider.addEventListener("input", () => this.viewer.jump(Number(slider.value)));
      return slider;
    }

    buildButtons() {
      const { viewer } = this;
      const buttons = [
        this.buildButton("first", "To the deal (Home)", () => viewer.jump(0)),
        this.buildButton("before", "Round back (Page Up)", () => viewer.jumpRound(-1)),
        this.buildButton("back", "Step back (left arrow)", () => viewer.jump(viewer.ply - 1)),
        this.playButton = this.buildButton("play", "Play (space)", () => this.toggle()),
        this.buildButton("next", "Step (right arrow)", () => viewer.jump(viewer.ply + 1)),
        this.buildButton("after", "Round on (Page Down)", () => viewer.jumpRound(1)),
        this.buildButton("last", "To the end (End)", () => viewer.jump(viewer.last)),
      ];
      if (viewer.timeline.judge) {
        buttons.push(
          this.buildButton("blunder-back", "Blunder before (M)", () => viewer.jumpBlunder(-1)),
          this.buildButton("blunder-on", "Next blunder (m)", () => viewer.jumpBlunder(1)));
      }
      return make("div", "buttons", "", ...buttons);
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

    // The choice of how fast the game plays; while it plays the change counts at once.
    buildPace() {
      const choose = (pace) => {
        this.pace = pace;
        if (this.timer !== null) this.start();
      };
      const paces = Object.keys(PACES).map((pace) => [pace, pace]);
      return Arena.buildChoice("Pace ", paces, this.pace, choose);
    }

    toggle() {
      if (this.timer !== null) {
        this.stop();
        return;
      }
      if (this.viewer.ply === this.viewer.last) this.viewer.show(0);
      this.start();
    }

    start() {
      clearInterval(this.timer);
      this.timer = setInterval(() => this.tick(), PACES[this.pace]);
      this.setIcon(this.playButton, "pause", "Pause (space)");
    }

    tick() {
      const { viewer } = this;
      if (viewer.element.isConnected && viewer.ply < viewer.last) viewer.show(viewer.ply + 1);
      else this.stop();
    }

    stop() {
      if (this.timer === null) return;
      clearInterval(this.timer);
      this.timer = null;
      this.setIcon(this.playButton, "play", "Play (space)");
    }

    jumpTo(event) {
      const box = this.swing.getBoundingClientRect();
      this.viewer.jump(Math.round(((event.clientX - box.left) / box.width) * this.viewer.last));
    }

    // What depends on who looks.
    showCurve() {
      this.slider.max = this.viewer.last;
      Arena.drawSwing(this.swing, this.viewer.timeline, this.viewer.perspective);
    }

    showPlace(frame) {
      const { ply, last, timeline, perspective } = this.viewer;
      const [chance, range] = [Arena.chancesOf, Arena.rangesOf].map((find) => find(timeline, perspective)[ply]);
      this.place.replaceChildren(`Ply ${ply} of ${last}, round ${frame.round}`);
      if (chance !== null) {
        const name = Arena.shortName(timeline.players, 0);
        this.place.append("; ", name, ` wins with ${Arena.writeChance(chance)}`);
        if (range && range[0] < range[1]) this.place.append(` (${writeRange(range)})`);
      }
      this.slider.value = ply;
      this.slider.setAttribute("aria-valuetext", this.place.textContent);
      this.needle.style.setProperty("--at", last ? ply / last : 0);
    }
  }

  Arena.Transport = Transport;
})();
