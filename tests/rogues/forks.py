"""Forks, and so do its children, for 20 seconds or up to `most` processes."""

import mmap
import os
import time

SECONDS = 20.0


class Forks:
    """With `away`, every child begins a session of its own."""

    def __init__(self, _setup, away: bool = False, most: int = 500):
        self.away = away
        self.most = most

    def choose(self, _view, /):
        """Fork repeatedly, then exit."""
        forked = mmap.mmap(-1, 8)  # shared by all processes
        counts = memoryview(forked).cast("q")
        deadline = time.monotonic() + SECONDS
        while counts[0] < self.most and time.monotonic() < deadline:
            counts[0] += 1
            if os.fork() == 0 and self.away:
                os.setsid()
        while time.monotonic() < deadline:
            time.sleep(0.1)
        os._exit(1)


bot = Forks
