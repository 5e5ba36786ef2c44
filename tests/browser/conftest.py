"""A browser for every test of a page: what it asks of the network and complains of is a fault."""

from __future__ import annotations

import os
import shutil
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from zlib import decompress

import pytest

from tests.conftest import Once
from tests.waiting import PATIENCE

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
        args = ["--no-sandbox"] if os.geteuid() == 0 else []
        path, wait = CHROMIUM, 1000 * PATIENCE
        browser = playwright.chromium.launch(executable_path=path, args=args, timeout=wait)
        yield browser
        browser.close()


class Pages:
    """Pages by their names, each of which is made once for all processes, when it is wanted."""

    def __init__(self, once: Once, kind: str, makers: Mapping[str, Callable[[Path], Path]]) -> None:
        self.once = once
        self.kind = kind
        self.makers = makers

    def __getitem__(self, name: str) -> Path:
        folder = self.once(f"{self.kind}-{name}", lambda folder: self._make(folder, name))
        return Path((folder / "place").read_text())

    def _make(self, folder: Path, name: str) -> None:
        (folder / "place").write_text(str(self.makers[name](folder)))


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


class Opener:
    """Opens pages, each in a context of its own."""

    def __init__(self, browser: Any) -> None:
        self.browser = browser
        self.contexts: list[Any] = []
        self.pages: list[Watched] = []
        self.kept: dict[str, Any] = {}

    def open(
        self, address: Path | str, font: str = "", is_quiet: bool = True, **options: Any
    ) -> Any:
        """Open a file, or an address that may be used, in a new page, which is to be quiet.

        With a `font`, such as "60%", each character is a square of this size of an em.
        """
        url = address.as_uri() if isinstance(address, Path) else address
        base = url if isinstance(address, Path) else "/".join(url.split("/")[:3])
        context = self.browser.new_context(**{"viewport": LAPTOP, "offline": False} | options)
        self.contexts.append(context)
        context.set_default_timeout(1000 * PATIENCE)
        if font:
            context.add_init_script(USE_SQUARES % (font, SQUARES))
        watched = Watched(
            context.new_page(), lambda seen: seen.startswith((base, "data:", "blob:", "about:"))
        )
        if is_quiet:
            self.pages.append(watched)
        watched.page.goto(url)
        return watched.page

    def keep(self, path: Path, **options: Any) -> Any:
        """Open a file, or return its page as the last test has left it."""
        name = f"{path} {options}"
        if name not in self.kept:
            self.kept[name] = self.open(path, **options)
        return self.kept[name]

    def check(self) -> None:
        for watched in self.pages:
            watched.check()

    def close(self) -> None:
        for context in self.contexts:
            context.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Return a function that opens a file, or an address that may be used, in a new page."""
    opener = Opener(browser)
    yield opener.open
    opener.check()
    opener.close()


@pytest.fixture(scope="module")
def _kept(browser: Any) -> Iterator[Opener]:
    opener = Opener(browser)
    yield opener
    opener.close()


@pytest.fixture
def keep_page(_kept: Opener) -> Iterator[Callable[..., Any]]:
    """Return a function that opens a file once for a module's tests, which leave it as it was."""
    yield _kept.keep
    _kept.check()


USE_SQUARES = """{
  const size = { sizeAdjust: "%s" };
  const bytes = Uint8Array.from(atob("%s"), (char) => char.charCodeAt());
  document.fonts.add(new FontFace("squares", bytes, size));
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("* { font-family: squares !important; }");
  document.adoptedStyleSheets = [sheet];
}"""
SQUARES = b64encode(
    decompress(
        b64decode(
            "eNqFkDFPwlAUhc8r2GihioNOBJrowCCKEo2DiXFydKi7vmC1A5UWgeCCjoz+EH+Ag4Nx1Mn/YKKDqybGmHpeWwli"
            "jCe5ffe79/W9cx8EAAPnSMHasZdWtrbn3gFRYnW/5kkf09glX5BLR/XTw6AX9Mg35AXXkQfl/kOT+SVjzWUBBf4B"
            "PDLmXa/VJfEG0Sfr9UZNYhYZ8pViT3Z9pKGTx8nWsfSczu39IvmFXPEbJy36orS86quTVLxdr5f3pjZe2cup7tPy"
            "XWWwqj2TnAjsaoilamb4yW+Ouca+wE+JqKLRTdzRMCrexVcY445/FFIfjOdiGOIMxU1KuSfFHsx4piFZiTOReElF"
            "/rPcqZQfmsJS5yd5hm/57VxNzFOrq9UZYRrGH1U1V2Fwix5NJdITzLPQ7aAtmw5sBGhDognnl88RfQF2oEWU"
        )
    )
).decode()
"""A TrueType font that has the same square of one em for each character."""


def find_bad_texts(page: Any) -> list[str]:
    """Return the texts of charts and of the first screen that are cut, or lie on another one."""
    found: list[str] = page.evaluate(BAD_TEXTS)
    return found


BAD_TEXTS = """() => [...document.querySelectorAll('.chart, .hero, .games li')].flatMap(part => {
  const box = part.getBoundingClientRect();
  const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) {
    const text = walker.currentNode;
    const parent = text.parentElement;
    if (!text.data.trim() || !parent.checkVisibility({ visibilityProperty: true })) continue;
    if (parent.closest('title, details, .scroll, a')) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    for (const own of range.getClientRects()) texts.push([text.data.trim(), own]);
  }
  const cut = texts.filter(([, own]) => own.left < box.left - 1 || own.right > box.right + 1)
    .map(([text]) => text);
  const touching = texts.flatMap(([one, a], n) => texts.slice(n + 1)
    .filter(([, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
      && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4)
    .map(([other]) => `${one} | ${other}`));
  return [...cut, ...touching];
})"""
"""A line of text has some pixels of room above and below."""


def find_faults(page: Any, part: str | None = None) -> list[str]:
    """Return, a line each, what axe finds that is serious, or a landmark's second name."""
    from axe_playwright_python.sync_playwright import Axe

    asked = {"resultTypes": ["violations"], "preload": False}
    found = Axe().run(page, part, asked).response["violations"]
    return [
        f"{fault['id']}: {node['html'][:200]}"
        for fault in found
        if fault["impact"] in ("serious", "critical") or fault["id"] == "landmark-unique"
        for node in fault["nodes"]
    ]


def overflowing(page: Any) -> int:
    """Return by how many pixels a page is wider than its window."""
    wide: int = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    return wide
