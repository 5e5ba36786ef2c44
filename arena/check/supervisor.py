"""Supervisor: has a bot checked in another process, and reports what came of it in any case."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import msgspec

import arena
from arena.check.item import NAMES, Item
from arena.check.order import Order
from arena.errors import ArenaError
from arena.lanes.cleanup import children, kill_orphans, scratch_folder
from arena.lanes.faults import describe_exit

SILENCE = 30.0  # seconds without a sign of life
_ROOT = str(Path(arena.__path__[0]).resolve().parent)
_PROGRAM = f"import sys; sys.path.append({_ROOT!r}); from arena.check.inspector import main; main()"
_NOT_TRIED = "not tried"
_ERRORS = "errors"
_PATIENCE = 1.0


class _Line(msgspec.Struct):
    """What the inspector says: an item, or which one it is working on, or that it is done."""

    item: Item | None = None
    beat: str = ""
    end: bool = False


def run_check(
    order: Order,
    working: Callable[[str], None] = lambda _: None,
    silence: float = SILENCE,
) -> Iterator[Item]:
    """Yield every item of the report, each as soon as it and those before it are known.

    `working` is called with the item that is being worked on. Raises ArenaError where the
    check itself has failed; a bot that kills the check has failed the item.
    """
    with scratch_folder() as folder:
        others = children()
        process = _start(order, folder)
        try:
            yield from _complete(_items(process, working, silence, folder))
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            kill_orphans(others)


def _complete(items: Iterator[Item]) -> Iterator[Item]:
    """Yield the items, and one that says so for each item that was not tried."""
    names = iter(NAMES)
    for item in items:
        for name in names:
            if name == item.name:
                break
            yield Item(name, "none", _NOT_TRIED)
        yield item
    for name in names:
        yield Item(name, "none", _NOT_TRIED)


def _start(order: Order, folder: Path) -> subprocess.Popen[bytes]:
    with (folder / _ERRORS).open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            bufsize=0,
            start_new_session=True,
        )
    assert process.stdin is not None
    process.stdin.write(msgspec.json.encode((order, str(folder))) + b"\n")
    return process


def _items(
    process: subprocess.Popen[bytes], working: Callable[[str], None], silence: float, folder: Path
) -> Iterator[Item]:
    """Yield what the inspector finds; at the end an item that fails if it was killed."""
    assert process.stdout is not None
    stage = NAMES[0]
    for text in _lines(process.stdout, silence):
        line = msgspec.json.decode(text, type=_Line)
        if line.end:
            return
        if line.item is not None:
            yield line.item
        stage = line.beat or stage
        working(stage)
    ending = _ending(process)
    if ending.startswith("ended with exit status"):
        errors = (folder / _ERRORS).read_text(errors="replace").splitlines()
        raise ArenaError(f"the check itself has failed at {stage!r}: {(errors or [ending])[-1]}")
    yield Item(stage, "fail", f"crash: the process that was checking it {ending}", "crash")


def _lines(out: IO[bytes], silence: float) -> Iterator[bytes]:
    """Yield lines until there are no more, or nothing is written for so many seconds."""
    rest = b""
    while select.select([out], [], [], silence)[0]:
        data = os.read(out.fileno(), 1 << 16)
        if not data:
            return
        *lines, rest = (rest + data).split(b"\n")
        yield from lines


def _ending(process: subprocess.Popen[bytes]) -> str:
    """Return how the inspector has ended."""
    try:
        return describe_exit(process.wait(_PATIENCE))
    except subprocess.TimeoutExpired:
        return "was stopped"
