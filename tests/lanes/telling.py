"""Measure what two jails that play at the same time tell each other, by several ways.

`python -m tests.lanes.telling ROUNDS HOW...` prints how many of so many numbers one of them
knew of the other, and the share of the bits. Most numbers have ten bits.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from arena.entries.resolve import resolve
from arena.lanes.jail_root import read_all
from arena.lanes.launch import plan_launch
from arena.lanes.limits import Limits
from engine.seeds import stream
from tests import rogues

BITS = 10
WARMED = "warmed"
"""As `fresh`, where the arena has read the file before, as it does before a run's first game."""
TOGETHER = ("load",)
"""The ways for which both work at the same time."""

WIDTHS = {"inodes": 3}
"""The bits of a number, where they are not BITS."""

_LEAD = 0.005  # seconds from a message to the time when both begin


class Known(NamedTuple):
    """How many numbers were known, of how many, and the share of bits that were right."""

    numbers: int
    rounds: int
    bits: float


def measure(how: str, rounds: int) -> Known:
    """Return what one jail has known of another's numbers."""
    numbers, width = stream(1, "tells", how), WIDTHS.get(how, BITS)
    known = right = 0
    with jail(how) as (one, path), jail(how) as (other, _):
        if how in ("fresh", WARMED):
            forget(path)
        if how == WARMED:
            read_all(Path(path))
        for place in range(rounds):
            number = numbers.randrange(1 << width)
            start = time.time() + _LEAD
            send(one, f"tell {place} {start} {number}")
            if how not in TOGETHER:
                receive(one)
            send(other, f"ask {place} {start}")
            heard = receive(other)
            if how in TOGETHER:
                receive(one)
            known += heard == str(number)
            wrong = int(heard) ^ number if heard.isdecimal() else (1 << width // 2) - 1
            right += width - wrong.bit_count()  # who hears nothing guesses half of them
    return Known(known, rounds, right / rounds / width)


@contextmanager
def jail(how: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Yield the process of a program in a jail, when it is ready, and the file that it uses."""
    words = [sys.executable, str(rogues.FOLDER / "tells.py"), "fresh" if how == WARMED else how]
    entry = resolve(f"cmd:{shlex.join(words)}", lane="jail")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        process = stack.enter_context(closing(plan_launch(entry, Limits(), folder))).popen()
        stack.enter_context(process)
        stack.callback(process.kill)
        yield process, receive(process)


def forget(path: str) -> None:
    """Take a file out of the page cache, as if nobody had read it since the machine was started."""
    file = os.open(path, os.O_RDONLY)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)


def send(process: subprocess.Popen[bytes], line: str) -> None:
    """Send a line to a process."""
    assert process.stdin
    process.stdin.write(f"{line}\n".encode())


def receive(process: subprocess.Popen[bytes]) -> str:
    """Return the next line of a process; raise EOFError with its errors where there is none."""
    assert process.stdout
    assert process.stderr
    if line := process.stdout.readline():
        return line.decode().strip()
    raise EOFError(process.stderr.read().decode())


if __name__ == "__main__":
    print(json.dumps({how: measure(how, int(sys.argv[1])) for how in sys.argv[2:]}))
