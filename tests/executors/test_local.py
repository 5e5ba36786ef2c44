"""Workers start in any program, end with their parent, and play no deal twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.errors import ArenaError, WorkerDied
from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET, RunLog
from arena.executors.member import Member
from arena.lanes.scratch import scratch_folder
from arena.runs.run import run
from arena.store.store import Store
from arena.tournament.plan import Plan
from arena.tournament.schedule import Pairing
from arena.tournament.strikes import Strikes
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.kit import run_python
from tests.rogues import FOLDER, first
from tests.runs.test_resume import left_over, runs_in
from tests.tiers import few
from tests.waiting import until

IMPORTS = """
from arena.entries.resolve import resolve
from arena.executors.local import LocalExecutor
from arena.runs.run import run
from arena.tournament.tournament import Tournament
from engine import STANDARD
"""
PLAY = f"""{IMPORTS}
bots = [resolve("greedy"), resolve("uniform", lane="process")]

def main():
    results = run(Tournament("script", 0, 4, bots, STANDARD), LocalExecutor(2))
    print("played", results.played)
"""
CALLED = PLAY + "main()\n"
IN_A_THREAD = (
    PLAY + "import threading\nthread = threading.Thread(target=main)\nthread.start()\nthread.join()"
)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["thread", "python -m"])
def test_a_program_without_a_main_guard_plays(tmp_path: Path, how: str) -> None:
    """No worker imports it again; tests/library has scripts, standard input and -c."""
    (tmp_path / "script.py").write_text(IN_A_THREAD if how == "thread" else CALLED)
    words = ["script.py"] if how == "thread" else ["-m", "script"]
    done = run_python(*words, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "played 8\n"


NETWORK = """
import os
threads = len(os.listdir("/proc/self/task"))
import numpy

class Network:
    def __init__(self, setup):
        square = numpy.ones((500, 500))
        square @ square
        assert len(os.listdir("/proc/self/task")) == threads

    def choose(self, view):
        return view.legal[0]

bot = Network
"""
FORFEITS = f"""{IMPORTS}
import os, sys
from arena.threads import THREADS

for name in THREADS:
    os.environ.pop(name, None)
bots = [resolve("network.py", lane=sys.argv[1]), resolve("uniform")]
results = run(Tournament("threads", 0, 1, bots, STANDARD), LocalExecutor(1))
print(sum(row["forfeits"] for row in results.standings))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux's list of threads")
@pytest.mark.parametrize("lane", [pytest.param("inproc", marks=pytest.mark.slow), "process"])
def test_a_bot_that_multiplies_matrices_starts_no_threads(tmp_path: Path, lane: str) -> None:
    """Every core has a worker already, so a network that took them all would make all wait."""
    (tmp_path / "network.py").write_text(NETWORK)
    done = run_python("-c", FORFEITS, lane, folder=tmp_path)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "0\n")


class Unready:
    """Ends the process in which it is unpickled."""

    def __init__(self, how: str) -> None:
        self.how = how

    def __reduce__(self) -> tuple[object, tuple[str, int]]:
        return (end_here, (self.how, os.getpid()))


def end_here(how: str, maker: int) -> None:
    if os.getpid() == maker:
        raise AssertionError("only a worker unpickles the tournament")
    if how == "raises":
        raise RuntimeError("no room at the inn")
    if how == "exits":
        os._exit(7)
    os.kill(os.getpid(), signal.SIGSEGV)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("dies", "ended by SIGSEGV"),
        ("raises", "RuntimeError: no room at the inn"),
        ("exits", "ended with exit status 7"),
    ],
)
def test_a_worker_that_dies_before_its_first_sign_of_life_ends_the_run(
    how: str, reason: str
) -> None:
    """The error has its last message, if any; the chunk is not played again."""
    bots = [resolve("greedy", params={}, lane="process"), resolve("uniform")]
    bots[0].params["unready"] = Unready(how)
    tournament = Tournament("unready", 0, 5, bots, STANDARD)
    plan = Plan([[range(5)]], Strikes(tournament.pairings, 5, most=10))
    with pytest.raises(WorkerDied) as caught:
        list(LocalExecutor(1).play(plan, tournament, RunLog([])))
    assert str(caught.value) == f"a worker process did not start: {reason}"


@pytest.mark.slow
def test_a_run_that_fails_in_the_middle_leaves_no_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does it while its exception is kept, as a notebook keeps the last one."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(Store, "add", fail)
    bots = [resolve("greedy"), resolve("uniform", lane="process")]
    with pytest.raises(ArenaError, match="no space") as kept:
        run(Tournament("fails", 0, 4, bots, STANDARD), LocalExecutor(2), None, QUIET)
    assert kept.tb is not None
    assert [*tmp_path.iterdir()] == []


def fail(*_: object) -> None:
    raise ArenaError("no space")


