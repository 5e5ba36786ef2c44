"""The calls of a pool of processes, of Dask and of MPI have the games of a run here."""

from __future__ import annotations

import json
import logging
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor as PoolOfPython
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
import pytest

import arena
from arena.addons.cluster import pool as pools
from arena.addons.cluster.call import (
    Answer,
    find_here,
    hash_imports,
    play_call,
    read_answer,
    write_head,
)
from arena.addons.cluster.pool import PoolExecutor
from arena.cli.starting import find_venue
from arena.entries.resolve import resolve
from arena.errors import ArenaError, InputError, NoSites
from arena.executors.crew_messages import Garbled, to_part
from arena.executors.local import Executor, LocalExecutor, open_executor
from arena.executors.log import QUIET, Line, RunLog
from arena.lanes.faults import Fault
from arena.lanes.limits import Limits
from arena.lanes.temp_and_cache_folders import scratch_folder
from arena.runs.run import run
from arena.store.folder import RunFolder
from arena.tournament.config_keys import ExecutorChoice, Venue
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Plan, Played
from arena.tournament.schedule import Strikes
from arena.tournament.tournament import Tournament
from arena.tournament.versions import Versions, version_here, versions_here
from engine import STANDARD
from tests import rogues
from tests.conftest import run_command
from tests.kit import count_games, marked_processes, play_plan, same_files
from tests.rogues import rogue
from tests.waiting import PATIENCE, until

PAIRS = 12
CUP = Tournament("cup", 3, PAIRS, [resolve("uniform"), resolve("greedy")], STANDARD)
Playing = Callable[[Sequence[Chunk]], list[Played]]


def won(chunks: Sequence[Chunk], fault: Fault | None = None) -> list[Played]:
    """Return chunks of games that the first bot has won, or lost by a fault."""
    how: Any = (1, "forfeit") if fault else (0, "points")
    games = (
        [GameResult(*place, *how, 1, 0, 2, fault, "55") for place in chunk.places]
        for chunk in chunks
    )
    return [Played(chunk, some, {}, 1.0) for chunk, some in zip(chunks, games, strict=True)]


def faulty(kind: str) -> Playing:
    return lambda chunks: won(chunks, Fault(kind, "as it was told"))


class Scripted(PoolOfPython):
    """Answers each call at once as a function plays; one that raises fails the call."""

    def __init__(self, play: Playing = won, lines: Sequence[Line] = ()) -> None:
        self.play = play
        self.lines = [*lines]
        self.asked: list[list[Chunk]] = []

    def submit(self, _function: Any, /, *args: Any, **_: Any) -> Future[Any]:
        """Answer a call."""
        chunks = pickle.loads(args[-1])
        self.asked.append(chunks)
        future: Future[bytes] = Future()
        try:
            parts = [to_part(one) for one in self.play(chunks)]
            future.set_result(msgspec.msgpack.encode(Answer("node", parts, self.lines)))
        except Exception as error:
            future.set_exception(error)
        return future


def play(
    executor: Executor, count: Callable[[], int] = lambda: 2, patience: float = 60.0, most: int = 99
) -> Iterator[Played]:
    """Yield the results of the cup, from which the plan learns."""
    plan = Plan([[range(PAIRS)]], Strikes(CUP.pairings, PAIRS, most))
    pool = PoolExecutor(executor, count, "scripted processes", patience=patience)
    for done in pool.play(plan, CUP, RunLog([])):
        plan.learn(done)
        yield done


def games(played: Iterator[Played]) -> list[GameResult]:
    return sorted((game for one in played for game in one.results), key=lambda game: game[:2])


