"""The contract of executors: each game once, the same bytes and faults, nothing left."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

import psutil
import pytest

from arena.addons.cluster.pool import PoolExecutor
from arena.entries.resolve import resolve
from arena.executors.local import Executor, LocalExecutor
from arena.executors.log import RunLog
from arena.lanes.limits import Limits
from arena.tournament.plan import Plan, Played
from arena.tournament.tournament import Tournament
from engine import STANDARD, Record
from engine.cards import to_text
from tests.kit import marked_processes, plan_for, play_plan
from tests.rogues import rogue
from tests.tiers import tier

PAIRS = 4


class TwoProcesses:
    """Plays on a pool of processes, which ends with the run."""

    def play(self, plan: Plan, tournament: Tournament, log: RunLog) -> Iterator[Played]:
        with ProcessPoolExecutor(2, get_context("spawn")) as pool:
            yield from PoolExecutor(pool, lambda: 2, "processes").play(plan, tournament, log)


EXECUTORS = {
    "one": LocalExecutor(1),
    "three": LocalExecutor(3),
    "pool": TwoProcesses(),
}
"""Three workers do what one does; each executor is compared with what is played here."""


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


@each("pool", study=["one"])
def test_every_game_comes_back_once_and_is_the_same(honest: Tournament, executor: Executor) -> None:
    """Whichever executor plays it, and in any order."""
    results = play_plan(honest, executor)
    assert len(results) == honest.games == 3 * PAIRS * 2
    for (number, pair, seat), result in results.items():
        deal = to_text(honest.fixture(number, pair, seat).draw(honest.seed).deal)
        assert Record(deal, result.actions).replay().over
    assert results == play_plan(honest)


@pytest.mark.slow
@each("three", study=("one", "pool"))
def test_faults_are_the_same(executor: Executor) -> None:
    """Kind, message and evidence are equal game by game, also where a process has died."""
    names = ("raises_boom", "answers_99", "exits_at_once", "not_python", "says_rubbish")
    rogues = [rogue(name) for name in names]
    bots = [resolve("uniform"), *rogues]
    tournament = Tournament("contract", 3, 1, bots, STANDARD, Limits(memory=256))
    results = play_plan(tournament, executor, pairings=len(rogues))
    kinds = ["exception", "illegal", "crash", "import", "protocol"]
    for number, kind in enumerate(kinds):
        faults = [results[number, 0, seat].fault for seat in (0, 1)]
        assert [fault and fault.kind for fault in faults] == [kind] * 2
    assert results == play_plan(tournament, pairings=len(rogues))


@pytest.mark.slow
@each("one", "pool")
def test_closed_early_it_leaves_no_process_and_no_file(
    honest: Tournament, executor: Executor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The processes of workers and bots have ended when `close` returns."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # of other processes
    chunks = executor.play(plan_for(honest), honest, RunLog([]))
    next(chunks)
    if executor is not EXECUTORS["pool"]:  # whose workers end with each call
        assert list(tmp_path.iterdir()) != []
    chunks.close()
    assert list(tmp_path.iterdir()) == []
    assert marked_processes(str(tmp_path)) == []


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_the_chunk_of_a_dead_worker_is_played_again(
    honest: Tournament, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    """A worker is killed after each of the first three chunks; the results do not change."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    plan = plan_for(honest)
    results = []
    for number, chunk in enumerate(LocalExecutor(workers).play(plan, honest, RunLog([]))):
        plan.learn(chunk)
        results += [((chunk.chunk.pairing, *result[:2]), result) for result in chunk.results]
        if number < 3:
            kill_one(tmp_path)
    assert len(results) == len(dict(results)) == honest.games
    assert dict(results) == play_plan(honest)


def kill_one(folder: Path) -> None:
    """Kill one worker that works below a folder."""
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            place = Path(process.cwd())
            if folder in place.parents and place.name.startswith("worker-"):
                assert process.pid != os.getpid()
                process.kill()
                return
