"""The time that a bot's processes use, read from outside of them."""

from __future__ import annotations

import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from arena.entries.resolve import resolve
from arena.lanes import meter
from arena.lanes.limits import Allowed, Limits
from arena.lanes.meter import Meter, Stopwatch
from arena.lanes.process import BotProcess, bot_process
from engine import STANDARD
from engine.strategy import Spent
from tests import asking, rogues
from tests.tiers import few
from tests.waiting import until

WORK = "import time\nwhile time.process_time() < {seconds}: pass\n"
IN_A_CHILD = "import os\nif os.fork(): os.wait()\nelse:\n while time.process_time() < 0.3: pass\n"
WAIT = "input()\n"


@contextmanager
def running(program: str) -> Iterator[Meter]:
    """Yield the meter of a program that runs until its input ends."""
    words = [sys.executable, "-c", program]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as process:
        yield Meter(process.pid)
        assert process.stdin is not None
        process.stdin.close()
        process.kill()


def reached(whole: Meter, seconds: float) -> float:
    """Return the reading once it is so high, before that 0."""
    reading = whole.look()
    return reading if reading >= seconds else 0.0


@pytest.mark.parametrize(
    "program",
    few(
        [
            f"import time\n{IN_A_CHILD}",
            WORK.format(seconds=0.3),
            "import threading, time\n"
            "def work():\n"
            " while time.process_time() < 0.3: pass\n"
            "threading.Thread(target=work).start()\n",
            f"import time\n{IN_A_CHILD.replace('os.wait()', 'pass')}",
        ]
    ),
    ids=["a child that ends", "itself", "a thread", "a child that is not waited for"],
)
def test_all_work_below_a_process_is_seen(program: str) -> None:
    """The readings only rise, and reach 0.3 s where so much was used."""
    with running(program + WAIT) as whole:
        readings = [until(lambda: reached(whole, 0.3))]
        readings += [whole.read(), whole.look(), whole.look()]
    assert readings == sorted(readings)


def test_a_meter_of_a_process_that_has_ended_keeps_its_last_reading() -> None:
    """So a charge is never negative."""
    with running(WORK.format(seconds=0.1) + WAIT) as whole:
        before = until(lambda: reached(whole, 0.1))
    assert whole.look() >= before
    assert whole.read() >= before


class Clocks:
    """Stands for the wall clock and for the meter of a process, in seconds."""

    looked = 0.0
    works = True

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.wall, self.cpu = 100.0, 5.0
        monkeypatch.setattr(meter, "perf_counter", lambda: self.wall)

    def read(self) -> float:
        return self.cpu

    look = read


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    """Return clocks that the test sets."""
    return Clocks(monkeypatch)


def test_a_turn_has_the_work_before_it_and_in_it(clocks: Clocks) -> None:
    """What is used between two turns belongs to the second one."""
    watch = Stopwatch(clocks)  # type: ignore[arg-type]
    watch.start()
    clocks.wall, clocks.cpu = 100.25, 5.125
    assert watch.stop() == Spent(wall=0.25, cpu=0.125, before=0.0)
    clocks.wall, clocks.cpu = 200.0, 7.125
    watch.start()
    clocks.wall, clocks.cpu = 200.25, 7.25
    assert watch.stop() == Spent(wall=0.25, cpu=0.125, before=2.0)
    watch.restart()
    assert watch.read() == Spent(0.0, 0.0, 0.0)


def test_the_wall_clock_stands_still_while_we_do_not_run(clocks: Clocks) -> None:
    """It is read every 0.1 s; after an hour's sleep of the machine, 0.3 s have gone by."""
    watch = Stopwatch(clocks)  # type: ignore[arg-type]
    watch.start()
    for seconds in (0.125, 3600.0, 0.125):
        clocks.wall += seconds
        spent = watch.read()
    assert spent.wall == pytest.approx(0.55)


def test_the_wall_clock_counts_where_processor_time_cannot_be_read(clocks: Clocks) -> None:
    """Nobody thinks for nothing."""
    clocks.works = False
    watch = Stopwatch(clocks)  # type: ignore[arg-type]
    watch.start()
    clocks.wall += 0.25
    assert watch.stop().charged == 0.25


@contextmanager
def bot(name: str, folder: Path, lane: str) -> Iterator[BotProcess]:
    """Yield the started process of a rogue."""
    entry = rogues.rogue(name, lane)
    with bot_process(entry, STANDARD, Limits(memory=256), folder) as process:
        process.start()
        yield process


def test_work_out_of_turn_is_charged_to_the_next_decision(tmp_path: Path) -> None:
    """A thread goes on working while the opponent thinks."""
    with bot("works_on", tmp_path, "process") as process:
        process.ask([asking.new()], Allowed())
        seen = process._watch.meter
        process.ask([asking.choose()], Allowed())
        begun = seen.look()
        until(lambda: seen.look() > begun + 0.5)
        spent = process.ask([asking.choose()], Allowed()).spent
    assert spent.before > 0.4
    assert spent.charged > 0.4


SLEEPS = """\
    def choose(self, view, /):
        __import__('time').sleep(0.25)
        return view.legal[0]"""


def test_nothing_is_charged_to_a_bot_that_waits(tmp_path: Path) -> None:
    """Whatever the wall clock says."""
    entry = resolve(str(rogues.write(tmp_path, "sleeps", SLEEPS)), lane="process")
    (tmp_path / "folder").mkdir()
    with bot_process(entry, STANDARD, Limits(), tmp_path / "folder") as process:
        process.start()
        process.ask([asking.new()], Allowed())
        time.sleep(0.1)
        spent = process.ask([asking.choose()], Allowed()).spent
    assert spent.wall > 0.2
    assert spent.charged < 0.15


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
    with running(LEADER_ENDS.format(exit=call)) as whole:
        pid = whole.main
        until(lambda: psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
        assert meter.read_usage(pid, 1 << 30).memory > 64 << 20