@pytest.mark.slow
def test_ctrl_c_while_a_worker_is_buried_leaves_nothing_and_is_no_fault(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The crew is then ended once more, with the worker that is half gone."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    close, calls = Member._close, []

    def interrupted(member: Member) -> None:
        close(member)
        calls.append(member)
        if len(calls) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(Member, "_close", interrupted)
    bots = [resolve(name, lane="process") for name in ("greedy", "uniform")]
    plan = Plan([[range(4)]], Strikes([Pairing("greedy", "uniform")], 4, 1000))
    tournament = Tournament("test", 0, 4, bots, STANDARD)

    def play_all() -> None:
        for played in LocalExecutor(1).play(plan, tournament, RunLog([])):
            plan.learn(played)

    with pytest.raises(KeyboardInterrupt):
        play_all()
    assert len(calls) == 2
    assert [*tmp_path.iterdir()] == []


@pytest.mark.slow
@pytest.mark.parametrize("lane", ["process", "inproc"])
def test_a_bot_that_holds_the_interpreter_ends_with_the_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lane: str
) -> None:
    """It never lets its worker's other threads run; the next run removes the folder."""
    for name in ("TMPDIR", "PYTEST_CUP"):
        monkeypatch.setenv(name, str(tmp_path))
    mark = tmp_path / "mark"
    bot = {
        "bot": str(FOLDER / "holds.py"),
        "label": "holds",
        "params": {"mark": str(mark)},
        "lane": lane,
    }
    config = {"pairs": 1, "bots": ["uniform", bot], "limits": {"decision": 600}}
    (tmp_path / "cup.yaml").write_text(json.dumps(config))
    run = subprocess.Popen(
        [sys.executable, "-m", "arena", "run", "cup.yaml", "--quiet", "--workers", "1"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until(lambda: mark.exists() or run.poll() is not None)
        assert run.poll() is None
        run.kill()
        run.wait()
        until(lambda: left_over(tmp_path) == [])
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        with scratch_folder() as own:
            assert runs_in(tmp_path) == [own]
    finally:
        for process in left_over(tmp_path):
            with suppress(psutil.Error):
                os.kill(process.pid, signal.SIGKILL)


PAIRS = 12


def paired(panel: Entry, pairs: int = PAIRS, new: Sequence[str] = ("greedy",)) -> Tournament:
    """Return a tournament in which greedy, or some bots, replace uniform against one bot."""
    bots = [*map(resolve, new), resolve("uniform"), panel]
    return Tournament("paired", 3, pairs, bots, STANDARD, panel=1, paired=True)


def test_both_versions_meet_the_same_deals_with_the_same_luck() -> None:
    """Those of the old one, which a tournament without the new one has, too."""
    tournament = paired(resolve("denier"))
    new, old = tournament.pairings
    alone = Tournament("alone", 3, PAIRS, tournament.entries[1:], STANDARD)
    for pair in range(3):
        for seat in (0, 1):
            draws = [
                tournament.draw(tournament.fixture(0, pair, seat)),
                tournament.draw(tournament.fixture(1, pair, seat)),
                alone.draw(alone.fixture(0, pair, seat)),
            ]
            assert draws[0] == draws[1] == draws[2]
    assert (new.bot, old.bot) == ("greedy", "uniform")
    assert tournament.part(new, 0) != tournament.part(old, 0)


def test_many_versions_meet_the_same_deals_in_parts_of_their_own() -> None:
    """Those of the last one; no two games of a deal are in one part."""
    bots = [*map(resolve, ("greedy", "timing", "uniform", "denier", "majority"))]
    tournament = Tournament("paired", 3, PAIRS, bots, STANDARD, panel=2, paired=True)
    assert tournament.new_pairings == {0, 1, 2, 3}
    assert [*map(tournament.old_pairing, range(6))] == [4, 5, 4, 5, 4, 5]
    assert [*map(tournament.version_of, range(6))] == [2, 2, 1, 1, 0, 0]
    for opponent in (0, 1):
        draws = [
            tournament.draw(tournament.fixture(bot + opponent, 1, seat))
            for bot in (0, 2, 4)
            for seat in (0, 1)
        ]
        assert draws == draws[:1] * 6
        parts = {
            tournament.part(tournament.pairings[bot], seat) for bot in (0, 2, 4) for seat in (0, 1)
        }
        assert len(parts) == 6


def records(
    panel: Entry, workers: int, new: Sequence[str] = ("greedy",)
) -> dict[tuple[int, int, int], str]:
    """Return the actions of the games against a bot, by pairing, pair and seat."""
    tournament = paired(panel, 4, new)
    plan = Plan([[range(4)]] * len(tournament.pairings), Strikes(tournament.pairings, 4, most=9))
    results = {}
    for chunk in LocalExecutor(workers).play(plan, tournament, RunLog([])):
        plan.learn(chunk)
        number = chunk.chunk.pairing
        results |= {(number, *result[:2]): result.actions for result in chunk.results}
    return results


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lane", "workers"),
    few([("process", 2), ("process", 4)], 1, 0, unpack=True),
)
@pytest.mark.parametrize("new", few([("greedy",), ("greedy", "denier", "timing")], 1, 1))
def test_an_opponent_does_not_meet_a_deal_again(
    lane: str, workers: int, new: Sequence[str]
) -> None:
    """It would play otherwise in another version's game."""
    rogue = resolve(str(FOLDER / "meets_again.py"), "rogue", {}, lane)
    assert records(rogue, workers, new) == records(first("rogue", "process"), 1, new)
