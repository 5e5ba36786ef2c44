"""The contract of executors, and workers that start in any program and end with their parent."""

from __future__ import annotations

import json
import logging
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

import psutil
import pytest

from arena.addons.cluster.pool import PoolExecutor
from arena.entries.resolve import resolve
from arena.errors import ArenaError, WorkerDied
from arena.executors import local
from arena.executors.local import Executor, LocalExecutor
from arena.executors.log import QUIET, RunLog, run_log
from arena.executors.this_process import Here, is_harmless
from arena.executors.worker_handle import Member
from arena.lanes.limits import Limits
from arena.lanes.temp_and_cache_folders import scratch_folder
from arena.processes import kill
from arena.runs.rerun import play_again
from arena.runs.run import run
from arena.store.store import Store
from arena.tournament.config_keys import HERE
from arena.tournament.plan import Plan, Played
from arena.tournament.tournament import Tournament
from engine import STANDARD, Record
from engine.cards import Action, to_text
from engine.view import View
from tests.conftest import start_command
from tests.kit import marked_processes, plan_for, play_plan
from tests.rogues import rogue, spec, write
from tests.runs.test_resume import runs_in
from tests.tiers import tier
from tests.waiting import until

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
def test_a_worker_that_dies_before_its_first_sign_ends_the_run(how: str, reason: str) -> None:
    """The error has its last message, if any; the chunk is not played again."""
    bots = [resolve("greedy", params={}, lane="process"), resolve("uniform")]
    bots[0].params["unready"] = Unready(how)
    tournament = Tournament("unready", 0, 5, bots, STANDARD)
    with pytest.raises(WorkerDied) as caught:
        play_plan(tournament, LocalExecutor(1))
    assert str(caught.value) == f"a worker process did not start: {reason}"


@pytest.mark.slow
def test_a_run_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor while its exception is kept, as by a notebook; the crew is ended once more, half gone."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(Store, "add", fail)
    bots = [resolve("greedy"), resolve("uniform", lane="process")]
    with pytest.raises(ArenaError, match="no space") as kept:
        run(Tournament("fails", 0, 4, bots, STANDARD), LocalExecutor(2), None, QUIET)
    assert kept.tb is not None
    assert [*tmp_path.iterdir()] == []
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    close, calls = Member._close, []

    def interrupted(member: Member) -> None:
        close(member)
        calls.append(member)
        if len(calls) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(Member, "_close", interrupted)
    bots[0] = resolve("greedy", lane="process")
    with pytest.raises(KeyboardInterrupt):
        play_plan(Tournament("test", 0, 4, bots, STANDARD), LocalExecutor(1))
    assert len(calls) == 2
    assert [*tmp_path.iterdir()] == []


def fail(*_: object) -> None:
    raise ArenaError("no space")


@pytest.mark.slow
@pytest.mark.parametrize("lane", ["process", "inproc"])
def test_a_bot_that_holds_the_interpreter_ends_with_the_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lane: str
) -> None:
    """It never lets its worker's other threads run; the next run removes the folder."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    mark = tmp_path / "mark"
    bot = {"bot": f"holds={spec('holds')}", "params": {"mark": str(mark)}, "lane": lane}
    config = {"pairs": 1, "bots": ["uniform", bot], "limits": {"decision": 600}}
    (tmp_path / "cup.yaml").write_text(json.dumps(config))
    run = start_command(tmp_path, "run", "cup.yaml", "--quiet", "--workers", "1")
    try:
        until(lambda: mark.exists() or run.poll() is not None)
        assert run.poll() is None
        run.kill()
        run.wait()
        until(lambda: marked_processes(str(tmp_path)) == [])
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        with scratch_folder() as own:
            assert runs_in(tmp_path) == [own]
    finally:
        kill([process.pid for process in marked_processes(str(tmp_path))])


OURS = Tournament("here", 3, 3, [resolve("greedy"), resolve("majority")], STANDARD)


def test_what_is_harmless_needs_no_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bots of ours and those shut in: a stranger in a process may reach the one above it."""
    stranger = write(tmp_path, "stranger", "")
    for lane, is_one in (("inproc", False), ("process", False), ("jail", True)):
        assert is_harmless(resolve(str(stranger), lane=lane)) is is_one
    assert is_harmless(resolve("greedy"))
    assert not is_harmless(resolve("greedy", lane="process"))
    monkeypatch.setattr(Member, "__init__", None)
    monkeypatch.setattr(local, "_ALONE", 1e6)  # however slow the machine is
    assert len(play_plan(OURS, LocalExecutor(4))) == OURS.games
    assert play_again(OURS, 0, 0, HERE).record.actions


@pytest.mark.slow
def test_workers_go_on_with_the_same_games(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Also with those of a chunk that this process has begun; one worker alone is this process."""
    beat: Callable[[Here], None] = Here.beat

    def wait(here: Here) -> None:
        while here._chunk:
            beat(here)
            time.sleep(0.01)

    alone = play_plan(OURS, LocalExecutor(1))
    monkeypatch.setattr(local, "_ALONE", 0.0)
    monkeypatch.setattr(local, "CHUNK_SECONDS", 1e-9)
    monkeypatch.setattr(Here, "beat", wait)
    with run_log(tmp_path / "log") as log:
        assert play_plan(OURS, LocalExecutor(2), log) == alone
    assert "worker ready" in (tmp_path / "log").read_text()


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit])
def test_a_signal_is_no_fault(raised: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends the run at once."""

    def choose(_: object, view: View) -> Action:
        if raised is SystemExit:
            raise SystemExit(143)
        signal.raise_signal(signal.SIGINT)
        return view.legal[0]

    monkeypatch.setattr(resolve("greedy").load(), "choose", choose)
    with pytest.raises(raised):
        play_plan(OURS, LocalExecutor(2))


def test_what_is_logged_while_this_process_plays_is_of_a_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is in the file under its name, and not on the terminal, which has what else is logged."""
    logger = logging.getLogger("arena")

    def choose(_: object, view: View) -> Action:
        logger.warning("it is late")
        return view.legal[0]

    monkeypatch.setattr(resolve("greedy").load(), "choose", choose)
    with run_log(tmp_path / "log") as log:
        play_plan(OURS, LocalExecutor(1), log)
        logger.warning("it is later")
    assert " worker-0 WARNING it is late\n" in (tmp_path / "log").read_text()
    assert capsys.readouterr().err == "it is later\n"
