"""Holds: by what a bot's processes are limited on this machine, in words."""

from __future__ import annotations

import platform

from arena.entries.entry import Entry
from arena.lanes.allowed import ALLOWED
from arena.lanes.bubblewrap import (
    counts_processes,
    find_bubblewrap,
    find_pid_namespaces,
)
from arena.lanes.cgroup import try_group
from arena.lanes.hierarchy import find_base, read
from arena.lanes.init import DISK, INODES
from arena.lanes.jail import HOME, libraries, programs, shown
from arena.lanes.meter import READS_CLOCKS
from arena.lanes.syscalls import DECIDED, make_filter
from arena.lanes.users import IS_ROOT

_GROUP = "a control group"
_SCOPE = f"`systemd-run {'' if IS_ROOT else '--user '}--scope -p Delegate=yes arena ...`"


def describe_holds() -> dict[str, str]:
    """Return what holds the bots in the lanes process and jail, by what is held.

    Raises InputError where there is no jail.
    """
    find_bubblewrap()
    grouped = try_group()
    counted = "the kernel" if counts_processes() else "counting them every 0.1 s"
    machine = platform.machine()
    known = f"{len(ALLOWED)} are allowed, and {len(DECIDED)} with some arguments"
    return {
        "memory held by": _GROUP
        if "memory" in grouped
        else f"a limit for each process, and a reading of all every 0.1 s{_more()}",
        "processes": f"held by {_GROUP}"
        if "pids" in grouped
        else f"held by {counted} in a jail, else by counting them every 0.1 s",
        "system calls": known if make_filter() else f"all are allowed on {machine}",
        "private folder": f"{HOME}, {DISK >> 20} MB and {INODES:,} files",
        "user in a jail": "one without rights" if IS_ROOT else "you, in a namespace",
        "lane process": (
            "sees no processes but its own"
            if find_pid_namespaces()
            else "sees and can end your other processes"
        ),
    }


def _more() -> str:
    """Return how the arena gets control groups that limit, where the machine has them."""
    base = find_base()
    roots = base.parents if base else ()
    if any("memory" in read(root / "cgroup.controllers") for root in roots):
        return f"; by {_GROUP} under {_SCOPE}"
    return ""


def describe_clock() -> str:
    """Return by what the processor time of a bot is read on this machine."""
    if "cpu" in try_group():
        return f"{_GROUP} for each bot, and the clocks of its processes"
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
