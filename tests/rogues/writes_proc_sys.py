"""Opens the kernel's settings for writing, and closes them; writes nothing."""

import os
from pathlib import Path

PLACES = (
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/ns_last_pid",
    "/proc/sys/vm/drop_caches",
    "/proc/sys/net/ipv4/ip_forward",
    "/proc/sysrq-trigger",
    "/proc/irq/default_smp_affinity",
    "/sys/kernel/uevent_helper",
)


class WritesProcSys:
    """Looks in its first decision."""

    def __init__(self, _setup):
        pass

    def choose(self, view, /):
        """Raise if anything can be opened."""
        if view.history[1:]:
            return view.legal[0]
        opened = []
        for place in (*PLACES, *map(str, Path("/proc/sys/user").glob("*"))):
            try:
                os.close(os.open(place, os.O_WRONLY))
            except OSError:
                continue
            opened.append(place)
        if opened:
            raise RuntimeError(f"opened {opened}")
        return view.legal[0]


bot = WritesProcSys
