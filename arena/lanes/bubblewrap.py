"""Bubblewrap: the program that makes namespaces, and what it can do on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from typing import Final

from arena.errors import InputError
from arena.lanes.users import IS_ROOT

_COMMON = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts")
NAMESPACES: Final = (*_COMMON, "--unshare-cgroup-try")
OWN_PROCESSES: Final = ("--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc")
"""The arguments for a pid namespace without a jail."""

_RIGHTS = ("CAP_SYS_ADMIN", *(("CAP_SETUID", "CAP_SETGID") if IS_ROOT else ()))
RIGHTS: Final = ("--cap-drop", "ALL", *(word for name in _RIGHTS for word in ("--cap-add", name)))
"""The arguments that leave a jail's process 1 the rights that it gives up before the bot starts."""

TRIAL: Final = (
    *(() if IS_ROOT else ("--unshare-user",)),
    *NAMESPACES,
    *RIGHTS,
    *("--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc", "true"),
)
"""The arguments with which bubblewrap shows that it can make a jail here."""

OLDEST_JAIL: Final = (5, 8)
"""The oldest Linux whose /proc can show processes only."""

_PATIENCE = 10.0  # seconds
_OLDEST_COUNTING = (5, 14)  # Linux counts processes for each user namespace


@cache
def find_bubblewrap() -> str:
    """Return the path of bubblewrap.

    Raises InputError where it is missing, or cannot make a jail.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise InputError("lane jail: bubblewrap (bwrap) is not on PATH; see `arena doctor`")
    if _release() < OLDEST_JAIL:
        oldest = ".".join(map(str, OLDEST_JAIL))
        raise InputError(
            f"lane jail: Linux {oldest} or newer is needed, and this is {os.uname()[2]}"
        )
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


def counts_processes() -> bool:
    """Return whether the kernel can hold the number of a jail's processes."""
    return IS_ROOT or _release() >= _OLDEST_COUNTING


def _release() -> tuple[int, ...]:
    """Return the first two numbers of the kernel's version."""
    parts = os.uname().release.split(".")
    return tuple(int(part) for part in parts[:2] if part.isdigit())