@pytest.fixture
def replays(monkeypatch: pytest.MonkeyPatch) -> list[Chunk]:
    """Return the list of chunks that are replayed here, where every game is won."""
    replayed: list[Chunk] = []

    def play_here(_workers: int, _cup: object, _venue: object, chunks: Any, *_: Any) -> Any:
        replayed.extend(chunks)
        return won(chunks)

    monkeypatch.setattr(pools, "play_chunks", play_here)
    return replayed


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list of what the run says."""
    lines: list[str] = []
    monkeypatch.setattr(
        logging.getLogger("arena"), "warning", lambda text, *args: lines.append(text % args)
    )
    return lines


def test_every_game_comes_once_and_none_of_a_pairing_whose_fault_is_in_doubt(
    replays: list[Chunk], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bot that always crashes is soon out, and the rest of its games is not played."""
    executor = Scripted()
    assert games(play(executor)) == won([Chunk(0, 0, PAIRS)])[0].results
    assert sum(chunk.pairs for call in executor.asked for chunk in call) == PAIRS
    assert replays == []
    fault = Fault("crash", "as it was told")
    monkeypatch.setattr(pools, "play_chunks", lambda *args: won(args[3], fault))
    executor = Scripted(faulty("crash"))
    found = games(play(executor, count=lambda: 1, most=1))
    assert len(found) < 2 * PAIRS
    assert len(executor.asked) == 2


@pytest.mark.parametrize("kind", ["crash", "timeout", "import"])
def test_a_fault_that_a_machine_may_have_caused_counts_only_if_it_recurs_here(
    kind: str, replays: list[Chunk], said: list[str]
) -> None:
    """All pairs with one are replayed; a machine with such faults is named once."""
    assert games(play(Scripted(faulty(kind)))) == won([Chunk(0, 0, PAIRS)])[0].results
    assert sorted(chunk.first for chunk in replays) == [*range(PAIRS)]
    assert said == ["node: as it was told; not so here: uniform - greedy"]


@pytest.mark.parametrize("kind", ["illegal", "idle"])
def test_a_fault_that_no_machine_causes_is_final(kind: str, replays: list[Chunk]) -> None:
    """An illegal action is one everywhere."""
    found = games(play(Scripted(faulty(kind))))
    assert {game.fault and game.fault.kind for game in found} == {kind}
    assert replays == []


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda chunks: won(chunks[1:]), "other games than it was asked for"),
        (lambda chunks: won([*chunks, chunks[0]]), "other games than it was asked for"),
        (lambda _: {}["\x1b[2J\nlost"], r"was lost: '\\x1b"),
    ],
)
def test_what_is_no_answer_ends_the_run(answer: Playing, reason: str) -> None:
    """In one line; the games so far have come."""
    with pytest.raises(NoSites, match=reason) as found:
        games(play(Scripted(answer)))
    assert str(found.value).startswith("a call to scripted processes was lost: ")
    assert "\n" not in str(found.value)


def test_a_machine_that_lacks_something_ends_the_run_and_its_log_has_its_name() -> None:
    """It is an error of what was asked for, as on this machine."""

    def play_call(_chunks: Sequence[Chunk]) -> list[Played]:
        raise InputError("node: python: there 3.12, here 3.11")

    with pytest.raises(InputError, match=r"^node: python: there 3.12, here 3.11$"):
        games(play(Scripted(play_call)))
    lines: list[tuple[str, str]] = []
    log = RunLog([])
    log.write = lambda process, line: lines.append((process, line.text))
    pool = PoolExecutor(Scripted(lines=[Line("node", 20, "ready")]), lambda: 1, "processes")
    play_plan(replace(CUP, pairs=1), pool, log)
    assert lines == [("node", "ready")]
    for data in (b"", b"\x93", b"\xc1", b"\x93\xa1a\x90\x91\x90"):
        with pytest.raises(Garbled, match="cannot be read"):
            read_answer(data, [])


