"""Cgroup: control groups of Linux (version 2), which hold all processes of a bot together.

Each process of a bot has a group, below one for the run. Where no group can be made, or where
the kernel lets it limit nothing, no error is raised: the other limits are there all the same.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from arena.lanes.hierarchy import CONTROLLERS, enable_limits, find_base, remove_tree, write
from arena.lanes.lock import lock_folder

PREFIX = "district-noir-"
"""The names of the folders of runs begin so, those of control groups too."""

_JOIN = '{ echo 0 > "$0"; } 2>/dev/null; exec "$@"'
_TRIES = 100  # in a second, to lock the group below which all runs have theirs
_ALLOWANCE = 8 << 20  # bytes of the kernel for 33 processes: 4.5 MB were measured

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
    base = find_base()
    groups = (base / part for part in folder.parts if base and part.startswith(PREFIX))
    return next((group for group in groups if group.is_dir()), None)


def try_group() -> set[str]:
    """Return what groups do here: "cpu" to measure, "memory" and "pids" to limit."""
    name = f"{PREFIX}trial-{os.getpid()}"
    with groups_of_run(name):
        group = make_group(Path(name), 64, 1)
        if group.folder is None:
            return set()
        subprocess.run([*group.joining, "true"], check=False)
        found = {limit for limit in CONTROLLERS if (group.folder / f"{limit}.max").exists()}
        return found | ({"cpu"} if group.used() else set())


@contextmanager
def groups_of_run(name: str) -> Iterator[None]:
    """Have a group for a run, below which its bots get theirs; at the end remove all.

    It is locked as long as this process lives. The groups of killed runs are not locked any
    more; they are removed first.
    """
    base = find_base()
    lock = _open_run(base / name) if base else None
    try:
        yield
    finally:
        if lock is not None:
            remove_groups(name)
            os.close(lock)


def remove_groups(name: str) -> None:
    """Remove the group of a run and those below it, and kill what is in them."""
    base = find_base()
    if base and name.startswith(PREFIX):
        remove_tree(base / name)


def _open_run(run: Path) -> int | None:
    """Return the lock of a new group for a run, None if there can be none.

    One run at a time: another one would take a group that is not locked yet for that of a
    killed run, and kill the first bot in it.
    """
    with suppress(OSError), _locked(run.parent):
        for killed in run.parent.glob(f"{PREFIX}*"):
            with suppress(OSError):  # locked, or another user's
                lock = lock_folder(killed)
                remove_tree(killed)
                os.close(lock)
        run.mkdir()
        lock = lock_folder(run)
        enable_limits(run.parent)
        enable_limits(run)
        return lock
    return None


@contextmanager
def _locked(base: Path) -> Iterator[None]:
    """Hold the lock of a group; raises OSError if somebody keeps it for a second."""
    for tries_left in reversed(range(_TRIES)):
        try:
            lock = lock_folder(base)
            break
        except BlockingIOError:
            if not tries_left:
                raise
            time.sleep(1 / _TRIES)
    try:
        yield
    finally:
        os.close(lock)
