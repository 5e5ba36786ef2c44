"""A crew, its members and a worker, each in this process, with the other side played by a test."""

from __future__ import annotations

import mmap
import os
import pickle
import socket
import subprocess
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from arena.entries.resolve import resolve
from arena.errors import Exhausted, WorkerDied
from arena.executors import local, worker_process
from arena.executors import worker_handle as member
from arena.executors.crew_messages import Asking, Failed, Frames, LastWords, Progress, read_answer
from arena.executors.crew_messages import write_answer as write
from arena.executors.local import LocalExecutor
from arena.executors.log import Line, RunLog
from arena.executors.worker import Worker
from arena.executors.worker_handle import Member
from arena.lanes.faults import Fault
from arena.lanes.launch import plan_launch
from arena.lanes.limits import Limits
from arena.threads import THREADS
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Played, Verdict
from arena.tournament.tournament import Tournament
from engine import STANDARD
from engine.notation import parse_actions
from tests.kit import play_plan
from tests.rogues import FOLDER

FIRST = resolve(str(FOLDER / "first.py"), "first", lane="inproc")
CUP = Tournament("crew", 3, 6, [FIRST, resolve("uniform"), resolve("greedy")], STANDARD)
LOST = Fault("crash", "ended")
GAME = GameResult(0, 0, 1, "forfeit", 0, 0, 4, LOST, "5566")


class Scripted:
    """A worker that plays in this process, and ends before it plays at some of its batches."""

    ends: ClassVar[dict[int, str]] = {}  # how, by the number of a batch among all
    made: ClassVar[list[Scripted]] = []

    def __init__(self, head: bytes, _tournament: Tournament, folder: Path, _log: RunLog) -> None:
        self.socket, self.theirs = socket.socketpair()
        self.worker = Worker(pickle.loads(head)[0], folder)
        self.batches: deque[list[Chunk]] = deque()
        self.progress = Progress(bytearray(Progress.SIZE))
        self.name, self.words, self.asking, self.status = folder.name, "", None, -9
        self.is_ready = self.was_dismissed = self.is_buried = False
        self.made.append(self)

    def give(self, batch: list[Chunk]) -> None:
        self.batches.append(batch)
        self.theirs.send(b"x")

    def receive(self) -> Iterator[Played]:
        self.socket.recv(1)
        how = self.ends.pop(sum(len(one.worker.told) for one in self.made), None)
        self.worker.told.add(str(len(self.worker.told)))  # the number of its batches
        self.is_ready = how != "stillborn"
        if how:
            self.words = how if ":" in how else ""
            raise EOFError
        while self.batches[0]:
            yield self.worker.play(self.batches[0].pop(0))
        self.batches.popleft()

    def find_hang(self) -> str:
        return ""

    def dismiss(self) -> None:
        self.was_dismissed = True
        self.bury()

    def kill(self) -> None:
        self.is_buried = True

    def bury(self) -> str:
        self.is_buried = True
        for one in (self.socket, self.theirs):
            one.close()
        return "ended by SIGKILL"


@pytest.fixture
def crew(monkeypatch: pytest.MonkeyPatch) -> type[Scripted]:
    """Return the workers of all crews, which are scripted, and hired at once."""
    monkeypatch.setattr(member, "Member", Scripted)
    monkeypatch.setattr(local, "_ALONE", 0.0)
    monkeypatch.setattr(Scripted, "made", [])
    monkeypatch.setattr(Scripted, "ends", {})
    return Scripted


def test_a_crew_hires_replaces_and_dismisses(crew: type[Scripted]) -> None:
    """Each game comes once, whoever has ended with how much to play, before or after its start."""
    crew.ends |= {0: "stillborn", 2: "dies", 3: "dies", 5: "dies"}
    assert play_plan(CUP, LocalExecutor(2)) == play_plan(CUP)
    assert len(crew.made) == 2 + 4
    assert [one.was_dismissed for one in crew.made].count(True) == 2
    assert all(one.is_buried for one in crew.made)


@pytest.mark.parametrize(
    ("ends", "error", "message"),
    [
        ({0: "Exhausted: no room"}, Exhausted, "^no room$"),
        ({1: "Exhausted: no room"}, Exhausted, "^no room$"),
        (dict.fromkeys(range(20), "stillborn"), WorkerDied, "did not start: ended by SIGKILL$"),
    ],
)
def test_a_crew_ends_where_no_worker_can_start(
    crew: type[Scripted], ends: dict[int, str], error: type[Exception], message: str
) -> None:
    """By what the machine lacks, or after twenty in a row that were killed: not after nineteen."""
    crew.ends |= ends
    with pytest.raises(error, match=message):
        play_plan(CUP, LocalExecutor(1))
    assert all(one.is_buried for one in crew.made)
    if len(ends) == 20:
        crew.ends |= dict.fromkeys(range(20, 39), "stillborn")
        assert play_plan(CUP, LocalExecutor(1)) == play_plan(CUP)