def test_no_machine_is_said_and_ends_the_run(
    said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After so many seconds; one that comes in time plays."""
    monkeypatch.setattr(pools, "_TICK", 0.01)
    with pytest.raises(ArenaError, match=r"there was no machine for 0\.1 s"):
        games(play(Scripted(), count=lambda: 0, patience=0.1))
    assert said == ["there is no machine; waiting up to 0.1 s for one"]
    counts = iter([0, 0, 0])
    assert len(games(play(Scripted(), count=lambda: next(counts, 1)))) == 2 * PAIRS


@pytest.mark.slow
def test_a_call_plays_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its results are those of this process; its workers are those of the venue."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    bots = [resolve("uniform"), resolve("greedy"), resolve("remote=greedy", lane="process")]
    cup = Tournament("call", 3, 6, bots, STANDARD, Limits(memory=256))
    chunks = [Chunk(0, 0, 2), Chunk(0, 2, 4), Chunk(1, 0, 6), Chunk(2, 0, 6)]
    data = play_call(versions_here(), write_head(cup, Venue(workers=2)), pickle.dumps(chunks))
    machine, results, lines = read_answer(data, chunks)
    assert machine == os.uname().nodename
    assert {line.process for line in lines} == {machine}
    found = {(one.chunk.pairing, *game[:2]): game for one in results for game in one.results}
    assert found == play_plan(cup)
    assert [*tmp_path.iterdir()] == []
    with pytest.raises(Garbled, match="other games"):
        read_answer(data, chunks[1:])


def test_a_machine_says_what_it_or_a_bot_lacks_there(tmp_path: Path) -> None:
    """Before it reads anything; the client reads it, so "there" is the machine that was called."""
    here = versions_here()
    with pytest.raises(InputError) as found:
        play_call(Versions("1" * 64, "2" * 64, "3.2", "0.9"), b"no pickle", b"")
    assert str(found.value) == (
        f"{os.uname().nodename}: engine: there {here.engine[:12]}, here {'1' * 12}; "
        f"arena: there {version_here()} ({here.arena[:12]}), here 0.9 ({'2' * 12}); "
        f"python: there {here.python}, here 3.2"
    )
    need = tmp_path / "need.txt"
    need.write_text("")
    first, majority = resolve("tests.rogues.first"), resolve("majority", needs=[str(need)])
    travelling = tmp_path / "imports.py"
    travelling.write_text("from bots.greedy import bot\n")
    imports = resolve(str(travelling))
    assert find_here(imports, hash_imports(imports)) == imports
    need.unlink()
    for entry, reason in (
        (replace(first, sha256="0" * 64), "'tests.rogues.first': sha256: there .*, here 0{12}$"),
        (replace(first, target="tests.rogues.gone"), "tests.rogues.gone"),
        (replace(resolve("cmd:env true"), target="cmd:no-such-program"), "no-such-program"),
        (majority, r"'majority': needs: '.*need.txt': no such file or folder"),
        (imports, "the bots that it imports: there .*, here 1{12}$"),
    ):
        with pytest.raises(InputError, match=reason):
            find_here(entry, "1" * 64)
    with pytest.raises(InputError, match=r"the bots that it imports: there .*, here $"):
        find_here(imports, "")


needs_dask = pytest.mark.skipif(
    find_spec("distributed") is None,
    reason="Dask is not installed: pip install 'district-noir-arena[dask]'",
)


def cup() -> Tournament:
    """Return a run of honest bots, of one in its own process, and of one with doubtful faults."""
    bots = [resolve("uniform"), resolve("greedy"), resolve("remote=greedy", lane="process")]
    return Tournament("cluster", 3, 20, [*bots, rogue("exits_at_once")], STANDARD, max_faults=2)


def dask(address: str) -> Venue:
    return Venue(executor=ExecutorChoice("dask", address))


@dataclass(frozen=True)
class Disturbed:
    """Plays with another executor, and does something after so many chunks."""

    executor: Executor
    after: int
    action: Callable[[], object]

    def play(
        self, plan: Plan, tournament: Tournament, log: RunLog
    ) -> Generator[Played, None, None]:
        for number, one in enumerate(self.executor.play(plan, tournament, log), 1):
            if number == self.after:
                self.action()
            yield one


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the files of a local run."""
    folder = tmp_path_factory.mktemp("local")
    run(cup(), LocalExecutor(2), RunFolder(folder), QUIET)
    return same_files(folder)


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Yield a cluster of a scheduler and two workers; in the end nothing is left of it."""
    with Cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        cluster.add(2)
        cluster.add()
        yield cluster
    until(lambda: not marked_processes(str(cluster.temporary)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(cluster.temporary))
        with scratch_folder():  # a run removes what a killed one has left
            pass
    assert not [*cluster.temporary.iterdir()]


@needs_dask
@pytest.mark.slow
def test_a_run_of_which_a_worker_is_killed_has_the_files_of_a_local_run(
    cluster: Cluster, local: dict[str, bytes], tmp_path: Path
) -> None:
    """Also the faults and the report; a program may pass its client, or the client's executor."""
    victim = cluster.workers[1]
    with open_executor(dask(cluster.address)) as executor:
        run(cup(), Disturbed(executor, 4, victim.kill), RunFolder(tmp_path / "out"), QUIET)
    assert same_files(tmp_path / "out") == local
    assert victim.wait() == -signal.SIGKILL
    from distributed import Client

    keys = {"pairs": 2, "seed": 3, "progress": False}
    alone = arena.run(["uniform", "greedy"], workers=1, **keys).games
    with Client(cluster.address, set_as_default=False) as client:
        for one in (client, client.get_executor()):
            there = arena.run(["uniform", "greedy"], executor=one, **keys)
            assert there.games.equals(alone)


@needs_dask
@pytest.mark.slow
def test_a_scheduler_is_killed_and_the_run_goes_on_elsewhere(
    cluster: Cluster, local: dict[str, bytes], tmp_path: Path
) -> None:
    """It ends with one line; the games so far are kept."""
    with open_executor(dask(cluster.address)) as executor:
        disturbed = Disturbed(executor, 4, cluster.scheduler.kill)
        with pytest.raises(NoSites, match=r"^(a call to|there was no machine)[^\n]*$"):
            run(cup(), disturbed, RunFolder(tmp_path / "out"), QUIET)
    assert 0 < count_games(tmp_path / "out") < cup().games
    run(cup(), LocalExecutor(2), RunFolder(tmp_path / "out"), QUIET)
    assert same_files(tmp_path / "out") == local


@needs_dask
def test_where_no_scheduler_answers_it_says_so(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """In one line, with the address."""
    monkeypatch.setattr(pools, "_CONNECT", "0.1s")
    match = r"^no Dask scheduler answers at tcp://127.0.0.1:1: [^\n]+$"
    with pytest.raises(InputError, match=match), open_executor(dask("tcp://127.0.0.1:1")):
        pass
    assert logging.getLogger("distributed.client").level == logging.CRITICAL  # it says it again
    assert capfd.readouterr().err == ""


@needs_dask
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "not the file of a Dask scheduler: No such file or directory"),
        ("{", "not the file of a Dask scheduler"),
        ('{"id": 5}', "not the file of a Dask scheduler"),
    ],
)
def test_a_bad_scheduler_file_is_named(text: str | None, reason: str, tmp_path: Path) -> None:
    """With what is wrong."""
    path = tmp_path / "scheduler.json"
    if text is not None:
        path.write_text(text)
    venue = Venue(executor=ExecutorChoice("dask", scheduler_file=str(path)))
    with pytest.raises(InputError, match=f"scheduler.json: {reason}"), open_executor(venue):
        pass


