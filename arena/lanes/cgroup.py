"""Cgroup: control groups of Linux (version 2), which hold all processes of a bot together.

Each process of a bot has a group, below one for the run. Where no group can be made, or where
the kernel lets it limit nothing, no error is raised: the other limits are there all the same.
"""

from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from arena.lanes.hierarchy import CONTROLLERS, enable_limits, find_base, remove_tree, write

RUN: Final = "run-"
"""The names of the folders of runs begin so."""

_PREFIX = "noir-arena-"  # of the group of a run, before the name of its folder

_JOIN = '{ echo 0 > "$0"; } 2>/dev/null; exec "$@"'
_ALLOWANCE = 16 << 20  # bytes: process 1 of a jail, and 4.5 MB of the kernel for 33 processes

_numbers = itertools.count()


class Group(NamedTuple):
    """The group of one process of a bot; without a folder it does nothing."""

    folder: Path | None = None

    @property
    def joining(self) -> tuple[str, ...]:
        """The words before a command with which it runs in the group."""
        return ("/bin/sh", "-c", _JOIN, str(self.folder / "cgroup.procs")) if self.folder else ()

    def used(self) -> float:
        """Return the seconds of processor time of all processes that were ever in the group."""
        return self._number("cpu.stat", "usage_usec") / 1e6

    def lacked_memory(self) -> bool:
        """Return whether the kernel has killed the processes because of the group's limit."""
        reached = self._number("memory.events", "oom")  # 0 if the whole machine lacks memory
        return reached > 0 and self._number("memory.events", "oom_kill") > 0

    def _number(self, name: str, key: str) -> int:
        if self.folder:
            with suppress(OSError, ValueError):
                words = (self.folder / name).read_text().split()
                return int(words[words.index(key) + 1])
        return 0

    def kill(self) -> None:
        """Kill all processes of the group at once (Linux 5.14)."""
        if self.folder:
            write(self.folder / "cgroup.kill", "1")

    def remove(self) -> None:
        """Remove the group, and kill what is in it."""
        if self.folder:
            remove_tree(self.folder)


def make_group(folder: Path, megabytes: int, processes: int) -> Group:
    """Return a new group for a process that gets this folder, which is one of a run.

    `processes` includes threads.
    """
    run = _run_of(folder)
    if run is None:
        return Group()
    group = run / f"{os.getpid()}-{next(_numbers)}"
    try:
        group.mkdir()
    except OSError:
        return Group()
    write(group / "memory.max", str((megabytes << 20) + _ALLOWANCE))
    write(group / "memory.swap.max", "0")
    write(group / "memory.oom.group", "1")
    write(group / "pids.max", str(processes))
    return Group(group)


def _run_of(folder: Path) -> Path | None:
    """Return the group of the run to which a folder belongs."""
    names = [part for part in folder.parts if part.startswith(RUN)]
    groups = (_group_of(name) for name in names)
    return next((group for group in groups if group and group.is_dir()), None)


def _group_of(name: str) -> Path | None:
    """Return where the group is of a run whose folder has this name, None if there are none."""
    base = find_base()
    return base / f"{_PREFIX}{name}" if base else None


def try_group() -> set[str]:
    """Return what groups do here: "cpu" to measure, "memory" and "pids" to limit."""
    name = f"{RUN}trial-{os.getpid()}"
    with groups_of_run(name):
        group = make_group(Path(name), 64, 1)
        if group.folder is None:
            return set()
        subprocess.run([*group.joining, "true"], check=False)
        found = {limit for limit in CONTROLLERS if (group.folder / f"{limit}.max").exists()}
        return found | ({"cpu"} if group.used() else set())


@contextmanager
def groups_of_run(name: str, *, is_own_program: bool = True) -> Iterator[None]:
    """Have a group for the run whose folder has this name; at the end remove it.

    Below it the run's bots get theirs. So that there can be limits, the group of this process is
    changed if it is the arena's own program; a program that calls the arena stays where it is. The
    group of a killed run is removed with its folder.
    """
    group = _group_of(name)
    if group:
        with suppress(OSError):
            group.mkdir()
            if is_own_program:
                enable_limits(group.parent)
            enable_limits(group)
    try:
        yield
    finally:
        remove_groups(name)


def remove_groups(name: str) -> None:
    """Remove the group of a run and those below it, and kill what is in them."""
    group = _group_of(name)
    if group and name.startswith(RUN):
        remove_tree(group)
