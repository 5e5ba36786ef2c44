"""Writes into what its worker shares with the parent, or into its log, in its first decision."""

import gc
import os
import pickle
import signal
import struct
import threading
import time
from contextlib import suppress
from pathlib import Path


class Evil:
    """Ends the process in which it is unpickled."""

    def __reduce__(self):
        return (exec, ("raise SystemExit('run in another process')",))


EVIL = pickle.dumps(Evil())
WORDS = b"\x92\xa9LastWords\xa1"
IN_PIPES = b"\xff" * 99 + b"\n" + struct.pack("!i", len(EVIL)) + EVIL
IN_SOCKETS = {
    "four": b"\0\0\0\1",
    "pickle": struct.pack("<Q", len(EVIL)) + EVIL,
    "long": struct.pack("<Q", 1 << 62),
    "begun": struct.pack("<Q", 1 << 19),
    "unknown": struct.pack("<Q", 0),
    "words": struct.pack("<Q", 13) + WORDS + b"x",
    "words_of_nobody": struct.pack("<Q", 13) + (WORDS + b"\x1b") * 2,
}


def write(data, kind):
    for link in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            if int(link.name) > 2 and kind in os.readlink(link):
                os.write(int(link.name), data)


def find_progress():
    """Return the memory that a worker shares with its parent, in a list; nothing elsewhere."""
    return [thing for thing in gc.get_objects() if type(thing).__name__ == "_Home"]


def die_far_away():
    """Say that other pairs are played, and end the worker; elsewhere do nothing."""
    for progress in find_progress():
        progress.playing(0, 1, 1 << 62)
        os.kill(os.getpid(), signal.SIGKILL)


def beat_for_ever():
    """Give the signs of life of a worker, and never answer; elsewhere do nothing."""
    found = find_progress()
    if not found:
        return

    def beat():
        while True:
            found[0].beat()
            time.sleep(0.01)

    threading.Thread(target=beat, daemon=True).start()
    while True:
        time.sleep(0.01)


class Garbles:
    """`how` names the way."""

    def __init__(self, _setup, how: str = "four"):
        self.how = how

    def choose(self, view, /):
        """Write once, and return the first legal action."""
        if len(view.history) < 2:
            if self.how == "beats":
                beat_for_ever()
            elif self.how == "progress":
                die_far_away()
            elif self.how == "pipes":
                write(IN_PIPES, "pipe:")
            else:
                write(IN_SOCKETS[self.how], "socket:")
        return view.legal[0]


bot = Garbles
