"""Time and memory of a bot's processes, and its silence, read from outside of them."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.lanes import meter
from arena.lanes.limits import Allowed, Limits
from arena.lanes.meter import CLOSED, WAITS, Meter, Stopwatch, find_silence, read_usage
from arena.lanes.process import BotProcess, bot_process
from arena.processes import find_below, kill, read_status
from engine import STANDARD
from engine.strategy import Spent
from tests import asking, rogues
from tests.tiers import few
from tests.waiting import until

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
    made = SimpleNamespace(wall=100.0, cpu=5.0, looked=0.0, works=True)
    made.read = made.look = lambda: made.cpu
    monkeypatch.setattr(meter, "perf_counter", lambda: made.wall)
    return made


def test_a_turn_has_the_work_before_it_and_in_it(clocks: Any) -> None:
    """What is used between two turns belongs to the second one."""
    watch = Stopwatch(clocks)
    watch.start()
    clocks.wall, clocks.cpu = 100.25, 5.125
    assert watch.stop() == Spent(wall=0.25, cpu=0.125, before=0.0)
    clocks.wall, clocks.cpu = 200.0, 7.125
    watch.start()
    clocks.wall, clocks.cpu = 200.25, 7.25
    assert watch.stop() == Spent(wall=0.25, cpu=0.125, before=2.0)


def test_the_wall_clock_stands_still_while_we_do_not_run(clocks: Any) -> None:
    """It is read every 0.1 s; after an hour's sleep of the machine, 0.3 s have gone by."""
    watch = Stopwatch(clocks)
    watch.start()
    for seconds in (0.125, 3600.0, 0.125):
        clocks.wall += seconds
        spent = watch.read()
    assert spent.wall == pytest.approx(0.55)


def test_the_wall_clock_counts_where_processor_time_cannot_be_read(clocks: Any) -> None:
    """Nobody thinks for nothing."""
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
    """A thread goes on working while the opponent thinks."""
    with started(rogues.rogue("works_on", "process"), tmp_path) as process:
        seen = process._watch.meter
        process.ask([asking.choose()], Allowed())
        begun = seen.look()
        until(lambda: seen.look() > begun + 0.5)
        spent = process.ask([asking.choose()], Allowed()).spent
    assert spent.before > 0.4
    assert spent.charged > 0.4


def test_the_backstop_follows_from_the_limit() -> None:
    """Ten times the limit and at least 30 s, unless the config says how many seconds."""
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


def test_memory_is_seen_where_the_first_thread_has_ended() -> None:
    """The kernel then says 0 of the process, and the other threads' files have it."""
    call = {"x86_64": 60, "aarch64": 93}.get(platform.machine())
    if call is None:
        pytest.skip("the number of this system call is not known here")
    with running(LEADER_ENDS.format(exit=call)) as process:
        until(lambda: psutil.Process(process.pid).status() == psutil.STATUS_ZOMBIE)
        assert read_usage(process.pid, 1 << 30).memory > 64 << 20


SHARED = "x = b'x' * (64 << 20); os.fork(); os.fork(); os.write(1, b'x'); time.sleep(600)"
TABLES = """
import mmap
m = mmap.mmap(-1, 1 << 36, prot=mmap.PROT_READ, flags=0x4022)
for place in range(0, 1 << 36, 1 << 21): m[place]
print(flush=True); sys.stdin.read()
"""


def test_memory_is_that_of_all_processes() -> None:
    """Pages that a child shares with its parent count once; a sum of both is only a first look."""
    with running(SHARED) as process:
        assert process.stdout.read(4) == b"xxxx"
        assert len(find_below(process.pid)) == 3
        assert read_usage(process.pid, 1 << 40).memory > 4 * (64 << 20)
        usage = read_usage(process.pid, 1 << 20)
        assert usage.processes == 3
        assert 64 << 20 < usage.memory < 2 * (64 << 20)


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


def test_an_output_that_is_closed_is_seen() -> None:
    """While the process goes on: how it has ended would say more."""
    with running("os.close(1); time.sleep(600)") as process:
        until(lambda: said(process) == CLOSED)
    with running("os.close(2); os.write(1, b'x'); time.sleep(600)") as process:
        process.stdout.read(1)
        assert said(process) == ""
    with running("os._exit(3)") as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert said(process) == ""


def test_one_that_waits_for_input_is_seen() -> None:
    """Not if it has not read all, or if a thread has run while it was looked at."""
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
def test_a_program_that_starts_others_is_not_taken_for_one_that_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often it is looked at, and in whatever order its processes are."""
    monkeypatch.setattr("arena.lanes.process._TICK", 0.0)
    (tmp_path / "forking.sh").write_text(FORKING)
    entry = resolve(f"cmd:sh {tmp_path}/forking.sh", lane="process")
    limits = Limits(decision=60.0, start=60.0)
    with bot_process(entry, STANDARD, limits, tmp_path / "own") as process:
        process.start()
