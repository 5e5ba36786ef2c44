"""Holds: by what a bot's processes are limited on this machine, in words."""

from __future__ import annotations

import platform

from arena.entries.entry import Entry
from arena.lanes.bubblewrap import (
    IS_ROOT,
    bounds_folders,
    counts_processes,
    find_bubblewrap,
    find_pid_namespaces,
)
from arena.lanes.jail import DISK, HOME, shown
from arena.lanes.syscalls import DENIED, make_filter


def describe_holds() -> dict[str, str]:
    """Return what holds the bots in the lanes process and jail, by what is held.

    Raises InputError where there is no jail.
    """
    program = find_bubblewrap()
    counted = "the kernel" if counts_processes() else "counting them every 0.1 s"
    bounded = f"{HOME}, {DISK >> 20} MB" if bounds_folders(program) else "none can be written"
    filtered = f"{len(DENIED)} are refused" if make_filter() else "all are allowed on "
    return {
        "memory held by": "a limit for each process, and a reading of all every 0.1 s",
        "processes": f"held by {counted} in a jail, else by counting them every 0.1 s",
        "system calls": filtered + ("" if make_filter() else platform.machine()),
        "private folder": bounded,
        "user in a jail": "one without rights" if IS_ROOT else "you, in a namespace",
        "lane process": (
            "sees no processes but its own"
            if find_pid_namespaces()
            else "sees and can end your other processes"
        ),
    }


def describe_shown(entry: Entry) -> list[str]:
    """Return what a bot can read in a jail: the system's folders, and then its own.

    Raises InputError for what no jailed bot is shown.
    """
    return ["/usr", "libraries of the system", *map(str, shown(entry, [*entry.command]))]
