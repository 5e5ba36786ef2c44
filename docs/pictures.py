"""Make the pictures of the README and the site: a report, the table, each page of the gallery.

`make pictures` plays configs/quickstart.yaml first. Chromium takes the pictures.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from docs.making.gallery import EXHIBITS, make_exhibits

ROOT = Path(__file__).parent.parent
FOLDER = Path(__file__).parent / "pictures"
RUN = ROOT / "results" / "quickstart"
WINDOW = {"width": 1280, "height": 800}
PLY = 29  # of the replay
MOVES = 4  # of the person, before the picture of the table
MARGIN = 24  # pixels below what a first screen ends with


def make_pictures(folder: Path) -> None:
    """Write standings.png, heat-map.png, table.png, and a picture of each exhibit into a folder."""
    from playwright.sync_api import sync_playwright

    folder.mkdir(exist_ok=True)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as scratch:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport=WINDOW, color_scheme="light")
        _picture_report(page, folder)
        _picture_exhibits(page, folder, Path(scratch, "gallery"))
        _picture_table(page, folder, Path(scratch))
        browser.close()


def _picture_report(page: Any, folder: Path) -> None:
    page.goto((RUN / "report.html").as_uri())
    box = page.locator(".hero").bounding_box()
    end = page.locator(".hero > :last-child").bounding_box()
    box["height"] = end["y"] + end["height"] + MARGIN - box["y"]
    page.screenshot(path=folder / "standings.png", clip=box)
    page.locator("#chart-heat-map").screenshot(path=folder / "heat-map.png")


def _picture_exhibits(page: Any, folder: Path, scratch: Path) -> None:
    make_exhibits(scratch)
    for exhibit in EXHIBITS:
        page.goto(f"{(scratch / exhibit.link).as_uri()}#ply={PLY}")
        page.wait_for_timeout(1000)  # what is in view is drawn
        page.screenshot(path=folder / exhibit.picture)


def _picture_table(page: Any, folder: Path, scratch: Path) -> None:
    with _table(scratch) as address:
        page.goto(address)
        page.get_by_role("button", name="Play", exact=True).click()
        for _ in range(MOVES):
            page.wait_for_selector("button.act")
            page.locator("button.act").first.click()
            page.wait_for_timeout(500)
        page.evaluate("window.scrollTo(0, 0)")
        page.screenshot(path=folder / "table.png")


@contextmanager
def _table(results: Path) -> Iterator[str]:
    """Yield the address of a table that has no run."""
    words = [sys.executable, "-m", "arena", "table", "--no-browser", "--results", str(results)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        assert re.match(r"http://127\.0\.0\.1:\d+/", address), address
        try:
            yield address
        finally:
            server.terminate()


if __name__ == "__main__":
    make_pictures(FOLDER)
    print(f"wrote {FOLDER}/")