needs_mpi = pytest.mark.skipif(
    not (shutil.which("mpirun") and find_spec("mpi4py")) and "CI" not in os.environ,
    reason="mpirun or mpi4py is not installed",
)
ROOT_MAY = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
RANKS = 3
FUTURES = ["-m", "mpi4py.futures", "-m", "arena"]
APART = (("apart", "greedy"), ("boom", f"{rogues.FOLDER}/answers.py(what='boom')"))
MET = ["uniform", "greedy", *({"bot": f"{n}={bot}", "lane": "process"} for n, bot in APART)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a folder with a cup; when it ends, no process of it is left, and no file but its own.

    Open MPI has a socket in its temporary folder, whose name must be short.
    """
    temporary = Path(tempfile.mkdtemp(prefix="mpi-"))
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setenv("PYTEST_MPI", str(tmp_path))
    for name, value in ROOT_MAY.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "cup.yaml").write_text(json.dumps({"pairs": 6, "seed": 3, "bots": MET}))
    yield tmp_path
    until(lambda: not marked_processes(str(tmp_path)))
    until(lambda: [path.name for path in temporary.iterdir() if "ompi" not in path.name] == [])
    shutil.rmtree(temporary, ignore_errors=True)


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    """Start `arena` with these words on so many ranks."""
    return subprocess.Popen(
        ["mpirun", "--oversubscribe", "-n", str(RANKS), sys.executable, *FUTURES, *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
@needs_mpi
def test_a_run_by_ranks_has_the_bytes_of_a_local_run(folder: Path) -> None:
    """All files are equal, also the faults, and only rank 0 says something."""
    alone = run_command(folder, "run", "cup.yaml", "--workers", "1", "--out", "alone")
    assert alone.returncode == 0, alone.stderr
    run = start(folder, "run", "cup.yaml", "--executor", "mpi", "--out", "ranks")
    out, errors = run.communicate(timeout=PATIENCE)
    assert run.returncode == 0, errors
    _, *table, spent = alone.stdout.replace("alone", "ranks").splitlines()
    assert out.splitlines()[1:] == table
    assert spent.startswith("CPU time: ")  # of ranks elsewhere it is not known
    said, alone_said = (
        [line for line in text.splitlines() if " games, " not in line]  # progress, by the clock
        for text in (errors, alone.stderr)
    )
    assert len(said) < 2 * len(alone_said)
    assert same_files(folder / "ranks") == same_files(folder / "alone")
    assert "exception" in (folder / "ranks" / "faults.csv").read_text()
    log = (folder / "ranks" / "run.log").read_text()
    assert f"{RANKS - 1} ranks of MPI" in log


@pytest.mark.parametrize("mpi", ["OMPI_COMM_WORLD", "PMI"])
def test_a_rank_that_would_play_alone_is_refused(mpi: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the ranks would play the whole run into one folder; a single one plays."""
    options = dict.fromkeys(Venue.__struct_fields__)
    monkeypatch.setenv(f"{mpi}_SIZE", "3")
    monkeypatch.setenv(f"{mpi}_RANK", "1")
    with pytest.raises(InputError, match=r"^this is rank 1 of 3: --executor mpi is missing$"):
        find_venue(options)
    monkeypatch.setenv(f"{mpi}_SIZE", "1")
    assert find_venue(options).kind == "local"


class Cluster:
    """A scheduler on a port that the system chooses, and the workers that are started.

    All of them and what they start have `folder` in their environment, also for temporary files.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.temporary = folder / "tmp"
        self.temporary.mkdir(parents=True)
        self._file = folder / "scheduler.json"
        self.workers: list[subprocess.Popen[bytes]] = []
        words = ["--port", "0", "--host", "127.0.0.1", "--no-dashboard"]
        self.scheduler = self._start("scheduler", *words)
        until(lambda: self._file.exists() and self._file.read_text().endswith("}"))
        self.address: str = json.loads(self._file.read_text())["address"]

    def _start(self, what: str, *words: str) -> subprocess.Popen[bytes]:
        environment = {
            "DASK_TEMPORARY_DIRECTORY": str(self.folder),
            "TMPDIR": str(self.temporary),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        words = (f"distributed.cli.dask_{what}", *words, "--scheduler-file", str(self._file))
        with (self.folder / "cluster.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", *words],
                cwd=self.folder,
                env=os.environ | environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def add(self, threads: int = 1) -> subprocess.Popen[bytes]:
        """Start a worker."""
        words = ["--nthreads", str(threads), "--nworkers", "1", "--no-dashboard", "--no-nanny"]
        worker = self._start("worker", *words, "--host", "127.0.0.1")
        self.workers.append(worker)
        return worker

    def remove(self, worker: subprocess.Popen[bytes]) -> None:
        """Kill a worker, and what is left of its session, as when its machine dies."""
        with suppress(ProcessLookupError):
            os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
        self.workers.remove(worker)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers[:]:
            self.remove(worker)
        self.scheduler.kill()
        self.scheduler.wait()
