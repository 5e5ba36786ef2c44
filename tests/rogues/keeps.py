"""Keeps something of every game in its process, and plays on: an honest leak.

`what` is threads, memory, children or files.
"""

import os
import time
from concurrent.futures import ThreadPoolExecutor

SECONDS = 600.0  # for which a child lives whose parent goes on

kept = []  # of all games of this process


def keep_threads(much):
    pool = ThreadPoolExecutor(much)
    kept.append((pool, [pool.submit(time.sleep, 0.01) for _ in range(much)]))


def keep_memory(much):
    kept.append(b"\1" * (much << 20))


def keep_children(much):
    for _ in range(much):
        if (child := os.fork()) == 0:
            time.sleep(SECONDS)
            os._exit(0)
        kept.append(child)


def keep_files(much):
    kept.extend(os.open(os.devnull, os.O_RDONLY) for _ in range(much))


KEEP = {
    "threads": (keep_threads, 2),
    "memory": (keep_memory, 2),
    "children": (keep_children, 1),
    "files": (keep_files, 1),
}


class Keeps:
    """Plays the first legal action; `much` is how much it keeps of a game: 2 MB, 1 file."""

    def __init__(self, _setup, what: str = "memory", much: int = 0):
        keep, usual = KEEP[what]
        keep(much or usual)

    def choose(self, view, /):
        return view.legal[0]


bot = Keeps
