// The page of a report: what is folded opens where it is linked, text is copied, replays open.
"use strict";

(() => {
  const Report = window.Report;

  for (const code of document.querySelectorAll("details.listing")) {
    const button = document.createElement("button");
    const said = document.createElement("span");
    button.type = "button";
    button.textContent = "Copy";
    said.className = "said";
    said.setAttribute("role", "status");
    code.querySelector("summary").after(button, said);
    Report.makeCopy(button, said, () => code.querySelector("pre").textContent);
  }

  // Folded parts

  function unfold() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const fold = target && target.closest("details");
    if (!fold) return;
    fold.open = true;
    target.scrollIntoView();
  }

  window.addEventListener("hashchange", unfold);

  // Replays

  const replays = JSON.parse(document.getElementById("replays").textContent);
  const dialog = document.getElementById("replay");

  function openReplay(id) {
    if (!Object.hasOwn(replays, id)) return;
    const timeline = replays[id];
    document.getElementById("replay-title").textContent = timeline.title;
    const place = dialog.querySelector(".viewer");
    place.replaceChildren();
    dialog.showModal();
    window.Arena.mountViewer(place, timeline, {});
  }

  dialog.querySelector(".close").addEventListener("click", () => dialog.close());
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    const id = link && link.getAttribute("href").slice(1);
    if (!id || !Object.hasOwn(replays, id)) return;
    event.preventDefault();
    openReplay(id);
  });
  openReplay(location.hash.slice(1)); // the page was opened by a link to a replay
})();
