"""Detect from outside that a program will never answer, before its time is up (Linux)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from arena.lanes.meter import read_stat

_READING = ("pipe_read", "anon_pipe_read")  # the name depends on the kernel's version
_WAITING = (*_READING, "do_wait")  # for input, or for a child
_ENDING = 0x4  # the kernel's PF_EXITING, in the seventh word after the name


def has_closed(pids: Sequence[int], pipe: int) -> bool:
    """Return whether no process among these has the pipe with this inode open any more.

    False if their descriptors cannot be read or change meanwhile. False also while a process is
    ending: it has closed its descriptors, but its exit status is not known yet.
    """
    with suppress(OSError):
        folders = [f"/proc/{pid}/fd" for pid in pids]
        files = [f"{folder}/{name}" for folder in folders for name in os.listdir(folder)]
        is_open = f"pipe:[{pipe}]" in map(os.readlink, files)
        return not (is_open or any(int(read_stat(pid)[6]) & _ENDING for pid in pids))
    return False


def wait_for_input(pids: Sequence[int]) -> bool:
    """Return whether all threads of these processes wait for input from a pipe, or for a child.

    If no other process writes into their pipes, they wait for ever. False if the state of a
    thread cannot be read.
    """
    waits: list[str] = []
    with suppress(OSError):
        threads = [thread for pid in pids for thread in Path(f"/proc/{pid}/task").iterdir()]
        waits = [(thread / "wchan").read_text() for thread in threads]
    return all(where in _WAITING for where in waits) and any(where in _READING for where in waits)
