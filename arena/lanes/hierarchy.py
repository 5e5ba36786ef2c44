"""Hierarchy: where this process may make control groups, and what they can limit there."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

import psutil

CONTROLLERS: Final = ("memory", "pids")
"""What a control group can limit here, in the kernel's words."""

_LEAF = "district-noir"  # the group of the arena's own processes
_TRIES = 50  # to remove a group whose processes are ending
_PAUSE = 0.01  # seconds from one to the next


@cache
def find_base() -> Path | None:
    """Return the group of this process, below which others may be made; None without one."""
    with suppress(OSError):
        own, mounts = (Path("/proc/self", name).read_text() for name in ("cgroup", "mountinfo"))
        return locate(own, mounts)
    return None


def locate(own: str, mounts: str) -> Path | None:
    """Return the folder of a process's group, by its files `cgroup` and `mountinfo`.

    >>> locate("4:pids:/x\\n0::/a/b", "41 31 0:38 /a /sys/fs/cgroup rw - cgroup2 c rw").as_posix()
    '/sys/fs/cgroup/b'
    """
    paths = [line[3:] for line in own.splitlines() if line.startswith("0::")]
    for line in mounts.splitlines():
        fields, _, kind = line.partition(" - ")
        if not paths or not kind.startswith("cgroup2 "):
            continue
        root, place = fields.split()[3:5]
        path = Path(paths[0])
        if path.is_relative_to(root) and ".." not in path.parts:
            folder = Path(place, path.relative_to(root))
            return folder.parent if folder.name == _LEAF else folder
    return None


def enable_limits(group: Path) -> None:
    """Have limits in the groups below a group.

    No group but the root can have both limits below it and processes. If all of them are this
    one and its children, as in a scope of systemd, they move into a group of their own.
    """
    if not _lacks(group):
        return
    members = {int(pid) for pid in read(group / "cgroup.procs")}
    below = {process.pid for process in psutil.Process().children(recursive=True)}
    if not members or not members <= {os.getpid(), *below}:
        return
    with suppress(OSError):
        (group / _LEAF).mkdir(exist_ok=True)
        _move(members, group / _LEAF)
        if _lacks(group):
            _move(members, group)
            (group / _LEAF).rmdir()


def _lacks(group: Path) -> bool:
    """Switch limits on below a group; return whether one that there could be is still off."""
    names = {*CONTROLLERS} & {*read(group / "cgroup.controllers")}
    for name in names:
        write(group / "cgroup.subtree_control", f"+{name}")
    return not names <= {*read(group / "cgroup.subtree_control")}


def _move(pids: set[int], group: Path) -> None:
    for pid in pids:
        write(group / "cgroup.procs", str(pid))


def remove_tree(group: Path) -> None:
    """Remove a group and those below it, and kill what is in them (Linux 5.14)."""
    write(group / "cgroup.kill", "1")
    for _ in range(_TRIES):
        try:
            for below in [path for path in group.iterdir() if path.is_dir()]:
                remove_tree(below)
            group.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(_PAUSE)
        else:
            return


def read(path: Path) -> list[str]:
    """Return the words of a file, none if it cannot be read."""
    with suppress(OSError):
        return path.read_text().split()
    return []


def write(path: Path, text: str) -> None:
    """Write to one of the kernel's files, if it is there and this user may."""
    with suppress(OSError), open(os.open(path, os.O_WRONLY), "w") as file:
        file.write(text)
