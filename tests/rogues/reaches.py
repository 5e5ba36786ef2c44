"""Reaches for what a jail keeps from it, in its first decision; raises if anything is in reach."""

import os
import sys
from pathlib import Path

SETTINGS = (
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/ns_last_pid",
    "/proc/sys/vm/drop_caches",
    "/proc/sys/net/ipv4/ip_forward",
    "/proc/sysrq-trigger",
    "/proc/irq/default_smp_affinity",
    "/sys/kernel/uevent_helper",
)
FILES = ("mem", "maps", "environ", "fd", "root", "cwd", "exe", "io", "stack", "syscall")
UNLIMITED = ("Max processes", "Max data size", "Max open files", "Max file size")
EXPECTED = {
    "/": {"bin", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "tmp", "usr"},
    "/etc": {"alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d"},
    "/usr": {"bin", "lib", "lib32", "lib64", "libexec", "local", "sbin"},
    "/dev": {"fd", "null", "random", "shm", "stderr", "stdin", "stdout", "urandom"},
    "/proc": {"self", "thread-self"},
}
PLACES = ("/usr/share", "/usr/include", "/usr/lib/gcc", "/var", "/home", "/sys", "/run", "/boot")
MOST_PROGRAMS = 45


def settings():
    """Yield the kernel's settings that it could open for writing; it writes nothing."""
    for place in (*SETTINGS, *map(str, Path("/proc/sys/user").glob("*"))):
        try:
            os.close(os.open(place, os.O_WRONLY))
        except OSError:
            continue
        yield place


def kill():
    """Yield the processes that it could kill; signal 0 does nothing."""
    others = [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) > 1]
    for number in others:
        try:
            if number != os.getpid() and os.getpgid(number) != os.getpgid(0):
                os.kill(number, 0)
                yield f"could kill {number}"
        except OSError:
            continue


def write():
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


def memory():
    """Yield what it could open or use of a process that is not its own, and has not itself."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    own = {str(os.getpid()), *children}
    limits = Path("/proc/self/limits").read_text().splitlines()
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or folder.name in own:
            continue
        for name in FILES:
            path = folder / name
            try:
                if name == "mem":
                    os.close(os.open(path, os.O_RDWR))
                elif name in ("fd", "root", "cwd"):
                    os.listdir(path)
                else:
                    path.read_bytes()
            except PermissionError:
                continue
            except OSError as error:
                yield f"{path}: {error.strerror}"
                continue
            yield str(path)
        for line in (folder / "limits").read_text().splitlines():
            if line.startswith(UNLIMITED) and line not in limits:
                yield f"{folder.name}: {line}"


def files():
    """Yield files of the machine that are neither Python's, nor its own, nor a tool's."""
    import engine

    ours = (sys.prefix, sys.base_prefix, __file__, os.__file__, engine.__file__)
    mine = {path.split("/")[1] for path in ours}
    for folder, expected in EXPECTED.items():
        for name in os.listdir(folder):
            is_own = folder == "/" and name in mine
            if not (name in expected or is_own or (folder == "/proc" and name.isdigit())):
                yield os.path.join(folder, name)
    yield from (place for place in PLACES if os.path.exists(place) and place[1:] not in mine)
    if len(os.listdir("/usr/bin")) > MOST_PROGRAMS:
        yield "more than the tools in /usr/bin"


class Reaches:
    """`what` is what it reaches for."""

    def __init__(self, _setup, what: str):
        self.look = globals()[what]

    def choose(self, view, /):
        if not view.history[1:] and (found := [*self.look()]):
            raise RuntimeError(f"{found[:5]}")
        return view.legal[0]


bot = Reaches
