"""See from outside that a program will never answer, before its time is up (Linux)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress

_READING = ("pipe_read", "anon_pipe_read")  # by the version of the kernel
_WAITING = (*_READING, "do_wait")  # for input, or for a process below
_PROC = "/proc"


def has_closed(pids: Sequence[int], pipe: int) -> bool:
    """Return whether none of these processes has a pipe open any more, by its inode.

    A process whose descriptors cannot be read may have it.
    """
    with suppress(OSError):
        return not any(f"pipe:[{pipe}]" == name for pid in pids for name in _open_files(pid))
    return False


def _open_files(pid: int) -> Iterator[str]:
    folder = f"{_PROC}/{pid}/fd"
    for name in os.listdir(folder):
        with suppress(FileNotFoundError):  # closed meanwhile
            yield os.readlink(f"{folder}/{name}")


def wait_for_input(pids: Sequence[int]) -> bool:
    """Return whether all threads of these processes wait, some for a pipe and others for those.

    If nobody else writes into a pipe of theirs, they wait for ever.
    """
    try:
        waits = [_where(thread) for pid in pids for thread in os.scandir(f"{_PROC}/{pid}/task")]
    except OSError:  # one has ended, or is hidden
        return False
    return all(where in _WAITING for where in waits) and any(where in _READING for where in waits)


def _where(thread: os.DirEntry[str]) -> str:
    """Return the function of the kernel in which a thread sleeps."""
    with open(f"{thread.path}/wchan") as file:
        return file.read()
