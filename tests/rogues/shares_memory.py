"""Fills memory that no limit on one process counts, up to 1.5 GB, and plays on."""

import mmap
import os
import time

MOST = 1500 << 20
STEP = 16 << 20
CHILDREN = 10
SECONDS = 20.0

held = []


def fill(most):
    """Fill shared memory, or the process's own where there is none."""
    for _ in range(most // STEP):
        try:
            held.append(mmap.mmap(-1, STEP))
        except OSError:
            held.append(bytearray(STEP))
        held[-1][:] = b"x" * STEP


class SharesMemory:
    """With `children` it is several processes that fill it, each up to a part."""

    def __init__(self, _setup, children: bool = False):
        self.children = children

    def choose(self, view, /):
        """Fill the memory; the children keep it for 20 seconds."""
        if not self.children:
            fill(MOST)
            return view.legal[0]
        for _ in range(CHILDREN):
            if os.fork() == 0:
                fill(MOST // CHILDREN)
                time.sleep(SECONDS)
                os._exit(0)
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            time.sleep(0.1)
        return view.legal[0]


bot = SharesMemory
