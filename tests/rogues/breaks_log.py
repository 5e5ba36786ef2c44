"""Breaks the log of its run, from the worker's process, in its first decision."""

import os
import pickle
import struct
from contextlib import suppress
from pathlib import Path


class Evil:
    """Runs code where it is unpickled."""

    def __reduce__(self):
        return (os.write, (2, b"run in another process\n"))


def write(data):
    """Write into every pipe of this process."""
    for link in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            if int(link.name) > 2 and os.readlink(link).startswith("pipe:"):
                os.write(int(link.name), data)


EVIL = pickle.dumps(Evil())
WAYS = {
    "garbage": lambda: write(b"\xff" * 99 + b"\n"),
    "pickle": lambda: write(struct.pack("!i", len(EVIL)) + EVIL),
}


class Breaks:
    """`how` names the way."""

    def __init__(self, _setup, how: str = "garbage"):
        self.breaks = WAYS[how]

    def choose(self, view, /):
        """Break the log, and return the first legal action."""
        if len(view.history) < 2:
            self.breaks()
        return view.legal[0]


bot = Breaks
