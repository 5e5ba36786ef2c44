"""A browser for every test of a page: what it asks of the network and complains of is a fault."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
LAPTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Return a headless Chromium; skip on a machine without it, but never in CI."""
    if CHROMIUM is None and not os.environ.get("CI"):
        pytest.skip("needs Chromium (apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"] if os.geteuid() == 0 else []
        )
        yield browser
        browser.close()


class Watched:
    """A page of the browser; at the end it must have been quiet: no error, no request."""

    def __init__(self, page: Any, allowed: Callable[[str], bool]) -> None:
        self.page = page
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.allowed = allowed
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._hear)
        page.on("request", self._see)

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def _see(self, request: Any) -> None:
        if not self.allowed(request.url):
            self.requests.append(request.url)

    def check(self) -> None:
        """Fail if the page has asked for anything, or has complained of anything."""
        assert self.errors == []
        assert self.requests == []


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Return a function that opens a file, or an address that may be used, in a new page."""
    contexts = []
    pages = []

    def open_it(address: Path | str, **options: Any) -> Any:
        url = address.as_uri() if isinstance(address, Path) else address
        base = url if isinstance(address, Path) else "/".join(url.split("/")[:3])
        context = browser.new_context(**{"viewport": LAPTOP, "offline": False} | options)
        contexts.append(context)
        watched = Watched(
            context.new_page(), lambda seen: seen.startswith((base, "data:", "blob:", "about:"))
        )
        pages.append(watched)
        watched.page.goto(url)
        return watched.page

    yield open_it
    for watched in pages:
        watched.check()
    for context in contexts:
        context.close()


def find_faults(page: Any) -> list[str]:
    """Return what axe finds that is serious or critical, a line each.

    It sees the first of a table's rows with the same elements, classes, styles and names of
    attributes: its time grows with all that is shown.
    """
    from axe_playwright_python.sync_playwright import Axe

    page.evaluate(HIDE_REPEATED_ROWS)
    found = Axe().run(page).response["violations"]
    page.evaluate(SHOW_REPEATED_ROWS)
    return [
        f"{fault['id']}: {node['html'][:200]}"
        for fault in found
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]


HIDE_REPEATED_ROWS = """() => {
  for (const body of document.querySelectorAll("tbody")) {
    const seen = new Set();
    for (const row of body.rows) {
      if (row.hidden) continue;
      const kind = [row, ...row.querySelectorAll("*")].map(part => [
        part.tagName, part.className, part.getAttribute("style"), part.getAttributeNames(),
        part.textContent.trim() === "",
      ]).join();
      row.hidden = row.dataset.repeated = seen.has(kind);
      seen.add(kind);
    }
  }
}"""
SHOW_REPEATED_ROWS = """() => {
  for (const row of document.querySelectorAll("[data-repeated]")) {
    row.hidden = false;
    delete row.dataset.repeated;
  }
}"""


def overflowing(page: Any) -> int:
    """Return by how many pixels a page is wider than its window."""
    wide: int = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    return wide
