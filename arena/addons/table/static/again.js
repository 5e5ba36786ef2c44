// Again: a recorded game in the viewer, judged on demand, and with another action played.
"use strict";

(() => {
  const Arena = window.Arena;
  const Table = window.Table;
  const { ask, askFor, attempt, make, makeButton, makeField, makeName, makeSelect } = Table;

  class RecordedGame {
    constructor(main, line, timeline, names) {
      this.main = main;
      this.line = Number(line);
      this.names = names;
      const viewer = make("div");
      main.append(make("h1", "", `Game ${line}: `, makeName(timeline.players.join(" against "))), viewer);
      this.viewer = Arena.mountViewer(viewer, timeline, { names });
      this.judgeButton = makeButton("Judge every decision", () => this.judge());
      this.reviewButton = makeButton("Review the person's decisions", () => this.review());
      this.otherButton = makeButton("What if, at this ply\u2026", () => this.choose());
      this.form = make("form", "tools");
      this.other = make("section", "other");
      this.form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.playOther();
      });
      main.append(make("div", "tools", "", this.judgeButton, this.reviewButton, this.otherButton), this.form, this.other);
    }

    async judge() {
      const timeline = await askFor(this.judgeButton, "The decisions are being looked at\u2026", "api/judged", { line: this.line });
      if (!timeline) return;
      this.viewer.update(timeline);
      this.judgeButton.hidden = true;
      Table.say("Every decision is judged.");
    }

    review() {
      this.reviewButton.replaceWith(Table.makeReview(this.line, this.viewer.names));
    }

    // The actions that were possible at the ply that is shown, and who would go on.
    async choose() {
      const { ply, names, timeline } = this.viewer;
      const played = timeline.frames[ply + 1];
      if (!played) {
        Table.complain("The game is over at this ply: go back to a decision first.");
        return;
      }
      const own = await attempt(() => ask("api/records"));
      if (!own) return;
      const others = [...timeline.frames[ply].legal].filter((char) => char !== played.action.char);
      if (!others.length) {
        Table.complain(`At ply ${ply} nothing else was possible.`);
        return;
      }
      this.ply = ply;
      this.action = makeSelect(others.map((char) => [char, char === "T" ? "Take" : Arena.kindName(char, names)]), others[0]);
      const strengths = own.strengths.map(({ strength }) => [`${strength.number}`, `${strength.number} ${strength.words}`]);
      this.strength = makeSelect(strengths, "7");
      this.start = make("button", "plain", "Play on");
      this.form.replaceChildren(makeField(`At ply ${ply} instead`, this.action), makeField("both then play as", this.strength), this.start);
      this.action.focus();
    }

    async playOther() {
      const wanted = { line: this.line, ply: this.ply, action: this.action.value, strength: Number(this.strength.value) };
      const timeline = await askFor(this.start, "It is being played\u2026", "api/other", wanted);
      if (!timeline) return;
      const viewer = make("div");
      this.other.replaceChildren(make("h2", "", "", makeName(timeline.title)), viewer);
      Arena.mountViewer(viewer, timeline, { names: this.viewer.names }).show(wanted.ply + 1);
      this.other.scrollIntoView();
      Table.say(timeline.ending);
    }
  }

  async function showRecord(main, line, ply = "0", names = "english") {
    const timeline = await ask(`api/record?line=${encodeURIComponent(line)}`);
    const known = ["english", "german", "deck"].includes(names) ? names : "english";
    new RecordedGame(main, line, timeline, known).viewer.show(Number(ply) || 0);
  }

  Object.assign(Table, { showRecord });
})();
