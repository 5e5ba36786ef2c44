"""A run leaves its program as it was: a script, a notebook, pytest; and plays the same there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests import ROOT
from tests.kit import count_games, run_python
from tests.waiting import PATIENCE, until

PLAY = """
import arena

class First:
    def __init__(self, setup):
        pass

    def choose(self, view, /):
        return int(next(iter({str(action) for action in view.legal})))

def play(**how):
    settings = {"pairs": 2, "seed": 7, "lane": "inproc", "progress": False} | how
    results = arena.run(["uniform", "greedy", First], **settings)
    return results.games.to_csv()

def play_ours():
    arena.run(["uniform", "greedy", "journeyman"], pairs=2, progress=False)
"""
AROUND = """
import logging, multiprocessing, os, random, signal, sys, threading, warnings
import psutil

def around():
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)
    log = logging.getLogger("arena")
    umask = os.umask(0o22)
    os.umask(umask)
    return {
        "method": multiprocessing.get_start_method(allow_none=True),
        "handlers": [signal.getsignal(number) for number in numbers],
        "mask": signal.pthread_sigmask(signal.SIG_BLOCK, []),
        "wakeup": signal.set_wakeup_fd(-1),
        "environment": dict(os.environ),
        "main": sys.modules["__main__"],
        "descriptors": sorted(os.readlink(f"/proc/self/fd/{name}").split(":")[0]
                              for name in os.listdir("/proc/self/fd")
                              if os.path.exists(f"/proc/self/fd/{name}")),
        "threads": sorted(thread.name for thread in threading.enumerate()),
        "children": psutil.Process().children(),
        "folder": (os.getcwd(), umask),
        "path": sys.path[:],
        "log": (log.level, log.propagate, log.disabled, log.handlers[:], log.filters[:]),
        "warnings": warnings.filters[:],
        "random": random.getstate(),
        "hooks": (sys.excepthook, sys.unraisablehook, threading.excepthook),
    }

signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
play(), play_ours()
before = around()
play(workers=1)
play(out="out")
play_ours()
threads = [threading.Thread(target=one) for one in 2 * [play, play_ours]]
for thread in threads: thread.start()
for thread in threads: thread.join()
after = around()
for name, value in before.items():
    assert value == after[name], (name, value, after[name])
assert before["method"] is None and before["children"] == []
multiprocessing.set_start_method("spawn")
"""


def printed(folder: Path, text: str, **environment: str) -> str:
    """Return what a script prints; it complains of nothing."""
    (folder / "script.py").write_text(text)
    done = run_python("script.py", folder=folder, environment=environment)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs Linux's list of descriptors")
def test_a_run_leaves_nothing_in_the_program_around_it(tmp_path: Path) -> None:
    """Neither of its own process nor of others: signals, environment, files, threads, children.

    What is imported stays; a first run has imported it. Four runs at once are in threads: no worker
    plays the bots of ours.
    """
    printed(tmp_path, PLAY + AROUND)


DAEMON = """
import multiprocessing
if __name__ == "__main__":
    with multiprocessing.get_context("forkserver").Pool(2) as pool:
        games = pool.map(one, [1, 2])
    assert games == [play(), play()], games
"""
EXECUTOR = """
from concurrent.futures import ProcessPoolExecutor
import multiprocessing
if __name__ == "__main__":
    expected = play()
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        assert [*pool.map(one, [1, 2])] == [expected, expected]
    assert play() == expected
"""
THREADS = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(3) as pool:
    assert len({*pool.map(one, [1, 2, 3])}) == 1
"""
ONE = """
def one(number):
    return play(workers=number)
"""


BUILT = """
import sys
import arena
called, built = [], []
def see(frame, event, _):
    called.append(frame.f_code.co_name)
    if event == "call" and called[-1] == "get_class_annotations":
        callers = []
        while frame := frame.f_back:
            callers.append(frame.f_code.co_name)
        # no import is under way but this program, and no lock is held
        if callers.count("<module>") == 1 and "converted" not in callers:
            built.append(callers[0])
sys.setprofile(see)
arena.run(["uniform", "greedy"], pairs=2, lane="inproc", out="run", progress=False)
arena.open("run")
sys.setprofile(None)
assert {"convert", "make_tournament", "get_class_annotations"} <= {*called}
assert not built, built
"""


