"""Looks for files of the machine that are neither Python's, nor its own, nor a tool's."""

import os
import sys

EXPECTED = {
    "/": {"bin", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "tmp", "usr"},
    "/etc": {"alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d"},
    "/usr": {"bin", "lib", "lib32", "lib64", "libexec", "local", "sbin"},
    "/dev": {"fd", "null", "random", "shm", "stderr", "stdin", "stdout", "urandom"},
    "/proc": {"self", "thread-self"},
}
PLACES = ("/usr/share", "/usr/include", "/usr/lib/gcc", "/var", "/home", "/sys", "/run", "/boot")
MOST_PROGRAMS = 45


def found():
    """Yield what is there and should not be."""
    mine = {path.split("/")[1] for path in (sys.prefix, sys.base_prefix, __file__, os.__file__)}
    import engine

    mine.add(engine.__file__.split("/")[1])
    for folder, expected in EXPECTED.items():
        for name in os.listdir(folder):
            is_own = folder == "/" and name in mine
            if not (name in expected or is_own or (folder == "/proc" and name.isdigit())):
                yield os.path.join(folder, name)
    yield from (place for place in PLACES if os.path.exists(place) and place[1:] not in mine)
    if len(os.listdir("/usr/bin")) > MOST_PROGRAMS:
        yield "more than the tools in /usr/bin"


class Strays:
    """Looks in its first decision."""

    def __init__(self, _setup):
        pass

    def choose(self, view, /):
        """Raise if there is anything."""
        if not view.history[1:] and (said := [*found()]):
            raise RuntimeError(f"sees {said[:5]}")
        return view.legal[0]


bot = Strays
