"""The contract of executors: each game once, the same bytes and faults, nothing left."""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, suppress
from multiprocessing import get_context
from pathlib import Path

import psutil
import pytest

from arena.addons.cluster.pool import PoolExecutor
from arena.entries.resolve import resolve
from arena.executors.local import Executor, LocalExecutor
from arena.executors.log import RunLog
from arena.executors.worker import Worker
from arena.lanes.limits import Limits
from arena.lanes.scratch import scratch_folder
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Plan, Played
from arena.tournament.strikes import Strikes
from arena.tournament.tournament import Tournament
from engine import STANDARD, Record
from engine.cards import to_text
from tests.rogues import rogue
from tests.tiers import tier

LOG = RunLog([])
PAIRS = 4


class InThisProcess:
    """Plays in this process; a minimal executor."""

    def play(self, plan: Plan, tournament: Tournament, log: RunLog) -> Iterator[Played]:
        assert log is LOG
        with scratch_folder() as folder, closing(Worker(tournament, folder)) as worker:
            while chunk := plan.next():
                travelled: Chunk = pickle.loads(pickle.dumps(chunk))
                yield pickle.loads(pickle.dumps(worker.play(travelled)))


class TwoProcesses:
    """Plays on a pool of processes, which ends with the run."""

    def play(self, plan: Plan, tournament: Tournament, log: RunLog) -> Iterator[Played]:
        with ProcessPoolExecutor(2, get_context("spawn")) as pool:
            yield from PoolExecutor(pool, lambda: 2, "processes").play(plan, tournament, log)


EXECUTORS = {
    "one": LocalExecutor(1),
    "three": LocalExecutor(3),
    "pool": TwoProcesses(),
    "here": InThisProcess(),
}
SLOW = ("one", "here")
"""Three workers do what one does, and each executor is compared with what is played here."""


def each(*slow: str, study: Sequence[str] = ()) -> pytest.MarkDecorator:
    """Return the mark of a test of each executor, of which some are slow or for the study."""
    params = [
        pytest.param(executor, id=name, marks=tier((name in slow) + 2 * (name in study), 1, 1))
        for name, executor in EXECUTORS.items()
    ]
    return pytest.mark.parametrize("executor", params)


@pytest.fixture
def honest() -> Tournament:
    """Return a tournament of bots in the worker's process and a bot in its own."""
    bots = [resolve("uniform"), resolve("greedy"), resolve("remote=greedy", lane="process")]
    return Tournament("contract", 3, PAIRS, bots, STANDARD)


def plan_for(tournament: Tournament, pairings: int = 99) -> Plan:
    """Return a plan of every game of the first `pairings` pairings."""
    strikes = Strikes(tournament.pairings, tournament.pairs, most=1000)
    return Plan([[range(tournament.pairs)]] * len(tournament.pairings[:pairings]), strikes)


def played(
    tournament: Tournament, executor: Executor, pairings: int = 99
) -> dict[tuple[int, int, int], GameResult]:
    """Return the games' results by place; no game comes twice."""
    plan = plan_for(tournament, pairings)
    results = {}
    for chunk in executor.play(plan, tournament, LOG):
        plan.learn(chunk)
        for result in chunk.results:
            place = (chunk.chunk.pairing, *result[:2])
            assert place not in results
            results[place] = result
    return results


@each("pool", study=SLOW)
def test_every_game_comes_back_once_and_is_the_same(honest: Tournament, executor: Executor) -> None:
    """Whichever executor plays it, and in any order."""
    results = played(honest, executor)
    assert len(results) == honest.games == 3 * PAIRS * 2
    for (number, pair, seat), result in results.items():
        deal = to_text(honest.fixture(number, pair, seat).draw(honest.seed).deal)
        assert Record(deal, result.actions).replay().over
    assert results == played(honest, EXECUTORS["here"])


@pytest.mark.slow
@each("here", "three", study=("one", "pool"))
def test_faults_are_the_same(executor: Executor) -> None:
    """Kind, message and evidence are equal game by game, also where a process has died."""
    names = ("raises_boom", "answers_99", "exits_at_once", "not_python", "says_rubbish")
    rogues = [rogue(name) for name in names]
    tournament = Tournament(
        "contract", 3, 1, [resolve("uniform"), *rogues], STANDARD, Limits(memory=256)
    )
    results = played(tournament, executor, len(rogues))
    kinds = ["exception", "illegal", "crash", "import", "protocol"]
    for number, kind in enumerate(kinds):
        faults = [results[number, 0, seat].fault for seat in (0, 1)]
        assert [fault and fault.kind for fault in faults] == [kind] * 2
    assert results == played(tournament, EXECUTORS["here"], len(rogues))


@pytest.mark.slow
@each(*SLOW, "pool")
def test_closed_early_it_leaves_no_process_and_no_file(
    honest: Tournament, executor: Executor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The processes of workers and bots have ended when `close` returns."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # of other processes
    chunks = executor.play(plan_for(honest), honest, LOG)
    next(chunks)
    if executor is not EXECUTORS["pool"]:  # whose workers end with each call
        assert list(tmp_path.iterdir()) != []
    chunks.close()
    assert list(tmp_path.iterdir()) == []
    assert [p for p in psutil.process_iter() if works_in(p, str(tmp_path))] == []


def works_in(process: psutil.Process, folder: str) -> bool:
    """Return whether a process, if it still runs, works in a folder."""
    with suppress(psutil.Error):
        return process.cwd().startswith(folder)
    return False


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_the_chunk_of_a_dead_worker_is_played_again(
    honest: Tournament, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    """A worker is killed after each of the first three chunks; the results do not change."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    plan = plan_for(honest)
    results = []
    for number, chunk in enumerate(LocalExecutor(workers).play(plan, honest, LOG)):
        plan.learn(chunk)
        results += [((chunk.chunk.pairing, *result[:2]), result) for result in chunk.results]
        if number < 3:
            kill_one(tmp_path)
    assert len(results) == len(dict(results)) == honest.games
    assert dict(results) == played(honest, EXECUTORS["here"])


def kill_one(folder: Path) -> None:
    """Kill one worker that works below a folder."""
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            place = Path(process.cwd())
            if folder in place.parents and place.name.startswith("worker-"):
                assert process.pid != os.getpid()
                process.kill()
                return
