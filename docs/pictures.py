"""Makes the README's pictures of a report, a replay and the table, from the run quickstart.

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

ROOT = Path(__file__).parent.parent
FOLDER = Path(__file__).parent / "pictures"
RUN = ROOT / "results" / "quickstart"
GAME = "greedy/uniform/3/1"
PLY = 29
WINDOW = {"width": 1280, "height": 800}
MOVES = 4  # of the person, before the picture of the table


def make_pictures(folder: Path) -> None:
    """Write standings.png, heat-map.png, replay.png and table.png into a folder."""
    from playwright.sync_api import sync_playwright

    folder.mkdir(exist_ok=True)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as scratch:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport=WINDOW, color_scheme="light")
        _picture_report(page, folder)
        _picture_replay(page, folder, Path(scratch))
        _picture_table(page, folder, Path(scratch))
        browser.close()


def _picture_report(page: Any, folder: Path) -> None:
    page.goto((RUN / "report.html").as_uri())
    page.locator(".hero").screenshot(path=folder / "standings.png")
    page.locator("#chart-heat-map").scroll_into_view_if_needed()  # only then it is drawn
    page.wait_for_selector("#chart-heat-map canvas")
    page.locator("#chart-heat-map canvas").first.screenshot(path=folder / "heat-map.png")


def _picture_replay(page: Any, folder: Path, scratch: Path) -> None:
    replay = scratch / "replay.html"
    _arena("view", str(RUN), GAME, "--out", str(replay))
    page.goto(f"{replay.as_uri()}#ply={PLY}")
    page.wait_for_selector("svg")
    page.screenshot(path=folder / "replay.png")


def _picture_table(page: Any, folder: Path, scratch: Path) -> None:
    with _table(scratch) as address:
        page.goto(address)
        page.get_by_role("button", name="Play", exact=True).click()
        for _ in range(MOVES):
            page.wait_for_selector("button.act")
            page.locator("button.act").first.click()
            page.wait_for_timeout(500)
        page.get_by_role("button", name="Hint").click()
        page.wait_for_selector(".hint tbody tr")
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


def _arena(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "arena", *words], check=True)


if __name__ == "__main__":
    make_pictures(FOLDER)
    print(f"wrote {FOLDER}/")
