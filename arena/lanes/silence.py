"""See from outside that a program will never answer, before its time is up (Linux)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from arena.lanes.meter import read_stat

_READING = ("pipe_read", "anon_pipe_read")  # by the version of the kernel
_WAITING = (*_READING, "do_wait")  # for input, or for a process below
_ENDING = 0x4  # the kernel's PF_EXITING, in the seventh word after the name


def has_closed(pids: Sequence[int], pipe: int) -> bool:
    """Return whether none of these processes has a pipe open any more, by its inode.

    False if their descriptors cannot be read, or change meanwhile, and while one of them ends:
    it has closed its descriptors, and how it has ended is still to be told.
    """
    with suppress(OSError):
        folders = [f"/proc/{pid}/fd" for pid in pids]
        files = [f"{folder}/{name}" for folder in folders for name in os.listdir(folder)]
        is_open = f"pipe:[{pipe}]" in map(os.readlink, files)
        return not (is_open or any(int(read_stat(pid)[6]) & _ENDING for pid in pids))
    return False


def wait_for_input(pids: Sequence[int]) -> bool:
    """Return whether all threads of these processes wait, some for a pipe and others for those.

    If nobody else writes into a pipe of theirs, they wait for ever. False if that is hidden.
    """
    waits: list[str] = []
    with suppress(OSError):
        threads = [thread for pid in pids for thread in Path(f"/proc/{pid}/task").iterdir()]
        waits = [(thread / "wchan").read_text() for thread in threads]
    return all(where in _WAITING for where in waits) and any(where in _READING for where in waits)
