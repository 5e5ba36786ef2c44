"""A bot in a process of its own plays the same, and is measured and ended from outside."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import psutil
import pytest

from arena import processes
from arena.entries.entry import Entry
from arena.entries.layout import remove_tree
from arena.entries.resolve import resolve
from arena.executors.worker import Worker
from arena.lanes import meter
from arena.lanes.evidence import Output
from arena.lanes.faults import Fault
from arena.lanes.host import Host
from arena.lanes.limits import Allowed, Limits
from arena.lanes.messages import encode
from arena.lanes.meter import CLOSED, WAITS, Held, Meter, Stopwatch, find_silence, read_usage
from arena.lanes.process import BotProcess, bot_process
from arena.processes import (
    FOLDER_VARIABLE,
    Child,
    find_below,
    find_children,
    kill,
    kill_orphans,
    read_status,
    run_program,
    sweep,
)
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk
from arena.tournament.players import RemotePlayer
from arena.tournament.timing import Timing
from arena.tournament.tournament import Tournament
from engine import STANDARD, Rules, Setup, State, View
from engine.state import random_deal
from engine.strategy import Clock, Spent
from engine.view import view
from tests import asking, rogues
from tests.positions import RULE_SETS
from tests.rogues import write
from tests.tiers import few
from tests.waiting import PATIENCE, until

PAIRS = 6
LIMITS = Limits(decision=5.0)


class Recorder:
    """A bot that keeps its setups and views."""

    seen: list[View]
    setups: list[Setup]

    def __init__(self, setup: Setup) -> None:
        self.setups.append(setup)

    def choose(self, seen: View, /) -> int:
        self.seen.append(seen)
        return seen.legal[-1]


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=RULE_SETS)
def test_a_view_is_the_same_after_its_way_through_the_protocol(rules: Rules) -> None:
    """Every field and the hash are equal, in games of every variant."""
    Recorder.seen, Recorder.setups = [], []
    host = Host(Output())
    host.bot, host.rules = Recorder, rules
    player = RemotePlayer(None, 3, 1, 0, Clock(1.0), Timing())
    luck = Random(5).getrandbits(128)
    new = {"type": "new", "game": 3, "seat": 1, "seed": f"{luck:032x}"}
    host.answer(new | {"seconds_per_decision": 2.5, "seconds_per_game": None})
    assert Recorder.setups[0].rng.random() == Random(luck).random()
    assert (Recorder.setups[0].seat, Recorder.setups[0].clock.decision) == (1, 2.5)
    expected = []
    rng = Random(1)
    for state in [State(random_deal(rng, rules), rules) for _ in range(3)]:
        while not state.over:
            seen = view(state, state.to_act)
            expected.append(seen)
            answer = host.answer(json.loads(encode(player.choose_message(seen))))
            assert answer["action"] == "5678234xyzCT"[seen.legal[-1]]
            state.apply(rng.choice(seen.legal))
    assert Recorder.seen == expected
    assert [hash(seen) for seen in Recorder.seen] == [hash(seen) for seen in expected]


def played(
    path: Path, folder: Path, together: bool, limits: Limits = LIMITS
) -> tuple[list[GameResult], list[Fault]]:
    """Return the games of a bot in its own process against uniform, and their faults."""
    entries = [resolve(str(path), label="bot"), resolve("uniform")]
    tournament = Tournament("test", 0, PAIRS, entries, STANDARD, limits)
    folder.mkdir()
    worker = Worker(tournament, folder)
    if not together:
        worker.single.add("bot")
    results = worker.play(Chunk(0, 0, PAIRS)).results
    worker.close()
    remove_tree(folder)
    return results, [game.fault for game in results if game.fault]


def test_many_games_at_once_are_played_as_one_by_one_with_no_pipe_of_others(tmp_path: Path) -> None:
    """The bot keeps a count and a generator for each game; it has no file of the run."""
    body = (
        "self.count += 1\n"
        "assert self.count == len(view.history) // 2 + 1 or view.round > 1\n"
        "return self.rng.choice(view.legal)"
    )
    path = write(tmp_path, "counts", body, init="self.rng, self.count = setup.rng, 0")
    together = played(path, tmp_path / "together", together=True)
    assert together == played(path, tmp_path / "singly", together=False)
    assert together[1] == []
    results, faults = played(write(tmp_path, "looks", LOOKS), tmp_path / "folder", together=True)
    assert faults == []
    assert len(results) == 2 * PAIRS


@pytest.mark.parametrize(
    ("ending", "kind"),
    few(
        [
            ("__import__('os')._exit(3)", "crash"),
            ("raise ValueError('boom')", "exception"),
            ("__import__('time').sleep(60)", "timeout"),
            ("bytearray(10**12)", "memory"),
        ],
        *(1, 1),
        unpack=True,
    ),
)
def test_of_games_at_once_only_the_guilty_are_lost(tmp_path: Path, ending: str, kind: str) -> None:
    """A process that dies ends all its games; the innocent ones are played again."""
    body = (
        "print('ply', len(view.history))\n"
        f"if self.lot < 0.25 and len(view.history) > 20: {ending}\n"
        "return view.legal[0]"
    )
    path = write(tmp_path, "dies", body, init="self.lot = setup.rng.random()")
    limits = Limits(decision=1.0, backstop=1.0, idle=999.0) if kind == "timeout" else LIMITS
    results, faults = played(path, tmp_path / "own", together=True, limits=limits)
    assert (results, faults) == played(path, tmp_path / "own", together=False, limits=limits)
    assert {fault.kind for fault in faults} == {kind}
    assert 0 < len(faults) < len(results) / 2
    for game, fault in zip([game for game in results if game.fault], faults, strict=True):
        first, *_, last = fault.output.splitlines()
        assert (first in ("ply 0", "ply 1"), last) == (True, f"ply {game.plies}")
        assert game.plies in (21, 22)


LOOKS = """
import os
held = {}
for name in os.listdir('/proc/self/fd'):
    try: held[name] = os.readlink('/proc/self/fd/' + name)
    except OSError: pass