class Puppet:
    """The program of a worker, whose part the test plays at the other end of its socket."""

    def __init__(self, descriptor: int, memory: int, head: int, folder: Path) -> None:
        self.socket = socket.socket(fileno=os.dup(descriptor))
        self.progress = Progress(mmap.mmap(memory, Progress.SIZE))
        self.head, self.folder = pickle.loads(os.pread(head, 1 << 20, 0)), folder
        self.pid, self.status, self.waits = 0, -9, list[float | None]()
        self.ends = 0

    def wait(self, timeout: float | None = None) -> int:
        self.waits.append(timeout)
        if timeout is not None and not self.ends:
            raise subprocess.TimeoutExpired("", timeout)
        return self.status

    def end(self) -> None:
        self.ends += 1

    def last_words(self) -> str:
        return "its own words"


@pytest.fixture
def lines() -> list[tuple[str, str]]:
    """Return the list of what the log has of a worker, and of faults that are told."""
    return []


@pytest.fixture
def one(tmp_path: Path, lines: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch) -> Member:
    """Return a member whose program is a puppet."""
    monkeypatch.setattr(worker_process, "start", Puppet)
    log = RunLog([])
    log.write = lambda process, line: lines.append((process, line.text))
    log.tell = lambda pairing, result: lines.append((f"pairing {pairing}", result.win_type))
    return Member(pickle.dumps("head"), CUP, tmp_path / "worker-1", log)


def test_what_a_worker_says_reaches_its_parent(one: Member, lines: list[tuple[str, str]]) -> None:
    """Log, faults, questions and results, which end the batch with the last; then its end."""
    puppet: Any = one._program
    chunks = [Chunk(0, 0, 1, seats=(0,)), Chunk(1, 0, 1, seats=(0,))]
    one.give([*chunks])
    assert (puppet.head, pickle.loads(puppet.socket.recv(1 << 16))) == ("head", chunks)
    results = [Played(chunk, [GAME], {}, 1.0, []) for chunk in chunks]
    asked = Asking(0, 0, 1, b"\1")
    for answer in (Line("x", 20, "ready"), asked, Failed(0, GAME), LastWords("a\nb")):
        puppet.socket.sendall(write(answer))
    assert [*one.receive()] == []
    assert (one.asking, one.words) == (asked, "a b")
    assert lines == [("worker-1", "ready"), ("pairing 0", "forfeit")]
    for number, result in enumerate(results):
        puppet.socket.sendall(write([result]))
        assert [*one.receive()] == [result]
        assert (one.asking, [*one.batches]) == (None, [chunks[1:]] if number == 0 else [])
    puppet.socket.close()
    with pytest.raises(EOFError):
        next(one.receive())


def test_a_member_is_buried_or_dismissed(one: Member, lines: list[tuple[str, str]]) -> None:
    """What it has logged last is kept, its folder goes; only one that is ready ends by itself."""
    puppet: Any = one._program
    puppet.progress.beat()
    puppet.socket.sendall(write(Line("x", 20, "last")) + write(Asking(0, 0, 1, None)))
    one.dismiss()
    assert pickle.loads(puppet.socket.recv(1 << 16)) is None
    assert puppet.waits == [member._END_PATIENCE, member._EXIT_PATIENCE, None]
    assert (puppet.ends, one.status, one.words) == (1, -9, "its own words")
    assert lines == [("worker-1", "last")]
    assert not puppet.folder.exists()


def test_a_member_that_is_not_ready_is_killed(one: Member) -> None:
    """Before anything is waited for."""
    puppet: Any = one._program
    one.dismiss()
    assert puppet.ends == 2
    assert one.bury() == "ended by SIGKILL"


SHORT = Limits(decision=2.0, start=1.0, backstop=9.0)
CALM = ((1.0, 1.0), (1.0, 1.0), (1.0, 1.0))


