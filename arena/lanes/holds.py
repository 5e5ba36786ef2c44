"""Describe what limits and measures a bot's processes on this machine, for `arena doctor`."""

from __future__ import annotations

import platform

from arena.entries.entry import Entry
from arena.lanes.bubblewrap import (
    counts_processes,
    find_bubblewrap,
    find_pid_namespaces,
)
from arena.lanes.cgroup import has_groups
from arena.lanes.init import DISK, INODES
from arena.lanes.jail import HOME, libraries, programs, shown
from arena.lanes.meter import READS_CLOCKS
from arena.lanes.syscalls import ALLOWED, DECIDED, make_filter
from arena.lanes.users import IS_ROOT


def describe_holds() -> dict[str, str]:
    """Return what holds the bots in the lanes process and jail, by what is held.

    Raises InputError where there is no jail.
    """
    find_bubblewrap()
    counted = "the kernel" if counts_processes() else "counting them every 0.1 s"
    machine = platform.machine()
    known = f"{len(ALLOWED)} are allowed, and {len(DECIDED)} with some arguments"
    return {
        "memory held by": "a limit for each process, and a reading of all every 0.1 s",
        "processes": f"held by {counted} in a jail, else by counting them every 0.1 s",
        "system calls": known if make_filter() else f"all are allowed on {machine}",
        "private folder": f"{HOME}, {DISK >> 20} MB and {INODES:,} files",
        "user in a jail": "one without rights" if IS_ROOT else "you, in a namespace",
        "lane process": (
            "sees no processes but its own"
            if find_pid_namespaces()
            else "sees and can end your other processes"
        ),
    }


def describe_clock() -> str:
    """Return by what the processor time of a bot is read on this machine."""
    if has_groups():
        return "a control group for each bot, and the clocks of its processes"
    how = "the clocks of its processes" if READS_CLOCKS else "psutil, in hundredths of a second"
    return f"{how}; children that end unseen are not counted"


def describe_shown(entry: Entry) -> list[str]:
    """Return what a bot can read in a jail: programs and libraries of the system, and its own.

    Raises InputError for what no jailed bot is shown.
    """
    words = [*entry.command]
    own = shown(entry, words)
    count = len(libraries(entry, words, own))
    return [*map(str, programs(entry, words)), f"{count} libraries of the system", *map(str, own)]
