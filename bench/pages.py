"""The page of a report in Chromium: how fast it opens, how large it is, on how many sheets.

The runs are of random games of which the stronger bot of two has the better. A page is open when
its first screen answers a key: no script runs any more.
Chromium is started once; the best of three openings counts.
"""

from __future__ import annotations

import io
import re
import shutil
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.engine import Row
from tests.reports.runs import cup, make_store, page_of

BOTS = (4, 12, 40, 200)
_OPENINGS = 3
_WINDOW = {"width": 1280, "height": 800}
_ASKED = {40: ("1 s", "3 sheets"), 200: ("3 s, 12,000 nodes", "")}


def rows() -> Iterator[Row]:
    """Yield how long the page of so many bots takes, and how large it is."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if not path or not find_spec("playwright"):
        yield Row("a page", "not measured: needs Chromium and the extra `test`")
        return
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for bots in BOTS:
            page = Path(folder, f"{bots}.html")
            page.write_text(make_page(bots), encoding="utf-8")
            yield from measure(browser, page, bots)
        browser.close()


def make_page(bots: int) -> str:
    """Return the page of a run with so many bots."""
    run = cup([f"bot number {number:03}" for number in range(bots)], max(1, 40 // bots))
    return page_of(run, make_store(run))


def measure(browser: Any, path: Path, bots: int) -> Iterator[Row]:
    """Yield the figures of a page."""
    best, nodes, sheets = float("inf"), 0, 0
    for number in range(_OPENINGS):
        page = browser.new_page(viewport=_WINDOW)
        start = perf_counter()
        page.goto(path.as_uri())
        best = min(best, perf_counter() - start)
        nodes = page.evaluate("document.querySelectorAll('*').length")
        sheets = sheets if number else count_sheets(page)
        page.close()
    opens, prints = _ASKED.get(bots, ("", ""))
    size = path.stat().st_size / 1e6
    yield Row(f"{bots} bots: open", f"{best:.2f} s, {nodes:,} nodes, {size:.1f} MB", "", opens)
    yield Row(f"{bots} bots: printed", f"{sheets} sheets of A4", "", prints)


def count_sheets(page: Any) -> int:
    """Return on how many sheets a page is printed."""
    content = page.pdf(format="A4")
    return len(re.findall(rb"/Type\s*/Page\b", io.BytesIO(content).getvalue()))
