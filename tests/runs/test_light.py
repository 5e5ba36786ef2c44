"""Without the libraries of the extras a run has all its files; what needs one says so at once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from arena.addons.rl.exact import Exact
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET, read_spending
from arena.runs import run as runs
from arena.runs.verify import verify
from arena.store.folder import RunFolder, locate
from arena.tournament.config import convert, make_tournament
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.kit import HERE

if TYPE_CHECKING:
    from collections.abc import Iterator

HIDDEN = ("networkx", "scipy")
PAGE = "report.html"

Light = Callable[[], AbstractContextManager[None]]


@pytest.fixture
def light(monkeypatch: pytest.MonkeyPatch) -> Light:
    """Return what hides the libraries of the extras for a while."""

    def find_nothing(name: str) -> ModuleSpec | None:
        assert name in HIDDEN
        return None

    @contextmanager
    def hide() -> Iterator[None]:
        with monkeypatch.context() as patch:
            for module in ("tournament.swiss_rounds", "rl.exact"):
                patch.setattr(f"arena.{module}.find_spec", find_nothing)
            yield

    return hide


def play(folder: Path) -> None:
    entries = [resolve(name) for name in ("greedy", "uniform", "denier")]
    runs.run(Tournament("cup", 3, 2, entries, STANDARD), HERE, RunFolder(folder), QUIET)


@pytest.mark.slow
def test_verify_says_that_a_page_was_never_written(tmp_path: Path) -> None:
    """Earlier versions wrote it only with an extra; the other files are compared."""
    play(tmp_path)
    compared = [line for line in verify(tmp_path, 0, HERE) if "report" in line or "files" in line]
    assert compared == ["files: 13 compared"]
    locate(tmp_path, PAGE).unlink()
    lines = [*verify(tmp_path, 0, HERE)]
    assert "files: 12 compared" in lines
    assert "report.html: not there; `arena report` writes it" in lines


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
