"""Without the libraries of the extras a run has all its tables, and says what it does not have."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import arena as library
from arena.addons.rl.exact import Exact
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.executors.local import LocalExecutor
from arena.executors.log import NORMAL, QUIET, read_spending
from arena.reports.html import chart_bundle
from arena.runs import run as runs
from arena.runs.verify import verify
from arena.store.folder import RunFolder, locate
from arena.tournament.config import convert, make_tournament
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.conftest import Arena
from tests.kit import HERE, same_files

if TYPE_CHECKING:
    from collections.abc import Iterator

LACK = "vl-convert-python is not installed; pip install 'district-noir-arena[report]'"
HIDDEN = ("vl_convert", "networkx", "scipy")
PAGE = "report.html"
"""What only a full installation writes."""

Light = Callable[[], AbstractContextManager[None]]


@pytest.fixture
def light(monkeypatch: pytest.MonkeyPatch) -> Light:
    """Return what hides the libraries of the extras for a while."""

    def find_nothing(name: str) -> ModuleSpec | None:
        assert name in HIDDEN
        return None

    @contextmanager
    def hide() -> Iterator[None]:
        runs.say_what_is_missing.cache_clear()
        chart_bundle.cache_clear()
        with monkeypatch.context() as patch:
            for module in (
                "reports.html",
                "tournament.swiss_rounds",
                "rl.exact",
            ):
                patch.setattr(f"arena.{module}.find_spec", find_nothing)
            yield
        runs.say_what_is_missing.cache_clear()

    return hide


def play(folder: Path, pairs: int = 2, shown: int = QUIET) -> None:
    entries = [resolve(name) for name in ("greedy", "uniform", "denier")]
    tournament = Tournament("cup", 3, pairs, entries, STANDARD)
    runs.run(tournament, HERE, RunFolder(folder), shown)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run with all that a full installation writes."""
    folder = tmp_path_factory.mktemp("full")
    play(folder)
    assert PAGE in same_files(folder)
    return folder


@pytest.fixture
def full(made: Path, tmp_path: Path) -> Path:
    """Return a copy of that folder."""
    return Path(shutil.copytree(made, tmp_path / "full"))


@pytest.mark.slow
def test_a_light_run_has_all_other_files_and_says_so_once(
    light: Light, made: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """With the same bytes; a full installation then adds what is missing."""
    with light():
        for name in ("one", "two"):
            play(tmp_path / name, shown=NORMAL)
    told = f"report.html is left out: {LACK}\n"
    assert capfd.readouterr().err.count(told) == 1
    assert told in (tmp_path / "one" / "run.log").read_text()
    here = same_files(tmp_path / "one")
    assert here == {name: text for name, text in same_files(made).items() if name != PAGE}
    play(tmp_path / "one")
    assert same_files(tmp_path / "one") == same_files(made)


@pytest.mark.slow
def test_a_light_run_keeps_a_page_of_the_same_games_and_no_other(light: Light, full: Path) -> None:
    """Nothing was left to play the first time; then there is one pair more."""
    before = same_files(full)
    with light():
        play(full)
        assert same_files(full) == before
        play(full, pairs=3)
    assert PAGE not in same_files(full)
    play(full, pairs=3)
    assert same_files(full).keys() == before.keys()


@pytest.mark.slow
def test_verify_says_what_it_does_not_compare(light: Light, full: Path) -> None:
    """A page where its library is missing, and a page that was never written."""
    compared = [line for line in verify(full, 0, HERE) if "report" in line or "files" in line]
    assert compared == ["files: 13 compared"]
    with light():
        lines = list(verify(full, 0, HERE))
        assert "files: 12 compared" in lines
        assert f"report.html: not compared: {LACK}" in lines
        locate(full, PAGE).unlink()
        assert not [line for line in verify(full, 0, HERE) if "not compared" in line]
    lines = list(verify(full, 0, HERE))
    assert "files: 12 compared" in lines
    assert "report.html: not there; `arena report` writes it" in lines


@pytest.mark.slow
def test_a_page_that_cannot_be_written_is_one_line(
    light: Light, full: Path, arena: Arena, tmp_path: Path
) -> None:
    """Of the command and of the library; a notebook shows the text and the table."""
    with light():
        done = arena("report", "full", "--out", "page.html")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"error: a page with charts: {LACK}\n"
        assert not [*tmp_path.glob("page*")]
        report = library.open(full).report()
        with pytest.raises(InputError, match=r"^a page with charts: vl-convert"):
            report.save(tmp_path / "page.html")
        shown = report._repr_html_()
        assert "cup: 3 bots, seed 3" in shown
        assert "&lt;svg" not in shown
        report.save(tmp_path / "page.md")
    assert arena("report", "full", "--out", "page.html").returncode == 0


def test_what_needs_an_extra_is_refused_before_it_begins(light: Light) -> None:
    """In one line, which says what to install."""
    swiss = {"format": "swiss", "bots": ["greedy", "uniform"], "pairs": 1}
    assert make_tournament(convert(swiss, "cup")).rounds
    with light():
        with pytest.raises(InputError, match=r"^format: swiss: networkx .*arena\[swiss\]'$"):
            make_tournament(convert(swiss, "cup"))
        with pytest.raises(InputError, match=r"^arena.addons.rl: scipy is not .*arena\[rl\]'$"):
            Exact(STANDARD)


SPINNING = """
from time import process_time
class Spinning:
    def __init__(self, setup): pass
    def choose(self, view, /):
        end = process_time() + 0.005
        while process_time() < end: pass
        return view.legal[0]
bot = Spinning
"""


@pytest.mark.slow
def test_a_run_knows_where_the_time_of_the_processor_went(tmp_path: Path) -> None:
    """A bot that spins for 5 ms in each of about 48 decisions of two games has used 0.25 s."""
    (tmp_path / "spinning.py").write_text(SPINNING)
    bots = [resolve(str(tmp_path / "spinning.py"), lane="inproc"), resolve("uniform")]
    spun = Tournament("spun", 5, 1, bots, STANDARD)
    folder = RunFolder(tmp_path / "run")
    spending = runs.run(spun, LocalExecutor(1), folder, QUIET).spending
    assert spending is not None
    assert 0.15 < spending.bots < 0.5
    assert min(spending) >= 0
    assert spending.files > 0
    assert str(spending) == read_spending(folder.log)
    assert runs.run(spun, LocalExecutor(1), folder, QUIET).spending is None  # nothing was played
