"""Bubblewrap: the program that makes namespaces, and what it can do on this machine."""

from __future__ import annotations

import itertools
import os
import shutil
import stat
import subprocess
from functools import cache
from pathlib import Path
from typing import Final

from arena.errors import InputError

_COMMON = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts")
NAMESPACES: Final = (*_COMMON, "--unshare-cgroup-try")
OWN_PROCESSES: Final = ("--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc")
"""The arguments for a pid namespace without a jail."""

_EVERY_USER = [(0, 1 << 32)]


def _mapped_users() -> list[tuple[int, int]]:
    """Return the first number and the count of the users that there are in this container."""
    try:
        lines = Path("/proc/self/uid_map").read_text().splitlines()
    except OSError:
        return _EVERY_USER
    return [(int(line.split()[0]), int(line.split()[2])) for line in lines] or _EVERY_USER


_USERS = max(_mapped_users(), key=lambda users: users[1])
IS_ROOT: Final = hasattr(os, "geteuid") and os.geteuid() == 0 and _USERS[1] > 1
"""Whether this is root, who needs no user namespace and can become another user."""

TRIAL: Final = (
    *(() if IS_ROOT else ("--unshare-user",)),
    *NAMESPACES,
    *("--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc", "true"),
)
"""The arguments with which bubblewrap shows that it can make a jail here."""

_PATIENCE = 10.0  # seconds
_OLDEST_COUNTING = (5, 14)  # Linux counts processes for each user namespace
_UIDS = 0x70000000  # from here on no system has users
_MOST_UIDS = 1 << 28
_UIDS_OF_A_PROCESS = 2048  # so many jails of one process have different users
_numbers = itertools.count()


@cache
def find_bubblewrap() -> str:
    """Return the path of bubblewrap.

    Raises InputError where it is missing, or cannot make a jail.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise InputError("lane jail: bubblewrap (bwrap) is not on PATH; see `arena doctor`")
    reason = _complaint(program, TRIAL)
    if reason is not None:
        raise InputError(f"lane jail: bubblewrap does not work here: {reason}; see `arena doctor`")
    return program


@cache
def find_pid_namespaces() -> str | None:
    """Return the path of a bubblewrap that gives a command a pid namespace; None without one."""
    program = shutil.which("bwrap")
    words = (*user_namespace(), *OWN_PROCESSES, "--die-with-parent", "true")
    return None if program is None or _complaint(program, words) is not None else program


def _complaint(program: str, words: tuple[str, ...]) -> str | None:
    """Return why bubblewrap does not run with these arguments, None if it does."""
    try:
        done = subprocess.run(
            [program, *words], capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    lines = done.stderr.strip().splitlines() or ["no reason given"]
    return lines[-1] if done.returncode else None


def user_namespace() -> tuple[str, ...]:
    """Return the arguments with which the user stays the same; root needs none."""
    if IS_ROOT:
        return ()
    return ("--unshare-user", "--uid", str(os.geteuid()), "--gid", str(os.getegid()))


@cache
def bounds_folders(program: str) -> bool:
    """Return whether this bubblewrap can bound the size of a folder in memory."""
    done = subprocess.run([program, "--help"], capture_output=True, text=True, check=False)
    is_setuid = bool(Path(program).stat().st_mode & stat.S_ISUID)
    return "--size" in done.stdout and not is_setuid


def counts_processes() -> bool:
    """Return whether the kernel can hold the number of a jail's processes."""
    release = os.uname().release.split(".")
    return IS_ROOT or tuple(int(part) for part in release[:2] if part.isdigit()) >= _OLDEST_COUNTING


def free_user() -> int:
    """Return a user's number that no other jail on this machine has."""
    number = os.getpid() * _UIDS_OF_A_PROCESS + next(_numbers) % _UIDS_OF_A_PROCESS
    return choose_user(number, *_USERS)


def choose_user(number: int, first: int, count: int) -> int:
    """Return a user for a number, in the upper half of those that a container has.

    >>> choose_user(5, 0, 1 << 32), choose_user(5, 0, 65536)
    (1879048197, 32773)
    """
    if first <= _UIDS and first + count >= _UIDS + _MOST_UIDS:
        return _UIDS + number % _MOST_UIDS
    half = count // 2
    return first + half + number % (count - half)
