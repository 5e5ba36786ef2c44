// Mount: puts the viewer into a page that holds one game.
"use strict";

(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  window.Arena.mountViewer(document.getElementById("viewer"), read("timeline"), { names: read("names"), page: true });
})();
