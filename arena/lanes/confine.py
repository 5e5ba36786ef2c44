"""Set the resource limits (rlimits) of this process, and execute another program in its place.

Usage: `python confine.py MEGABYTES COMMAND...`. It imports nothing of the arena, and starts in
10 ms. Process 1 of a jail (`init.py`) limits itself and the bot with the same functions.
"""

import os
import signal
import sys

MOST_OPEN = 128
"""Open files of a process; a pipe, of two files, takes up to 64 KB of the kernel's memory."""

DISK = 64 << 20
"""The size in bytes of a jail's private folder, which is in memory."""

INODES = 10_000
"""The most files and folders in it; each takes 1 KB of the kernel's memory."""

GO = b"\n"
"""What the caller writes first into the input: once it is read, all that follows is the bot's."""

_MB = 1 << 20
_MOST_FILE = 64 * _MB
_MOST_STACK = 64 * _MB
_MOST_LOCKED = 1 << 16
_MOST_PENDING = 1024
_PR_SET_PDEATHSIG = 1


def limit(megabytes: int, processes: int = 0) -> None:
    """Limit memory, files and, unless `processes` is 0, the number of processes and threads.

    The memory limit is on writable memory (RLIMIT_DATA), because runtimes such as Node's
    reserve address space that they never use.
    """
    import resource

    limits = {
        "DATA": megabytes * _MB,
        "STACK": _MOST_STACK,  # not counted by RLIMIT_DATA
        "FSIZE": _MOST_FILE,
        "MEMLOCK": _MOST_LOCKED,
        "MSGQUEUE": 0,
        "NOFILE": MOST_OPEN,
        "SIGPENDING": _MOST_PENDING,
        "CORE": 0,
    }
    if processes:
        limits["NPROC"] = processes
    for name, most in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is None:  # not on this system; only Linux has all of them
            continue
        soft, hard = (
            most if limit == resource.RLIM_INFINITY else min(most, limit)
            for limit in resource.getrlimit(kind)
        )
        resource.setrlimit(kind, (soft if name == "STACK" else hard, hard))


def die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent ends (Linux); exit if it has ended."""
    set_process(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before prctl was called
        os._exit(1)


def set_process(option: int, value: int) -> bool:
    """Set an option of this process with prctl (Linux); return whether that succeeded."""
    if sys.platform != "linux":
        return False
    import ctypes

    return bool(ctypes.CDLL(None).prctl(option, value) == 0)


def execute(command: list[str]) -> None:
    """Execute the command in place of this program; exit with status 127 if that fails."""
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(127)


if __name__ == "__main__":
    limit(int(sys.argv[1]))
    die_with(os.getppid())
    os.read(0, len(GO))
    execute(sys.argv[2:])
