"""Memory: what all processes of a bot use together, read from outside."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil

from arena.lanes.cleanup import descendants

_PROC = Path("/proc")
_KIB = 1 << 10
_INODE = 1 << 10  # bytes that the kernel keeps for a file in memory
_SHARES = ("Pss_Anon", "Pss_Shmem", "SwapPss")
_LISTS_CHILDREN = Path(f"/proc/self/task/{os.getpid()}/children").exists()  # 0.1 ms, not 10
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Usage(NamedTuple):
    """How many processes there are below the first one, and the bytes that all use."""

    processes: int
    memory: int


def read_usage(pid: int, most: int, private: str = "") -> Usage:
    """Return what a process and all below it use.

    A first look counts memory that processes share once for each of them. Only where this is
    more than `most` bytes, a second one divides it among them. `private` is a jail's folder that
    lies in memory and counts too; the jail's own two processes do not count. What cannot be read
    counts nothing.
    """
    below = find_below(pid)
    pids = below[1:] if private else [pid, *below]
    folder = _folder_bytes(below, private) if private else 0
    tables = sum(map(_tables, pids))
    if (memory := sum(map(_resident, pids)) + folder + tables) > most:
        memory = _shared_out(pids, folder) + tables
    return Usage(len(below), memory)


def find_below(pid: int) -> list[int]:
    """Return the processes below a process, each after its parent."""
    if not _LISTS_CHILDREN:
        with suppress(psutil.Error):
            return [process.pid for process in descendants(psutil.Process(pid))]
        return []
    found = [pid]
    for parent in found:
        found += find_children(parent)
    return found[1:]


def find_children(pid: int) -> list[int]:
    """Return the children of a process, none if it has ended."""
    children: list[int] = []
    if not _LISTS_CHILDREN:
        with suppress(psutil.Error):
            children += [process.pid for process in psutil.Process(pid).children()]
    with suppress(OSError):  # it has ended
        for thread in os.scandir(f"{_PROC}/{pid}/task"):
            children += map(int, Path(thread, "children").read_text().split())
    return children


def _resident(pid: int) -> int:
    """Return the bytes of a process that are in memory, shared ones too."""
    with suppress(OSError, ValueError, IndexError):
        if pages := int((_PROC / str(pid) / "statm").read_text().split()[1]):
            return pages * _PAGE
        for thread in os.scandir(_PROC / str(pid) / "task"):  # the first one may have ended
            if pages := int(Path(thread, "statm").read_text().split()[1]):
                return pages * _PAGE
    return 0


def _tables(pid: int) -> int:
    """Return the bytes of the kernel that say where the memory of a process lies."""
    with suppress(OSError, IndexError):  # ended: a zombie has none
        text = (_PROC / str(pid) / "status").read_text(errors="replace")
        return int(text.partition("\nVmPTE:")[2].split(maxsplit=1)[0]) * _KIB
    return 0


def _shared_out(pids: list[int], folder: int) -> int:
    """Return the bytes of all processes, without programs and libraries; a page counts once."""
    own = shared = 0
    for pid in pids:
        try:
            text = (_PROC / str(pid) / "smaps_rollup").read_text()
        except OSError:  # hidden by the process, or not known to this kernel
            own += _resident(pid)
            continue
        fields = dict(line.split(":", 1) for line in text.splitlines()[1:])
        sizes = [int(fields.get(name, "0").split()[0]) * _KIB for name in _SHARES]
        own, shared = own + sizes[0] + sizes[2], shared + sizes[1]
    return own + max(shared, folder)  # files of the folder can be mapped


def _folder_bytes(pids: list[int], private: str) -> int:
    """Return the bytes of the files in a folder as the processes see it, and of their names.

    While bubblewrap is still making their root, they see the folder of this machine: no file in
    it is theirs.
    """
    for pid in reversed(pids):
        with suppress(OSError):
            folder = f"{_PROC}/{pid}/root{private}"
            if os.stat(folder).st_dev == os.stat(private).st_dev:
                continue
            status = os.statvfs(folder)
            blocks = (status.f_blocks - status.f_bfree) * status.f_frsize
            return blocks + (status.f_files - status.f_ffree) * _INODE
    return 0
