"""Confine: a script that limits its own process and then becomes another program.

`python confine.py MEGABYTES PROCESSES USER COMMAND...`. It imports nothing of the arena, and
starts in 10 ms. Zero processes: their number has no limit. User zero: it stays the user.
"""

import os
import signal
import sys

_MB = 1 << 20
_MOST_FILE = 64 * _MB
_MOST_STACK = 64 * _MB
_MOST_LOCKED = 1 << 16
_MOST_OPEN = 256
_PR_SET_PDEATHSIG = 1
_CAPABILITY_VERSION = 0x20080522
_HARMLESS = {"CapInh": 0, "CapPrm": 0, "CapEff": 0, "CapAmb": 0, "NoNewPrivs": 1}


def confine(megabytes: int, processes: int) -> None:
    """Limit memory, files and processes; die with the parent process.

    The memory limit is on writable memory (RLIMIT_DATA), because runtimes such as Node's
    reserve address space that they never use. The number of processes includes threads.
    """
    import resource

    limits = {
        "DATA": megabytes * _MB,
        "STACK": _MOST_STACK,  # RLIMIT_DATA does not count it
        "FSIZE": _MOST_FILE,
        "MEMLOCK": _MOST_LOCKED,
        "MSGQUEUE": 0,
        "NOFILE": _MOST_OPEN,
        "CORE": 0,
    }
    if processes:
        limits["NPROC"] = processes
    for name, most in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is None:  # only Linux has all
            continue
        soft, hard = (
            most if limit == resource.RLIM_INFINITY else min(most, limit)
            for limit in resource.getrlimit(kind)
        )
        resource.setrlimit(kind, (soft if name == "STACK" else hard, hard))
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def become(user: int) -> None:
    """Become a user without any rights; exit with status 126 where some are left."""
    if os.getuid() == 0:
        import ctypes

        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
        ctypes.CDLL(None).capset(header, (ctypes.c_uint32 * 6)())  # those to inherit, too
    with open("/proc/self/status") as file:
        status = dict(line.split(":", 1) for line in file)
    rights = {name: int(status[name], 16) for name in _HARMLESS}
    if rights != _HARMLESS or {os.getuid(), os.getgid()} != {user}:
        print(f"not confined: {rights}", file=sys.stderr)
        sys.exit(126)


def main(words: list[str]) -> None:
    """Become the command; exit with status 127 if it cannot be run."""
    megabytes, processes, user = map(int, words[:3])
    command = words[3:]
    if user:
        become(user)  # ends what prctl has set, and counts the processes anew
    parent = os.getppid()
    confine(megabytes, processes)
    if os.getppid() != parent:  # the parent died before prctl was called
        sys.exit(1)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        sys.exit(127)


if __name__ == "__main__":
    main(sys.argv[1:])