@pytest.mark.slow
def test_no_type_is_built_in_a_thread(tmp_path: Path) -> None:
    """msgspec does so where one is read first: two threads crashed. `converted` has a lock."""
    printed(tmp_path, BUILT)


@pytest.mark.slow
@pytest.mark.parametrize("how", [DAEMON, EXECUTOR, THREADS], ids=["daemon", "executor", "threads"])
def test_a_run_in_a_child_or_a_thread_of_a_program_is_the_same(tmp_path: Path, how: str) -> None:
    """Also in a daemon of multiprocessing, which may have no children of multiprocessing."""
    printed(tmp_path, PLAY + ONE + how)


if TYPE_CHECKING:
    from jupyter_client.blocking.client import BlockingKernelClient

CELL = """
from __future__ import annotations
import arena
from engine import Setup, View
from arena.library.bot_from_class import bundle

class Base:
    def __init__(self, setup: Setup) -> None:
        self.rng = setup.rng
"""
SECOND_CELL = """
class Mine(Base):
    def choose(self, view: View):
        return self.rng.choice(view.legal)

old = Mine

class Mine(Base):
    def choose(self, view: View):
        return view.legal[0]

class Alone:
    def __init__(self, setup):
        assert Setup

    def choose(self, view):
        return view.legal[0]
"""

PLAYING = [
    "assert b'from engine import Setup' in bundle(Alone).source",
    "assert b'uses \\'Base\\' of its module' in bundle(Mine).source",
    "assert not len(arena.run([Alone, 'greedy'], pairs=1).faults)",
    "results = arena.run([Mine, ('old', old), 'greedy'], pairs=1)",
    "assert not len(results.faults), results.faults",
    "games = [results.game(label, 'greedy') for label in ('Mine', 'old')]",
    "assert games[0].record.actions != games[1].record.actions",
]


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[tuple[Any, BlockingKernelClient]]:
    """A kernel and its client; the working folder is the test's."""
    from jupyter_client.manager import start_new_kernel

    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    manager, client = start_new_kernel(
        startup_timeout=PATIENCE, kernel_name="python3", cwd=str(tmp_path), env=environment
    )
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def run_cell(client: BlockingKernelClient, text: str) -> dict[str, Any]:
    """Run a cell, and return the kernel's reply."""
    reply: dict[str, Any] = client.execute_interactive(
        text, timeout=PATIENCE, output_hook=lambda _: None
    )
    return reply["content"]  # type: ignore[no-any-return]


@pytest.mark.slow
def test_classes_of_cells_play(kernel: tuple[Any, BlockingKernelClient]) -> None:
    """Also the one that a later class of the same name has replaced."""
    _, client = kernel
    for cell in (CELL, SECOND_CELL):
        assert run_cell(client, cell)["status"] == "ok"
    for cell in PLAYING:
        content = run_cell(client, cell)
        assert content["status"] == "ok", content


@pytest.mark.slow
def test_the_interrupt_button_keeps_what_was_played(
    kernel: tuple[Any, BlockingKernelClient], tmp_path: Path
) -> None:
    """The kernel goes on, the exception has the results, and so has the folder."""
    manager, client = kernel
    assert run_cell(client, CELL)["status"] == "ok"
    long = "arena.run(['uniform', 'greedy'], pairs=100_000, out='long')"
    client.execute(long, stop_on_error=False)  # else what comes next may be aborted, too

    folder = tmp_path / "long"
    until(lambda: count_games(folder) or client.shell_channel.msg_ready())
    assert count_games(folder), client.get_shell_msg(timeout=PATIENCE)
    manager.interrupt_kernel()
    reply = client.get_shell_msg(timeout=PATIENCE)
    while reply["content"].get("status") != "error":
        reply = client.get_shell_msg(timeout=PATIENCE)
    assert reply["content"]["ename"] == "Interrupted"
    check = "import sys; assert sys.last_value.results.played == arena.open('long').played > 0"
    assert run_cell(client, check)["status"] == "ok"


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
    """In the processes of pytest-xdist, and where pytest imports the tests in another way.

    Classes of a module beside them and of its docstring play, too.
    """
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    options = ("--doctest-modules", "-n", "2", "--import-mode=importlib")
    assert passed(tmp_path, PLAYS + RUNS, *options) == 6
