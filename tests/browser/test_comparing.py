"""The pages that compare: runs, and versions of a bot, in a browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.differences.run_files import make_files
from arena.entries.resolve import resolve
from arena.reports.html import to_html
from arena.reports.run_report import make_report
from arena.store.html_page import frame as frame_of
from arena.tournament.sprt_rounds import as_comparison
from arena.tournament.stop import make_sprt
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.browser.conftest import (
    LAPTOP,
    PHONE,
    Pages,
    find_bad_texts,
    find_faults,
    overflowing,
)
from tests.conftest import Once
from tests.reports.runs import BASE, played
from tests.reports.test_changes import HOSTILE, report_of, with_hostile

LIGHT = {"viewport": LAPTOP, "color_scheme": "light"}
DARK = {"viewport": PHONE, "color_scheme": "dark"}
LOOKS = {"runs": LIGHT, "versions": DARK}
"""How the page that tests share is looked at."""

LONG = ["the most greedy one of all the bots", "the most uniform one of all the bots"]

Open = Callable[..., Any]


def runs_page(folder: Path) -> Path:
    """Write the page of two runs with hostile names."""
    runs = [played(with_hostile(*BASE)), played(with_hostile("greedy", "mine=greedy(patience=1)"))]
    report = report_of(runs)
    for run in runs:
        run.store.close()
    return written(folder / "runs.html", to_html(report))


def versions_page(folder: Path) -> Path:
    """Write the page of two versions of a bot."""
    bots = [resolve(bot, lane="inproc") for bot in ("new=greedy(patience=1)", "greedy", "uniform")]
    what = Tournament("compare", 1, 48, bots, STANDARD, panel=1)
    what = as_comparison(what, make_sprt(0, 10, 0.05, 0.05, 48))
    games = played(what)
    made = make_report(what, games.store, make_files(what, games.store))
    games.store.close()
    return written(folder / "versions.html", to_html(made))


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def pages(once: Once) -> Pages:
    """Return a page of each kind."""
    makers = {
        "runs": runs_page,
        "versions": versions_page,
    }
    return Pages(once, "comparing", makers)


@pytest.fixture
def shared(keep_page: Open, pages: Pages) -> Open:
    """Return a function that returns the page of a kind, which all tests of it use."""
    return lambda kind: keep_page(pages[kind], **LOOKS[kind])


@pytest.mark.slow
@pytest.mark.parametrize("kind", LOOKS)
def test_the_page_is_drawn_whole(shared: Open, kind: str) -> None:
    """Every chart has its marks, nothing is wider than the window, and axe finds no fault."""
    check_whole(shared(kind))


def check_whole(page: Any) -> None:
    """Check the charts, the width and what a screen reader reaches."""
    charts = page.locator("figure.chart")
    assert charts.count() >= 2
    for number in range(charts.count()):
        assert charts.nth(number).locator(".sign, .bar, .line, .map tbody td").count()
    assert overflowing(page) <= 0
    assert find_bad_texts(page) == []
    assert find_faults(page) == []


@pytest.mark.slow
def test_hostile_names_are_shown_as_text(shared: Open) -> None:
    """In tables, charts and the title; no script of a name has run."""
    page = shared("runs")
    assert page.title() == f"{HOSTILE[1]}, compared with {HOSTILE[0]}"
    for label in HOSTILE:
        assert page.locator("#table-bots tbody td", has_text=label).count() >= 1
    assert page.locator("figure.chart", has_text=HOSTILE[0]).count() >= 1
    assert page.locator("script").count() == len(
        page.evaluate("[...document.scripts].filter(one => !one.textContent.startsWith('alert'))")
    )


@pytest.mark.slow
def test_a_decided_game_opens_its_replay(shared: Open) -> None:
    """From the table of games in which the change decided."""
    page = shared("versions")
    page.locator("#table-decided tbody a").first.click()
    assert page.locator("#replay").is_visible()
    assert "new/uniform/" in page.locator("#replay-title").inner_text()
    page.keyboard.press("Escape")
    page.locator("#replay").wait_for(state="hidden")


@pytest.mark.slow
def test_a_notebook_frame_draws_the_page(pages: Pages, open_page: Open, tmp_path: Path) -> None:
    """In a sandbox without an origin."""
    notebook = tmp_path / "notebook.html"
    shown = frame_of(pages["runs"].read_text(), "Report", "40rem")
    notebook.write_text(f"<!doctype html><html lang=en><title>n</title>{shown}")
    frame = open_page(notebook).frame_locator("iframe")
    frame.locator("figure.chart svg").first.wait_for()
    frame.locator("#table-standings th button").first.wait_for()
