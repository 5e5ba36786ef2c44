"""Run the check of a bot in a separate process, and report its result even if it crashes."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import msgspec

from arena.check import LONGEST
from arena.check.item import NAMES, Item, Order
from arena.errors import ArenaError, Exhausted, blaming_machine
from arena.lanes.cleanup import children, kill_orphans
from arena.lanes.faults import describe_exit
from arena.lanes.launch import Program
from arena.lanes.meter import Meter, read_clock
from arena.lanes.scratch import scratch_folder

SILENCE = 30.0  # seconds without a sign of life
_NOT_TRIED = "not tried"
_PATIENCE = 1.0
_MOST_LINE = 1 << 20
SLOWER = 60  # the limit by the clock is this many times as long: eight checks share a machine


class NoVerdict(ArenaError):
    """A check has ended early, and for what the bot did."""


class CutShort(NoVerdict):
    """A bot has used up the time of its check."""


class _Line(msgspec.Struct):
    """A message of the inspector: an item, the name of the item in progress, or its end.

    `refused` is what the machine has refused.
    """

    item: Item | None = None
    beat: str = ""
    refused: str = ""
    end: bool = False


def run_check(
    order: Order,
    working: Callable[[str], None] = lambda _: None,
    silence: float = SILENCE,
    longest: float = LONGEST,
) -> Iterator[Item]:
    """Yield every item of the report, each as soon as it and those before it are known.

    `working` is called with the name of the item in progress. Raises CutShort if the bot's
    processes use more than `longest` seconds of processor time, NoVerdict if it has broken the
    check, and Exhausted for what the machine refuses. If a bot outside the jail kills the check,
    the item in progress has failed.
    """
    with blaming_machine("the check"), scratch_folder() as folder, killing_orphans():
        program, out = _start(order, folder)
        try:
            lines = _lines(out, silence)
            yield from _complete(_items(program, lines, order, working, longest))
        finally:
            out.close()
            program.kill()


_lock = threading.Lock()
_checks: list[set[int]] = []
"""For each check in progress, the processes that were there before the first of them."""


@contextmanager
def killing_orphans() -> Iterator[None]:
    """Kill what the bots of the block have left, unless another thread is in such a block.

    Then the last block to end does so: what it finds may belong to any of them.
    """
    with _lock:
        _checks.append(_checks[0] if _checks else children())
    try:
        yield
    finally:
        with _lock:
            others = _checks.pop()
            if not _checks:
                kill_orphans(others)


def _complete(items: Iterator[Item]) -> Iterator[Item]:
    """Yield the items, and a placeholder for each item that was not tried."""
    names = iter(NAMES)
    for item in items:
        for name in names:
            if name == item.name:
                break
            yield Item(name, "none", _NOT_TRIED)
        yield item
    for name in names:
        yield Item(name, "none", _NOT_TRIED)


def _start(order: Order, folder: Path) -> tuple[Program, socket.socket]:
    """Return the program of the inspector, and the socket on which it reports.

    A socket, unlike a pipe, cannot be reopened through /proc.
    """
    ours, theirs = socket.socketpair()
    main = f"from arena.check import inspector; inspector.main({os.getpid()})"
    with closing(theirs):
        program = Program(main, stdin=subprocess.PIPE, stdout=theirs.fileno(), bufsize=0)
    assert program.process.stdin is not None
    with suppress(BrokenPipeError):  # it has ended, and `_items` says why
        program.process.stdin.write(msgspec.json.encode((order, str(folder))) + b"\n")
    return program, ours


def _items(
    inspector: Program,
    lines: Iterator[bytes],
    order: Order,
    working: Callable[[str], None],
    longest: float,
) -> Iterator[Item]:
    """Yield the inspector's items; if it was killed, the last one is a failure."""
    stage = NAMES[0]
    begun, meter = time.monotonic(), Meter(inspector.process.pid)
    names = iter(NAMES)
    text = b""
    for text in lines:
        line = _decode(text)
        if line is None or (line.item is not None and line.item.name not in names):
            yield Item(stage, "fail", "protocol: something else writes the report", "protocol")
            return
        if line.end:
            return
        if line.refused:
            raise Exhausted(line.refused)
        _check_time(meter, longest, time.monotonic() - begun, stage)
        if line.item is not None:
            yield line.item
        stage = line.beat or stage
        working(stage)
    ending = _ending(inspector.process)
    has_exited = ending.startswith("ended with exit status")
    if order.jailed or has_exited:
        reason = inspector.last_words() or ending
        is_machine = not text or not has_exited  # no bot had begun, or none could reach it
        kind = Exhausted if is_machine else NoVerdict
        raise kind(f"the check itself has failed at {stage!r}: {reason}")
    yield Item(stage, "fail", f"crash: the process that was checking it {ending}", "crash")


def _check_time(meter: Meter, longest: float, clock: float, stage: str) -> None:
    """Raise CutShort if the processes below the inspector have worked, or slept, for too long."""
    used = meter.look() - (read_clock(meter.pid) or 0.0) if meter.works else clock
    if used > longest:
        raise CutShort(f"cut short at {stage!r}: the bot used {longest:,g} s of processor time")
    if clock > SLOWER * longest:
        slept = f"after {clock:,.0f} s the bot had worked for {used:,.0f} s: it sleeps or waits"
        raise CutShort(f"cut short at {stage!r}: {slept}")


def _decode(text: bytes) -> _Line | None:
    """Return the decoded line of the inspector, None if it is invalid."""
    try:
        return msgspec.json.decode(text, type=_Line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def _lines(out: socket.socket, silence: float) -> Iterator[bytes]:
    """Yield lines until the input ends, or nothing arrives for `silence` seconds."""
    rest = b""
    while len(rest) < _MOST_LINE and select.select([out], [], [], silence)[0]:
        data = out.recv(1 << 16)
        if not data:
            return
        *lines, rest = (rest + data).split(b"\n")
        yield from lines


def _ending(process: subprocess.Popen[bytes]) -> str:
    """Return how the inspector ended, in words."""
    try:
        return describe_exit(process.wait(_PATIENCE))
    except subprocess.TimeoutExpired:
        return "was stopped"
