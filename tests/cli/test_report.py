"""`arena report`: a run's report again, and the comparison of runs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import Arena, Once, run_here
from tests.stores import forge


def play(folder: Path) -> None:
    """Play three runs."""
    for name, words in {
        "one": ("greedy", "uniform", "mine=greedy(patience=2.5)"),
        "two": ("greedy", "uniform", "mine=greedy(patience=1)"),
        "three": ("majority", "denier"),
    }.items():
        done = run_here(folder, "play", *words, "--pairs", "4", "--seed", "3", "--out", name, "-q")
        assert done.returncode == 0, done.stderr


@pytest.fixture
def runs(once: Once, tmp_path: Path) -> Path:
    """Return the folder of the test, with a copy of the runs."""
    shutil.copytree(once("reported", play), tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.mark.slow
def test_a_run_is_written_again_with_the_time_that_bots_took(arena: Arena, runs: Path) -> None:
    """In its folder, twice the same; a run's own report has no clock reading."""
    before = (runs / "one" / "report.md").read_text()
    done = arena("report", "one")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "report in one/report.html and one/report.md\n"
    after = (runs / "one" / "report.md").read_text()
    assert "Time" not in before.split("## Head to head")[0]
    assert "Time" in after.split("## Head to head")[0]
    assert arena("report", "one").returncode == 0
    assert (runs / "one" / "report.md").read_text() == after
    assert arena("verify", "one", "--sample", "0").returncode == 0


@pytest.mark.slow
def test_runs_are_compared_in_results_or_where_it_is_asked_for(arena: Arena, runs: Path) -> None:
    """HTML, and Markdown beside it; the first is the base."""
    done = arena("report", "one", "two")
    assert done.stdout == "report in results/report-one-two.html and results/report-one-two.md\n"
    text = (runs / "results" / "report-one-two.md").read_text()
    assert "# two, compared with one\n" in text
    assert "| two | mine@two | mine |" in text
    many = arena("report", "one", "two", "three")
    assert "results/report-one-two-and-1-more.html" in many.stdout
    assert (runs / "results" / "report-one-two-and-1-more.html").is_file()
    assert arena("report", "one", "two", "--out", "deep/er/page.html").returncode == 0
    assert (runs / "deep/er/page.md").read_text() == text


def test_nothing_but_an_earlier_report_is_replaced(arena: Arena, runs: Path) -> None:
    """Neither a page nor a text of somebody else, nor a folder."""
    for name in ("page.html", "notes.md"):
        (runs / name).write_text("mine")
    (runs / "folder.html").mkdir()
    for out, named in (("page", "page.html"), ("notes", "notes.md"), ("folder", "folder.html")):
        done = arena("report", "one", "--out", f"{out}.html")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"error: {named}: ")
        assert done.stderr.count("\n") == 1
    assert (runs / "page.html").read_text() == (runs / "notes.md").read_text() == "mine"
    assert not (runs / "notes.html").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["one", "./one"], "error: one: the same run as one; name different ones"),
        (["one", "two", "link"], "error: link: the same run as two; name different ones"),
        (["nothing"], "error: nothing: no such file or run"),
        (["one", "nothing"], "error: nothing: no such file or run"),
        (["."], "error: .: not a run, but holds runs: empty, link, one, three, two"),
        (["one", "--out", "page.txt"], "error: --out page.txt: not the name of a page, such as"),
        (["empty"], "error: empty: no game has been played yet"),
        (["one", "empty"], "error: empty: no game has been played yet"),
        ([], "error: Missing argument 'RUN|FILE [RUN ...]'"),
    ],
)
def test_what_cannot_be_reported_is_one_line(
    arena: Arena, runs: Path, words: list[str], message: str
) -> None:
    """With exit status 2, and nothing is written."""
    (runs / "link").symlink_to("two")
    shutil.copytree(runs / "three", runs / "empty")
    forge(runs / "empty" / "run.sqlite", "DELETE FROM games")
    done = arena("report", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == 1
    assert not (runs / "results").exists()


@pytest.mark.slow
def test_a_run_under_way_is_reported_as_it_is(arena: Arena, runs: Path) -> None:
    """The report says how many games there are; the store stays as it was."""
    forge(runs / "one" / "run.sqlite", "DELETE FROM games WHERE pairing = 2 OR pair > 2")
    before = (runs / "one" / "run.sqlite").read_bytes()
    assert arena("report", "one", "--out", "page.html").returncode == 0
    assert "Not finished: 12 of 24 games." in (runs / "page.md").read_text()
    assert arena("report", "two", "one", "--out", "both.html").returncode == 0
    assert "Not finished, so as far as it was played: one." in (runs / "both.md").read_text()
    assert (runs / "one" / "run.sqlite").read_bytes() == before
