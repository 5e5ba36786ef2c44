"""`results.report()`: shown in a notebook, saved, and taken apart into charts."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

import arena
from arena.library.rating import RunReport
from tests.reports.runs import cup, make_store, report_of


@pytest.fixture(scope="module")
def results() -> arena.Results:
    """A small run that is in memory."""
    return arena.run(["greedy", "uniform"], pairs=2, seed=7, progress=False)


@pytest.mark.slow
def test_a_notebook_shows_the_beginning_in_a_frame_of_its_own(results: arena.Results) -> None:
    """Without scripts; with what the report says first, its first charts and the standings."""
    report = results.report()
    shown = report._repr_html_()
    (frame,) = re.findall(r"<iframe ([^>]*)></iframe>", shown)
    assert shown == f"<iframe {frame}></iframe>"
    page = unescape(re.findall(r'srcdoc="([^"]*)"', frame)[0])
    assert "script-src 'none'" in unescape(page)
    assert "<script" not in page
    assert report._document.summary[0] in page
    assert page.count("<svg") == 2
    assert page.count("<tr>") == 3  # the head, and a row for each bot


@pytest.mark.parametrize(
    "bots",
    [pytest.param(40, marks=pytest.mark.slow), pytest.param(200, marks=pytest.mark.study)],
)
def test_a_cell_of_many_bots_has_a_hundred_kilobytes_at_most(bots: int) -> None:
    """The charts that fit, and the first rows; names are text there."""
    run = cup(["<script>alert(1)</script>", *(f"bot number {n:03}" for n in range(1, bots))], 1)
    report = RunReport(report_of(run, make_store(run))[0])
    shown = report._repr_html_()
    assert len(shown.encode()) <= 100_000
    page = unescape(shown)
    assert "<script" not in page
    assert f"The first 20 of {bots} rows." in page
    assert page.count("<svg") == 1


@pytest.mark.slow
def test_a_report_is_saved_as_a_page_or_as_markdown(results: arena.Results, tmp_path: Path) -> None:
    """By the ending of the file; an earlier report is replaced, another file is kept."""
    report = results.report()
    report.save(tmp_path / "deep" / "page.html")
    report.save(str(tmp_path / "page.md"))
    report.save(tmp_path / "page.md")
    assert (tmp_path / "deep" / "page.html").read_text() == report.html
    assert (tmp_path / "page.md").read_text() == report.markdown()
    (tmp_path / "mine.md").write_text("mine")
    for name in ("mine.md", "page.txt", "page", "deep"):
        with pytest.raises(arena.InputError, match=re.escape(str(tmp_path / name))):
            report.save(tmp_path / name)
    assert (tmp_path / "mine.md").read_text() == "mine"


@pytest.mark.slow
def test_every_chart_is_one_of_altair(results: arena.Results) -> None:
    """By its name, and it is a valid specification with a title."""
    import altair

    charts = results.report().charts
    assert {"ratings", "heat-map"} <= {*charts}
    for name, chart in charts.items():
        assert isinstance(chart, altair.TopLevelMixin), name
        assert chart.to_dict()["title"]


@pytest.mark.slow
def test_two_runs_are_compared(results: arena.Results) -> None:
    """The one that is asked is the base; names that are equal are told apart."""
    other = arena.run(["greedy", "denier"], pairs=2, seed=7, progress=False)
    report = results.report(other)
    assert repr(report) == "<report: run (2), compared with run (1)>"
    assert "No bot has changed" in report.markdown()
    assert "Not in run (1): denier of run (2)." in report.markdown()


@pytest.mark.slow
def test_a_comparison_has_a_report() -> None:
    """With its verdict at the beginning."""
    comparison = arena.compare("denier", "uniform", seed=1, max_pairs=16, progress=False)
    assert "ratio-path" in comparison.results.report().charts


def test_a_run_without_games_has_no_report(results: arena.Results) -> None:
    """It is said in one line, with its name."""
    from arena.library.results import Results
    from arena.store.store import Store

    empty = Results(results._tournament, Store(None))
    with pytest.raises(arena.InputError, match="run: no game has been played yet"):
        empty.report()
    with pytest.raises(arena.InputError, match="run: no game has been played yet"):
        results.report(empty)


@pytest.mark.slow
def test_a_report_has_the_times_where_there_are_any(results: arena.Results) -> None:
    """They are the clock's, and so in no report of a run that has none."""
    assert "Faults and time" in results.report().markdown()
    from arena.library.rating import ReportedRun, make_run_report

    run = ReportedRun(None, results._tournament, results._store, results._extent)
    assert "Faults and time" not in make_run_report(run, results.timings.head(0)).markdown()
