// A screen reader says how many pages a search has found.
document.addEventListener("DOMContentLoaded", () => {
  const dialog = document.getElementById("pst-search-dialog");
  if (dialog) dialog.setAttribute("aria-label", "Search");
  const results = document.getElementById("search-results");
  if (!results) return;
  const status = document.createElement("p");
  status.setAttribute("role", "status");
  status.className = "visually-hidden";
  results.before(status);
  new MutationObserver(() => {
    const summary = results.querySelector(".search-summary");
    if (summary && status.textContent !== summary.textContent)
      status.textContent = summary.textContent;
  }).observe(results, { childList: true, characterData: true, subtree: true });
});
