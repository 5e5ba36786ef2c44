"""Confine: a script that limits its own process and then becomes another program.

`python confine.py MEGABYTES COMMAND...`. It imports nothing of the arena, and starts in 10 ms.
"""

import os
import signal
import sys

_MB = 1 << 20
_MOST_FILE = 64 * _MB
_MOST_OPEN = 256
_PR_SET_PDEATHSIG = 1


def confine(megabytes: int) -> None:
    """Limit the memory, the size and the number of files; die with the parent process.

    The memory limit is on writable memory (RLIMIT_DATA), because runtimes such as Node's
    reserve address space that they never use.
    """
    import resource

    limits = {
        resource.RLIMIT_DATA: megabytes * _MB,
        resource.RLIMIT_FSIZE: _MOST_FILE,
        resource.RLIMIT_NOFILE: _MOST_OPEN,
        resource.RLIMIT_CORE: 0,
    }
    for kind, most in limits.items():
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def main(words: list[str]) -> None:
    """Become the command; exit with status 127 if it cannot be run."""
    parent = os.getppid()
    confine(int(words[0]))
    if os.getppid() != parent:  # the parent died before prctl was called
        sys.exit(1)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    try:
        os.execvp(words[1], words[1:])
    except OSError as error:
        print(f"{words[1]}: {error.strerror}", file=sys.stderr)
        sys.exit(127)


if __name__ == "__main__":
    main(sys.argv[1:])
