"""A run leaves the program that calls it as it was, and plays the same whatever that has done."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.executors.test_local import run_python
from tests.tiers import few

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
"""
FORKSERVER = """
import hashlib, multiprocessing, os, sys

def report():
    names = ("PYTHONHASHSEED", "OMP_NUM_THREADS")
    return [os.environ.get(name) for name in names], sys.flags.safe_path, "arena" in sys.modules

def hash_of(text):
    return hashlib.sha256(text.encode()).hexdigest()

def seen():
    with multiprocessing.get_context("forkserver").Pool(1) as pool:
        return pool.apply(report)
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
    printed(
        tmp_path,
        PLAY
        + AROUND
        + "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n"
        + "play(), play_ours()\n"
        + "before = around()\n"
        + "play(workers=1)\n"
        + "play(out='out')\n"
        + "play_ours()\n"
        + "threads = [threading.Thread(target=one) for one in 2 * [play, play_ours]]\n"
        + "for thread in threads: thread.start()\n"
        + "for thread in threads: thread.join()\n"
        + "after = around()\n"
        + "for name, value in before.items():\n"
        + "    assert value == after[name], (name, value, after[name])\n"
        + "assert before['method'] is None and before['children'] == []\n"
        + "multiprocessing.set_start_method('spawn')\n",
    )


@pytest.mark.study
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_fork_server_of_the_program_knows_nothing_of_the_run(tmp_path: Path, when: str) -> None:
    """Neither one that it had nor one that it starts later; and it changes no game.

    One bot of it plays by the order of a set of texts.
    """
    ask, play = "    print(seen())\n", "    print(hash_of(play()))\n"
    steps = ask + play + ask if when == "before" else play + ask
    text = PLAY + FORKSERVER + "if __name__ == '__main__':\n"
    plain = printed(tmp_path, text + play, PYTHONHASHSEED="1")
    *others, last = printed(tmp_path, text + steps, PYTHONHASHSEED="2").splitlines()
    assert last == "(['2', None], False, True)"
    assert plain.strip() in others


DAEMON = """
import multiprocessing
if __name__ == "__main__":
    with multiprocessing.get_context({how!r}).Pool(2) as pool:
        games = pool.map(one, [1, 2])
    assert games == [play(), play()], games
"""
JOBLIB = """
from joblib import Parallel, delayed
if __name__ == "__main__":
    assert Parallel(n_jobs=2)(delayed(one)(n) for n in (1, 2)) == [play(), play()]
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
DASK = """
from distributed import Client
if __name__ == "__main__":
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:
        assert client.gather(client.map(one, [1, 2])) == [play(), play()]
"""
THREADS = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(3) as pool:
    assert len({*pool.map(one, [1, 2, 3])}) == 1
"""
ASYNCIO = """
import asyncio
async def main():
    games = await asyncio.gather(asyncio.to_thread(one, 1), asyncio.to_thread(one, 2))
    assert games == [one(1), one(2)]
asyncio.run(main())
"""
ONE = """
def one(number):
    return play(workers=number)
"""
CHILDREN = {
    "fork": DAEMON.format(how="fork"),
    "spawn": DAEMON.format(how="spawn"),
    "forkserver": DAEMON.format(how="forkserver"),
    "joblib": JOBLIB,
    "executor": EXECUTOR,
    "dask": DASK,
    "threads": THREADS,
    "asyncio": ASYNCIO,
}


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
        if callers.count("<module>") == 1:  # that of this program: no import is under way
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
    """msgspec does so where one is read first: two threads crashed. An import has a lock."""
    printed(tmp_path, BUILT)


@pytest.mark.slow
@pytest.mark.parametrize(
    "how",
    few(CHILDREN, 1, 0),
)
def test_a_run_in_a_child_or_a_thread_of_a_program_is_the_same(tmp_path: Path, how: str) -> None:
    """Also in a daemon of multiprocessing, which may have no children of multiprocessing."""
    if how in ("joblib", "dask"):
        pytest.importorskip({"joblib": "joblib", "dask": "distributed"}[how])
    printed(tmp_path, PLAY + ONE + CHILDREN[how])