assert len(set(held.values()) - {'/dev/null'}) == 3, held
assert all(v[:5] in ('pipe:', '/dev/') for v in held.values()), held
return view.legal[0]
"""


def test_a_sweep_kills_the_folders_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not those of bot-10, whose name begins with bot-1."""
    monkeypatch.setattr(processes, "_adopting", False)  # else it reaps them itself
    path = {"PATH": os.defpath}
    started = [
        subprocess.Popen(["sleep", "60"], env=path | {FOLDER_VARIABLE: str(tmp_path / name)})
        for name in ("bot-1", "bot-10", "bot-1/deep")
    ]
    try:
        sweep(tmp_path / "bot-1")
        ended = [process.wait(PATIENCE) for process in started[::2]]
        assert ended == [-signal.SIGKILL, -signal.SIGKILL]
        assert started[1].poll() is None
    finally:
        for process in started:
            process.kill()
            process.wait()


def test_what_is_held_is_read_from_a_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is only prepared is still importing; one that was killed begins again."""
    held = Mock(return_value=Held())
    monkeypatch.setattr(BotProcess, "held", held)
    entry = resolve("uniform", lane="process")
    with bot_process(entry, STANDARD, LIMITS, tmp_path) as process:
        process.prepare()
        first = process.pid
        process.count_games(1)
        assert not held.called
        process.start()
        assert process.pid == first
        process.count_games(1)
        assert held.called
        process.kill()
        process.start()
        assert process.pid not in (None, first)


@pytest.mark.parametrize("adopts", [False, True])
def test_only_who_adopts_orphans_reaps_them(monkeypatch: pytest.MonkeyPatch, adopts: bool) -> None:
    """Others are not their parent, but wait for their ends, too."""
    monkeypatch.setattr("arena.processes._adopting", adopts)
    with subprocess.Popen(["sleep", "60"]) as orphan:
        assert kill([orphan.pid])
        assert (read_status(orphan.pid) == {}) == adopts
        assert orphan.wait() == (0 if adopts else -signal.SIGKILL)


def test_a_child_of_another_thread_is_no_orphan_nor_a_program_that_it_asks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A killed `ldconfig -p` left out libraries; the first run that ends kills its own alone."""
    monkeypatch.setattr("arena.processes._adopting", True)
    others = find_children(os.getpid())
    with Child(["sleep", "60"]) as child, subprocess.Popen(["sleep", "60"]) as orphan:
        kill_orphans(others)
        assert orphan.wait() in (0, -signal.SIGKILL)  # 0: waited for already
        assert child.poll() is None
        assert child.end() == -signal.SIGKILL
    monkeypatch.setattr("arena.processes._adopting", True)
    others, begun = find_children(os.getpid()), tmp_path / "begun"
    words = "sh", "-c", f"touch {begun}; sleep 0.5; echo said; echo why >&2; exit 3"
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(run_program, *words)
        until(begun.exists)
        kill_orphans(others)
        done = asked.result()
    assert (done.returncode, done.stdout, done.stderr) == (3, "said\n", "why\n")
    with pytest.raises(OSError, match=r"timed out after 0\.1 seconds"):
        run_program("sleep", "60", seconds=0.1)
    assert {*find_children(os.getpid())} <= {*others}


