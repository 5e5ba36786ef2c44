"""Inspector: the program in which a bot is inspected, and which the bot may take down."""

from __future__ import annotations

import os
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import msgspec

from arena.check.inspection import Inspection
from arena.check.order import Order
from arena.check.sparring import OPPONENTS, Candidate
from arena.entries.ladder import ELO
from arena.entries.resolve import resolve
from arena.lanes.cleanup import adopt_orphans, die_with

_BEAT = 0.5  # seconds between two signs of life
_LABEL = "checked"  # of a bot that has the label of one of its opponents


class _Speaker:
    """Writes lines of JSON: the items, and from time to time which one is worked on."""

    def __init__(self, out: BinaryIO) -> None:
        self.out = out
        self.stage = ""
        self.last = 0.0

    def say(self, **line: object) -> None:
        self.out.write(msgspec.json.encode(line) + b"\n")
        self.out.flush()

    def begin(self, stage: str) -> None:
        self.stage = stage
        self.last = time.monotonic()
        self.say(beat=stage)

    def beat(self) -> None:
        if time.monotonic() - self.last > _BEAT:
            self.begin(self.stage)


def main(parent: int) -> None:
    """Read an order and a folder, write the items; exit as soon as the input or the parent ends.

    A bot may have stopped this process, which then does not read.
    """
    die_with(parent)
    order, folder = msgspec.json.decode(sys.stdin.buffer.readline(), type=tuple[Order, str])
    threading.Thread(target=_exit_with_input, daemon=True).start()
    adopt_orphans()
    speaker = _Speaker(sys.stdout.buffer)
    entry = resolve(order.spec, lane=order.lane)
    if entry.label in {*OPPONENTS, *ELO}:
        entry = replace(entry, label=_LABEL)
    candidate = Candidate(entry, order.limits, order.seed, Path(folder), speaker.beat)
    for item in Inspection(candidate, order, speaker.begin).items():
        speaker.say(item=item)
    speaker.say(end=True)


def _exit_with_input() -> None:
    while os.read(0, 1):  # not sys.stdin, whose lock would be in the way at the end
        pass
    os._exit(1)
