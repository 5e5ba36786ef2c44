"""Launch: the command line and the environment that start a bot in its lane."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from arena.entries.entry import Entry
from arena.errors import InputError
from arena.lanes import confine, host
from arena.lanes.cleanup import FOLDER_VARIABLE
from arena.lanes.limits import Limits

TRIAL: Final = ("--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "true")
"""The arguments with which bubblewrap shows that it works here."""

_PACKAGES = Path(__file__).resolve().parents[2]
_JAIL_DISK = 64 << 20
_SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives")
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Launch(NamedTuple):
    """How to start a process: its words, its environment, and its folder.

    `jailed` is whether bubblewrap is around it. `hosted` is whether it runs our own host,
    which can be believed what it says of the bot's time and faults.
    """

    words: list[str]
    environment: dict[str, str]
    folder: Path
    jailed: bool
    hosted: bool


def plan_launch(
    entry: Entry,
    limits: Limits,
    folder: Path,
    program: str = host.__file__,
    environment: Mapping[str, str] | None = None,
) -> Launch:
    """Return how to start a bot's process in an empty folder of its own.

    `program` is run in place of our host; `environment` is added to the usual one. Raises
    InputError for a jail where there is no bubblewrap.
    """
    words = [*entry.command] or [sys.executable, "-P", "-s", program]
    jailed = entry.lane == "jail"
    home = "/tmp" if jailed else str(folder)
    if jailed:
        words = _jail(words, entry)
    confined = [sys.executable, "-I", "-S", confine.__file__, str(limits.memory), *words]
    variables = _environment(home) | {FOLDER_VARIABLE: str(folder)} | dict(environment or {})
    return Launch(confined, variables, folder, jailed, hosted=not entry.command)


def _environment(home: str) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": home,
        "TMPDIR": home,
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        **dict.fromkeys(_THREADS, "1"),
    }


def _jail(words: list[str], entry: Entry) -> list[str]:
    """Return a command inside bubblewrap: it sees the system and itself, and nothing else."""
    program = find_bubblewrap()
    options = ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    options += ["--ro-bind", "/usr", "/usr"]
    for path in _SYSTEM:
        if Path(path).is_symlink():
            options += ["--symlink", os.readlink(path), path]
        else:
            options += ["--ro-bind-try", path, path]
    for path in _ETC:
        options += ["--ro-bind-try", path, path]
    options += ["--proc", "/proc", "--dev", "/dev", *_private_folder(program)]
    for path in _needed_paths(words, entry):
        options += ["--ro-bind", path, path]
    return [program, *options, "--chdir", "/tmp", "--", *words]


def _private_folder(program: str) -> list[str]:
    size = ["--size", str(_JAIL_DISK)] if _version(program) >= (0, 8) else []
    return [*size, "--tmpfs", "/tmp"]


def _needed_paths(words: list[str], entry: Entry) -> list[str]:
    """Return what the command has to read besides the system's own folders."""
    if entry.command:
        files = [Path(word) for word in words if Path(word).is_absolute() and Path(word).exists()]
        files += [path.resolve() for path in files]
        paths = [path.parent.parent if path.parent.name == "bin" else path for path in files]
    else:
        paths = [Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve()]
        paths += [_PACKAGES / name for name in ("engine", "arena", "bots")]
        package = entry.module.partition(".")[0]
        paths += [
            Path(folder) / name for folder in entry.path for name in (package, f"{package}.py")
        ]
    existing = dict.fromkeys(str(path) for path in paths if path.exists())
    return [path for path in existing if not path.startswith("/usr/") and path != "/"]


@cache
def find_bubblewrap() -> str:
    """Return the path of bubblewrap.

    Raises InputError where it is missing, or cannot make a jail.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise InputError("lane jail: bubblewrap (bwrap) is not on PATH; see `arena doctor`")
    done = subprocess.run(
        [program, *TRIAL], capture_output=True, text=True, timeout=10, check=False
    )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise InputError(f"lane jail: bubblewrap does not work here: {reason}; see `arena doctor`")
    return program


@cache
def _version(program: str) -> tuple[int, ...]:
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    return tuple(int(number) for number in re.findall(r"\d+", done.stdout)[:2])
