"""Forks without end, and so do its children; here the end is 20 seconds or `most`."""

import mmap
import os
import time

SECONDS = 20.0


class Forks:
    """With `away`, every child leaves for a session of its own first."""

    def __init__(self, _setup, away: bool = False, most: int = 500):
        self.away = away
        self.most = most

    def choose(self, _view, /):
        """Fork, and fork again."""
        forked = mmap.mmap(-1, 8)  # shared by all of them
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
