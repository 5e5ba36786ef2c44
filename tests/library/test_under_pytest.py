"""A user's tests, run by pytest: classes of a test play, and one that does not load is an error."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.executors.test_local import run_python
from tests.tiers import few

CONFTEST = """
import pytest

class Fixed:
    def __init__(self, setup):
        pass

    def choose(self, view, /):
        assert view.legal  # pytest writes this anew
        return view.legal[0]

@pytest.fixture
def made():
    class Local(Fixed):
        last = False

    return Local
"""
BESIDE = '''\
"""A module in the folder of the tests.

>>> class InDocstring(Beside):
...     def choose(self, view, /):
...         return pick(view)
>>> import arena
>>> print(arena.play(InDocstring, Beside).fault)
None
"""

INDEX = 1

def pick(view):
    return view.legal[INDEX % len(view.legal)]

class Beside:
    def __init__(self, setup):
        pass

    def choose(self, view, /):
        return pick(view)
'''
TEST = """
import arena
import pytest
from beside import Beside
from conftest import Fixed

class Mine:
    def __init__(self, setup, depth=1):
        self.depth = depth

    def choose(self, view, /):
        assert self.depth == 1
        return view.legal[-1]

class Broken:
    assert __name__ == "test_mine", "not in a test"

    def choose(self, view, /):
        return view.legal[-1]
"""
PLAYS = """
def test_they_play(made):
    assert arena.play(Mine, made).fault is None

def test_what_does_not_load_is_an_error():
    with pytest.raises(arena.InputError, match="'python:Broken': .*not in a test") as caught:
        arena.play(Broken, "greedy")
    assert "in Broken\\n" in caught.value.__notes__[0]
"""
RUNS = """
def test_tables_and_comparisons(made):
    results = arena.run([Mine, Beside, Fixed, made, "greedy"], pairs=1, progress=False)
    assert (len(results.games), len(results.faults)) == (20, 0)
    compared = arena.compare(Mine, Beside, max_pairs=4, progress=False)
    assert len(compared.results.faults) == 0

@pytest.mark.parametrize("call", [arena.run, lambda bots: arena.compare(*bots)])
def test_no_call_makes_a_table_of_forfeits(call):
    for bots, reason in (
        (["greedy", Broken], "not in a test"),
        (["greedy", {"bot": Mine, "params": {"width": 1}}], "the bot takes depth"),
        (["greedy", Mine.choose], "the bot takes view"),
        (["greedy", lambda setup: Mine(setup)], "a lambda has no name"),
    ):
        with pytest.raises(arena.InputError, match=reason):
            call(bots)
"""


def passed(folder: Path, test: str, *options: str) -> int:
    """Run the tests of a user in a folder, and return how many have passed.

    Fails, with what was printed, if one has failed.
    """
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "beside.py").write_text(BESIDE)
    (folder / "test_mine.py").write_text(TEST + test)
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    done = run_python(*words, folder=folder)
    found = re.search(r"^(\d+) passed(?:, \d+ warnings?)? in ", done.stdout, re.MULTILINE)
    assert found, done.stdout
    return int(found[1])


@pytest.mark.slow
def test_the_tests_of_a_user_play_with_classes_of_their_own(tmp_path: Path) -> None:
    """Of the test, and of a fixture, which is built on one of conftest.py."""
    assert passed(tmp_path, PLAYS, "-p", "no:xdist") == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    few([(), ("-n", "2"), ("--import-mode=importlib",)], 0, 1),
    ids=["one", "xdist", "importlib"],
)
def test_so_do_tests_of_tables_and_comparisons(tmp_path: Path, options: tuple[str, ...]) -> None:
    """In one process and in those of pytest-xdist, however pytest imports the tests.

    Classes of a module beside them and of its docstring play, too.
    """
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    assert passed(tmp_path, PLAYS + RUNS, "--doctest-modules", *options) == 6
