"""Measure and kill all processes of a bot together, with control groups of Linux (version 2).

Each process of a bot has a group, below the group of the run. A group counts the processor time of
every process that was ever in it, and kills them all at once, including those that were detached
from their parent.
The groups set no limits. If no group can be made, no error is raised: a bot's processes are then
measured and killed one by one.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

RUN: Final = "run-"
"""The prefix of the names of runs' folders."""

_PREFIX = "noir-arena-"  # the name of a run's group is this and the name of its folder
_JOIN = '{ echo 0 > "$0"; } 2>/dev/null; exec "$@"'
_TRIES = 50  # at removing a group whose processes are still ending
_PAUSE = 0.01  # seconds between tries

_numbers = itertools.count()


class Group(NamedTuple):
    """The group of one process of a bot; if its folder is None, every method does nothing."""

    folder: Path | None = None

    @property
    def joining(self) -> tuple[str, ...]:
        """The words that, put before a command, start it in the group."""
        return ("/bin/sh", "-c", _JOIN, str(self.folder / "cgroup.procs")) if self.folder else ()

    def used(self) -> float:
        """Return the seconds of processor time of all processes that were ever in the group."""
        if self.folder:
            with suppress(OSError, ValueError):
                words = (self.folder / "cpu.stat").read_text().split()
                return int(words[words.index("usage_usec") + 1]) / 1e6
        return 0.0

    def kill(self) -> None:
        """Kill all processes of the group at once (Linux 5.14)."""
        if self.folder:
            _kill(self.folder)

    def remove(self) -> None:
        """Kill the processes of the group, and remove it."""
        if self.folder:
            _remove_tree(self.folder)


def make_group(folder: Path) -> Group:
    """Return a new group for the process whose temporary folder this is, below its run's group."""
    run = _run_of(folder)
    if run is None:
        return Group()
    group = run / f"{os.getpid()}-{next(_numbers)}"
    try:
        group.mkdir()
    except OSError:
        return Group()
    return Group(group)


def _run_of(folder: Path) -> Path | None:
    """Return the group of the run to which a folder belongs."""
    names = [part for part in folder.parts if part.startswith(RUN)]
    groups = (_group_of(name) for name in names)
    return next((group for group in groups if group and group.is_dir()), None)


def _group_of(name: str) -> Path | None:
    """Return the path of the group of the run whose folder has this name, None without groups."""
    base = find_base()
    return base / f"{_PREFIX}{name}" if base else None


@cache
def find_base() -> Path | None:
    """Return the group of this process, below which new groups are made; None without one."""
    with suppress(OSError):
        own, mounts = (Path("/proc/self", name).read_text() for name in ("cgroup", "mountinfo"))
        return locate(own, mounts)
    return None


def locate(own: str, mounts: str) -> Path | None:
    """Return the folder of a process's group, read from /proc/PID/cgroup and mountinfo.

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
            return Path(place, path.relative_to(root))
    return None


def has_groups() -> bool:
    """Return whether groups can be made here and report processor time."""
    name = f"{RUN}trial-{os.getpid()}"
    with groups_of_run(name):
        group = make_group(Path(name))
        if group.folder is not None:
            subprocess.run([*group.joining, "true"], check=False)
        return group.used() > 0


@contextmanager
def groups_of_run(name: str) -> Iterator[None]:
    """Make a group for the run whose folder has this name; remove it on exit.

    The groups of the run's bots are below it. The group of a killed run is removed with its folder.
    """
    if group := _group_of(name):
        with suppress(OSError):
            group.mkdir()
    try:
        yield
    finally:
        remove_groups(name)


def remove_groups(name: str) -> None:
    """Kill the processes in the group of a run and in those below it, and remove the groups."""
    group = _group_of(name)
    if group and name.startswith(RUN):
        _remove_tree(group)


def _kill(group: Path) -> None:
    """Kill the processes of a group if it exists and this user is permitted to (Linux 5.14)."""
    path = group / "cgroup.kill"
    with suppress(OSError), open(os.open(path, os.O_WRONLY), "w") as file:
        file.write("1")


def _remove_tree(group: Path) -> None:
    """Kill the processes in a group and in those below it, and remove the groups."""
    _kill(group)
    for _ in range(_TRIES):
        try:
            for below in [path for path in group.iterdir() if path.is_dir()]:
                _remove_tree(below)
            group.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(_PAUSE)
        else:
            return
