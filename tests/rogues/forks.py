"""Forks, and so do its children, for 4 seconds or up to `most` processes.

Where no more processes are allowed, the first one ends, and the others wait.
"""

import mmap
import os
import tempfile
import time

SECONDS = 4.0


class Forks:
    """With `away`, every child begins a session of its own."""

    def __init__(self, _setup, away: bool = False, most: int = 500):
        self.away = away
        self.most = most

    def choose(self, _view, /):
        """Fork repeatedly, then exit."""
        with tempfile.TemporaryFile() as file:
            file.truncate(8)
            forked = mmap.mmap(file.fileno(), 8)  # shared by all processes
        counts = memoryview(forked).cast("q")
        first = os.getpid()
        deadline = time.monotonic() + SECONDS
        while counts[0] < self.most and time.monotonic() < deadline:
            counts[0] += 1
            try:
                if os.fork() == 0 and self.away:
                    os.setsid()
            except OSError:
                if os.getpid() == first:
                    os._exit(1)
                break
        while time.monotonic() < deadline:
            time.sleep(0.1)
        os._exit(1)


bot = Forks