@pytest.mark.parametrize(
    ("place", "seconds", "work"),
    [
        (0, 10.1, 0.0),  # silence by the clock: a backstop and a second more
        (0, 3.1, 3.1),  # silence of a worker that works: a decision and a second more
        (1, 0.0, 97.1),  # a pair: 48 decisions and a start
        (2, 2 * 48 * 9.0 + 1.1, 0.0),  # all games by the clock
        (2, 0.0, 2 * 97.0 + 0.1),  # all games' work
    ],
)
def test_a_hang_is_found_by_each_clock(
    one: Member, monkeypatch: pytest.MonkeyPatch, place: int, seconds: float, work: float
) -> None:
    """Just above its limit, and not just below; one that has not begun has a minute."""
    spent = [*CALM]
    monkeypatch.setattr(one, "_look", lambda: spent)
    monkeypatch.setattr(one, "_tournament", Tournament("x", 0, 1, CUP.entries, STANDARD, SHORT))
    spent[0] = (60.1, 0.0)
    assert one.find_hang() == "finished no game in time"
    spent[0] = (59.9, 59.9)
    assert one.find_hang() == ""
    spent[0] = CALM[0]
    puppet: Any = one._program
    puppet.progress.beat()
    one.give([Chunk(0, 0, 1)])
    assert one.find_hang() == ""
    spent[place] = (seconds, work)
    assert one.find_hang() == "finished no game in time"
    spent[place] = (max(0.0, seconds - 0.2), max(0.0, work - 0.2))
    assert one.find_hang() == ""


def test_clocks_begin_again_with_each_sign(one: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of life, of finished pairs, and of answers; while we do not run, 0.3 s go by."""
    now, work = iter([10.0, 10.25, 99.0, 99.25]), iter([1.0, 1.5, 2.0, 2.5])
    monkeypatch.setattr(one, "_looked", (9.75, 0.5))
    monkeypatch.setattr(one, "_work", lambda: next(work))
    monkeypatch.setattr(member.time, "monotonic", lambda: next(now))
    puppet: Any = one._program
    assert one._look() == [(0.25, 0.5)] * 3
    puppet.progress.beat()
    assert one._look() == [(0.0, 0.0), (0.5, 1.0), (0.5, 1.0)]
    puppet.progress.played()
    assert one._look() == [(0.3, 0.5), (0.0, 0.0), (0.8, 1.5)]
    one.give([Chunk(0, 0, 1)])
    assert one._look()[2] == (0.0, 0.0)


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[worker_process._Home, socket.socket]]:
    """Yield a worker's end of a socket, and its parent's; the worker is not confined."""
    monkeypatch.setattr(worker_process, "_confine", lambda *_: None)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield worker_process._Home(theirs.fileno(), bytearray(Progress.SIZE)), ours


def heard(ours: socket.socket, chunks: list[Chunk]) -> list[Any]:
    """Return what a worker has sent about chunks."""
    frames, found = Frames(), list[Any]()
    ours.setblocking(False)
    frames.add(ours.recv(1 << 20))
    for data in frames.take():
        found.append(read_answer(data, chunks))
        if isinstance(found[-1], list):
            chunks = chunks[len(found[-1]) :]
    return found


def test_a_worker_answers(home: tuple[worker_process._Home, socket.socket], tmp_path: Path) -> None:
    """Until the end of work; a fault comes at once, with the results before it."""
    (worker, ours), expected = home, play_plan(CUP)
    begun = parse_actions(expected[1, 1, 0].actions[:3])
    chunks = [Chunk(0, 0, 2), Chunk(1, 1, 1, verdicts={(1, 0): Verdict(1, begun, LOST)})]
    ours.sendall(pickle.dumps(chunks) + worker_process.END)
    worker_process._serve(worker, CUP, str(tmp_path))
    said = heard(ours, chunks)
    assert [type(one) for one in said] == [list, Failed, list]
    (whole,), failed, (decided,) = said
    assert whole.results == [expected[0, pair, seat] for pair in (0, 1) for seat in (0, 1)]
    assert decided.results == [failed.result, expected[1, 1, 1]]
    assert (failed.result.plies, failed.result.fault, failed.result.winner) == (3, LOST, 0)
    assert worker.finished == 6
    assert worker.beats > worker.finished


def test_a_worker_whose_memory_is_full_ends(
    home: tuple[worker_process._Home, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It looks after each chunk, and after short games only now and then."""
    worker, _ = home
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    assert worker.read_memory() > 1 << 20
    for most, ends in ((1e18, []), (0.0, [1])):
        worker.most_memory = most
        worker.look()
        assert ended == ends
    worker.played()
    assert ended == [1]
    monkeypatch.setattr(worker_process, "_LOOK_EVERY", 0.0)
    worker.played()
    assert ended == [1, 1]


def test_what_a_worker_learns_of_its_bots_spares_their_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Quick ones need none after some games; no bot's process has threads for numpy."""
    monkeypatch.setattr("arena.tournament.timing._CHEAP", 1e6)  # however slow the machine is
    worker, needs_none = Worker(CUP, tmp_path), list[bool]()
    for _ in range(2):
        needs_none.append(worker.pace.needs_no_clock(CUP.pairings[0]))
        worker.play(Chunk(0, 0, 6))
    assert needs_none == [False, True]
    worker.close()
    own = plan_launch(resolve("greedy", lane="process"), Limits(), tmp_path / "own").environment
    for environment in (worker_process._environment(), own):
        assert {environment[name] for name in THREADS} == {"1"}
