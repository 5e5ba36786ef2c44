"""Reaches for other processes: sends them signal 0, which does nothing, and opens their files."""

import os


def others():
    """Return the numbers of the processes that are not its own, nor above it in a container."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) > 1]


def killable():
    """Yield the processes that it could kill."""
    for number in others():
        try:
            if number != os.getpid() and os.getpgid(number) != os.getpgid(0):
                os.kill(number, 0)
                yield f"could kill {number}"
        except OSError:
            continue


def writable():
    """Yield the files of its parent that it could write to and does not hold itself."""
    parent = os.getppid()
    own = {os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")[:-1]}
    try:
        names = os.listdir(f"/proc/{parent}/fd")
    except OSError:
        return
    for name in names:
        path = f"/proc/{parent}/fd/{name}"
        try:
            target = os.readlink(path)
            if target in own or target.startswith(("/dev/", "/proc/")):
                continue
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            continue
        yield f"could write to {target} of its parent"


class Reaches:
    """`what` is what it reaches for."""

    def __init__(self, _setup, what: str):
        self.what = what

    def choose(self, view, /):
        """Raise if anything is in reach."""
        if view.history[1:]:
            return view.legal[0]
        if found := [*{"kill": killable, "write": writable}[self.what]()]:
            raise RuntimeError(f"{found[:3]}")
        return view.legal[0]


bot = Reaches