def test_the_end_of_a_child_is_an_event(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not looked for again and again; without descriptors of processes it is."""
    child = Child(["sleep", "0.05"])
    with monkeypatch.context() as patch:
        patch.setattr("time.sleep", None)
        assert child.wait(PATIENCE) == 0
    monkeypatch.delattr(os, "pidfd_open")
    child = Child(["sleep", "60"])
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(0.01)
    assert child.end() == child.end() == -signal.SIGKILL


pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="needs Linux")

WORK = "while time.process_time() < 0.3: pass\n"
IN_CHILDREN = f"for _ in range(10):\n if not os.fork():\n  {WORK.replace('0.3', '0.05')}"
IN_CHILDREN += "  os._exit(0)\n os.wait()\n"
IN_A_CHILD = f"if not os.fork():\n {WORK} os._exit(0)\n"
IN_A_THREAD = f"def work():\n {WORK}threading.Thread(target=work).start()\n"


@contextmanager
def running(code: str) -> Iterator[subprocess.Popen[bytes]]:
    """Yield a process that runs this code."""
    words = [sys.executable, "-I", "-S", "-c", f"import os, sys, threading, time\n{code}"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            kill([*find_below(process.pid), process.pid])
            process.kill()


def reached(whole: Meter, seconds: float) -> float:
    """Return the reading once it is so high, before that 0."""
    reading = whole.look()
    return reading if reading >= seconds else 0.0


@pytest.mark.parametrize(
    "program",
    few([IN_CHILDREN, WORK, IN_A_THREAD, IN_A_CHILD]),
    ids=["children that end", "itself", "a thread", "a child that is not waited for"],
)
def test_all_work_below_a_process_is_seen(program: str) -> None:
    """The readings only rise, and reach 0.3 s where so much was used; also after its end."""
    with running(f"{program}input()") as process:
        whole = Meter(process.pid)
        readings = [until(lambda: reached(whole, 0.3))]
        readings += [whole.read(), whole.look(), whole.look()]
    readings += [whole.look(), whole.read()]
    assert readings == sorted(readings)


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a meter and a wall clock in seconds, which the test sets."""
    made = SimpleNamespace(wall=100.0, cpu=5.0, looked=0.0, works=True, seen=[])
    made.read = lambda: made.cpu
    made.look = lambda: made.seen.append(made.wall) or made.cpu
    monkeypatch.setattr(meter, "perf_counter", lambda: made.wall)
    return made


def test_a_turn_has_the_work_before_it_and_in_it_and_no_time_of_our_sleep(clocks: Any) -> None:
    """After an hour's sleep 0.3 s have gone by; where no time is read, the wall clock counts."""
    watch = Stopwatch(clocks)
    watch.start()
    assert clocks.seen == [100.0, 100.0]  # of all processes, which were read long ago
    clocks.wall, clocks.cpu = 100.25, 5.125
    assert watch.stop() == Spent(wall=0.25, cpu=0.125, before=0.0)
    clocks.wall, clocks.cpu = 200.0, 7.125
    watch.start()
    clocks.wall, clocks.cpu = 200.25, 7.25
    assert watch.stop() == Spent(wall=0.25, cpu=0.125, before=2.0)
    clocks.looked, looks = clocks.wall, len(clocks.seen)
    watch.start()
    assert len(clocks.seen) == looks
    watch = Stopwatch(clocks)
    watch.start()
    for seconds in (0.125, 3600.0, 0.125):
        clocks.wall += seconds
        spent = watch.read()
    assert spent.wall == pytest.approx(0.55)
    clocks.works = False
    watch = Stopwatch(clocks)
    watch.start()
    clocks.wall += 0.25
    assert watch.stop().charged == 0.25


@contextmanager
def started(entry: Entry, folder: Path) -> Iterator[BotProcess]:
    """Yield the process of a bot that has begun a game."""
    with bot_process(entry, STANDARD, Limits(memory=256), folder / "own") as process:
        process.start()
        process.ask([asking.new()], Allowed())
        yield process


def test_work_out_of_turn_is_charged_to_the_next_decision(tmp_path: Path) -> None:
    """A thread goes on while the opponent thinks; a backstop is ten times its limit."""
    with started(rogues.rogue("works_on", "process"), tmp_path) as process:
        seen = process._watch.meter
        process.ask([asking.choose()], Allowed())
        begun = seen.look()
        until(lambda: seen.look() > begun + 0.5)
        spent = process.ask([asking.choose()], Allowed()).spent
    assert spent.before > 0.4
    assert spent.charged > 0.4
    assert Limits().backstop_of(7.5) == 75.0
    assert Limits().backstop_of(0.5) == 30.0
    assert Limits(backstop=2.0).backstop_of(0.5) == 2.0
    assert Limits(backstop=2.0).backstop_of(7.5) == 7.5


LEADER_ENDS = """
import ctypes, threading
block = b"x" * (64 << 20)
threading.Thread(target=input).start()
ctypes.CDLL(None).syscall({exit}, 0)  # only this thread
"""


SHARED = "x = b'x' * (64 << 20); os.fork(); os.fork(); os.write(1, b'x'); time.sleep(600)"
TABLES = """
import mmap
m = mmap.mmap(-1, 1 << 36, prot=mmap.PROT_READ, flags=0x4022)
for place in range(0, 1 << 36, 1 << 21): m[place]
print(flush=True); sys.stdin.read()
"""


def test_memory_is_that_of_all_processes_and_threads() -> None:
    """Shared pages count once; of an ended first thread the kernel says 0."""
    with running(SHARED) as process:
        assert process.stdout.read(4) == b"xxxx"
        assert len(find_below(process.pid)) == 3
        assert read_usage(process.pid, 1 << 40).memory > 4 * (64 << 20)
        usage = read_usage(process.pid, 1 << 20)
        assert usage.processes == 3
        assert 64 << 20 < usage.memory < 2 * (64 << 20)
    call = {"x86_64": 60, "aarch64": 93}.get(platform.machine())
    if call is None:
        pytest.skip("the number of this system call is not known here")
    with running(LEADER_ENDS.format(exit=call)) as process:
        until(lambda: psutil.Process(process.pid).status() == psutil.STATUS_ZOMBIE)
        assert read_usage(process.pid, 1 << 30).memory > 64 << 20


@pytest.mark.slow
def test_page_tables_are_memory() -> None:
    """A process can fill them with places of memory that it only reads, and does not have."""
    with running(TABLES) as process:
        process.stdout.readline()
        assert 100 << 20 < read_usage(process.pid, 1 << 40).memory < 400 << 20


def test_a_jail_in_the_making_has_no_files_yet() -> None:
    """Until its root is made, a process sees this machine's folder, whose files are not its own."""
    disk = os.statvfs("/tmp")
    if (disk.f_blocks - disk.f_bfree) * disk.f_frsize < 1 << 25:
        pytest.skip("there is little in /tmp's file system that could be counted")
    with running("if os.fork(): os.wait()\nprint(flush=True); input()") as process:
        process.stdout.readline()
        assert read_usage(process.pid, 1 << 60, "/tmp").memory < 1 << 24


def said(process: subprocess.Popen[bytes], *, is_read: bool = True) -> str:
    """Return what the silence of a process means."""
    pipe = os.fstat(process.stdout.fileno()).st_ino
    return find_silence(lambda: [process.pid], pipe, is_read=is_read)


def test_a_closed_output_and_waiting_for_input_are_seen() -> None:
    """While the process goes on; not if it has not read all, or if a thread has run meanwhile."""
    with running("os.close(1); time.sleep(600)") as process:
        until(lambda: said(process) == CLOSED)
    with running("os.close(2); os.write(1, b'x'); time.sleep(600)") as process:
        process.stdout.read(1)
        assert said(process) == ""
    with running("os._exit(3)") as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert said(process) == ""
    with running("os.read(0, 1); os.read(0, 1)") as process:
        until(lambda: said(process) == WAITS)
        assert said(process, is_read=False) == ""

        def own() -> list[int]:
            if next(looks):
                before = read_status(process.pid)
                os.write(process.stdin.fileno(), b"x")
                until(lambda: read_status(process.pid) != before)
            return [process.pid]

        looks = iter([False, True])
        pipe = os.fstat(process.stdout.fileno()).st_ino
        assert find_silence(own, pipe, is_read=True) == ""
        until(lambda: said(process) == WAITS)


FORKING = """#!/bin/sh
read -r hello
for n in $(seq 200); do found=$(true | cat); done
echo '{"id": 0, "ready": true}'
"""
"""Nearly always one of its processes waits for another that has just begun or ended."""


@pytest.mark.slow
def test_who_starts_others_does_not_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often it is looked at, and in whatever order its processes are."""
    monkeypatch.setattr("arena.lanes.process._TICK", 0.0)
    (tmp_path / "forking.sh").write_text(FORKING)
    entry = resolve(f"cmd:sh {tmp_path}/forking.sh", lane="process")
    limits = Limits(decision=60.0, start=60.0)
    with bot_process(entry, STANDARD, limits, tmp_path / "own") as process:
        process.start()
