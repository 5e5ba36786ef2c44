"""The pages that compare: runs, two versions of a bot, and rules, in a browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from arena.entries.resolve import resolve
from arena.executors.log import QUIET
from arena.reports.changes import make_changes_report
from arena.reports.html import to_html
from arena.reports.run import make_report
from arena.results.changes import find_changes
from arena.results.files import make_files
from arena.runs.ablate import ablate
from arena.runs.compare import as_comparison, make_stop
from arena.tournament.tournament import Tournament
from arena.tournament.variants import make_variants
from engine import STANDARD
from tests.browser.conftest import LAPTOP, PHONE, find_faults, overflowing
from tests.reports.test_changes import HOSTILE, facts, with_hostile
from tests.results.test_changes import BASE, play, tournament
from tests.runs.test_verify import HERE

LOOKS = [(LAPTOP, "light"), (PHONE, "dark")]
KINDS = ["runs", "versions", "rules"]

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Return a page of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    runs = [play(with_hostile(*BASE)), play(with_hostile("greedy", "mine=greedy(patience=1)"))]
    named = [facts(title, games) for title, games in zip(HOSTILE, runs, strict=False)]
    report = make_changes_report(named[0], [(named[1], find_changes(*runs))])
    (folder / "runs.html").write_text(to_html(report))
    bots = [resolve(bot, lane="inproc") for bot in ("new=greedy(patience=1)", "greedy", "uniform")]
    what = Tournament("compare", 1, 48, bots, STANDARD, panel=1)
    what = as_comparison(what, make_stop(0, 10, 0.05, 0.05, 48))
    games = play(what)
    made = make_report(what, games.store, make_files(what, games.store))
    (folder / "versions.html").write_text(to_html(made))
    for run in (*runs, games):
        run.store.close()
    variants = make_variants(STANDARD, ["set_bonus=0"])
    cup = tournament("greedy", "uniform", pairs=3)
    ablate(cup, variants, HERE, folder / "rules", lambda _: None, QUIET)
    return {
        "runs": folder / "runs.html",
        "versions": folder / "versions.html",
        "rules": folder / "rules" / "report.html",
    }


def drawn(page: Any) -> Any:
    """Return the page when all of its charts have been drawn."""
    page.wait_for_selector("html[data-drawn]")
    return page


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("viewport", "scheme"), LOOKS, ids=["laptop", "phone"])
def test_the_page_is_drawn_whole(
    pages: Mapping[str, Path], open_page: Open, kind: str, viewport: Any, scheme: str
) -> None:
    """Every chart has its marks, nothing is wider than the window, and axe finds no fault."""
    page = drawn(open_page(pages[kind], viewport=viewport, color_scheme=scheme))
    charts = page.locator("figure.chart")
    assert charts.count() >= 3
    for number in range(charts.count()):
        assert charts.nth(number).locator("svg .mark-symbol path, svg .mark-rect path").count()
    assert overflowing(page) <= 0
    assert find_faults(page) == []


def test_hostile_names_are_shown_as_text(pages: Mapping[str, Path], open_page: Open) -> None:
    """In tables, charts and the title; no script of a name has run."""
    page = drawn(open_page(pages["runs"]))
    assert page.locator("h1").inner_text() == f"{HOSTILE[1]}, compared with {HOSTILE[0]}"
    for label in HOSTILE:
        assert page.locator("#table-bots tbody th", has_text=label).count() == 1
    assert page.locator("svg text", has_text=HOSTILE[0]).count() >= 1
    assert page.locator("script").count() == len(
        page.evaluate("[...document.scripts].filter(one => !one.textContent.startsWith('alert'))")
    )


def test_the_changes_of_ratings_can_be_sorted(pages: Mapping[str, Path], open_page: Open) -> None:
    """By the size of the change, which is a number with its sign."""
    page = drawn(open_page(pages["runs"]))
    table = page.locator("#table-ratings")
    table.locator("thead button", has_text="Change").first.click()
    cells = table.locator("tbody tr td:nth-child(5)").all_inner_texts()
    numbers = [float(cell.replace("\u2212", "-")) for cell in cells if cell]
    assert len(numbers) > 2
    assert numbers == sorted(numbers, reverse=True)


def test_a_decided_game_opens_its_replay(pages: Mapping[str, Path], open_page: Open) -> None:
    """From the table of games in which the change decided."""
    page = drawn(open_page(pages["versions"]))
    page.locator("#table-decided tbody a").first.click()
    assert page.locator("#replay").is_visible()
    assert "new/uniform/" in page.locator("#replay-title").inner_text()


def test_the_report_of_a_variant_is_one_click_away(
    pages: Mapping[str, Path], open_page: Open
) -> None:
    """Its folder has a sign of equality, which is part of the address."""
    page = drawn(open_page(pages["rules"]))
    address = page.locator("#table-variants tbody a", has_text="set_bonus=0").evaluate(
        "a => a.href"
    )
    assert address.endswith("/set_bonus%3D0/report.html")
    other = drawn(open_page(Path(unquote(address.removeprefix("file://")))))
    assert other.locator("h1").inner_text() == "cup"


def test_a_notebook_frame_draws_the_page(
    pages: Mapping[str, Path], open_page: Open, tmp_path: Path
) -> None:
    """In a sandbox without an origin: charts are drawn, and tables sort."""
    from arena.library.report import RunReport
    from arena.reports.document import Report

    shown = RunReport(Report("run", [], []))
    shown.html = pages["runs"].read_text()  # type: ignore[misc]
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!doctype html><html lang=en><title>n</title>{shown._repr_html_()}")
    page = open_page(notebook)
    frame = page.frame_locator("iframe")
    frame.locator("html[data-drawn]").wait_for(state="attached")
    assert frame.locator("figure.chart svg").count() >= 3
