"""Launch: the command line and environment that start a bot in its lane."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from arena.errors import InputError
from arena.lanes import confine, host
from arena.lanes.limits import Limits
from engine import Rules
from engine.rules import VARIANTS

if TYPE_CHECKING:
    from arena.entries.entry import Entry

_PACKAGES = Path(__file__).resolve().parent.parent.parent
_JAIL_DISK = 64 << 20
_SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives")
MARK = "ARENA_BOT_FOLDER"
"""The variable by which a process that a bot has started is known as its."""

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Launch(NamedTuple):
    """How to start a process: its words, its environment, and where.

    `jailed` is whether bubblewrap is around it, `hosted` whether `host` is: then it can be
    believed what it says of the bot's time and faults.
    """

    words: list[str]
    environment: dict[str, str]
    folder: Path
    jailed: bool
    hosted: bool


def launch(entry: Entry, limits: Limits, folder: Path) -> Launch:
    """Return how to start the bot's process in an empty folder of its own.

    Raises InputError for a jail where there is no bubblewrap.
    """
    words = _command(entry)
    jailed = entry.lane == "jail"
    home = "/tmp" if jailed else str(folder)
    if jailed:
        words = _jailed(words, entry)
    limited = [sys.executable, "-I", "-S", confine.__file__, str(limits.memory), *words]
    environment = _environment(home) | {MARK: str(folder)}
    return Launch(limited, environment, folder, jailed, hosted=not entry.command)


def hello(entry: Entry, rules: Rules, check: bool = False) -> bytes:
    """Return the first message to a bot's process, all but its id, as bytes of JSON.

    `check` asks whether the bot takes its parameters.
    """
    numbers = {name: getattr(rules, name) for name in VARIANTS}
    message = {"type": "hello", "protocol": 1, "rules": numbers, "params": entry.params}
    if not entry.command:
        source = entry.source
        message["python"] = {
            "module": entry.module,
            "filename": entry.filename,
            "source": None if source is None else base64.b64encode(source).decode(),
            "path": list(entry.path),
            "params": repr(entry.params),
            "check": check,
        }
    return json.dumps(message, separators=(",", ":"))[1:].encode() + b"\n"


def _command(entry: Entry) -> list[str]:
    return [*entry.command] or [sys.executable, "-P", "-s", host.__file__]


def _environment(home: str) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": home,
        "TMPDIR": home,
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        **dict.fromkeys(_THREADS, "1"),
    }


def _jailed(words: list[str], entry: Entry) -> list[str]:
    """Return the command inside bubblewrap: it sees the system, itself and nothing else."""
    program = bubblewrap()
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
    for needed in _needed(words, entry):
        options += ["--ro-bind", needed, needed]
    return [program, *options, "--chdir", "/tmp", "--", *words]


def _private_folder(program: str) -> list[str]:
    size = ["--size", str(_JAIL_DISK)] if _version(program) >= (0, 8) else []
    return [*size, "--tmpfs", "/tmp"]


def _needed(words: list[str], entry: Entry) -> list[str]:
    """Return what the command has to read beside the system's own folders."""
    if entry.command:
        paths = [Path(word) for word in words if Path(word).is_absolute() and Path(word).exists()]
        paths += [path.resolve() for path in paths]
        found = [path.parent.parent if path.parent.name == "bin" else path for path in paths]
    else:
        found = [Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve()]
        found += [_PACKAGES / name for name in ("engine", "arena", "bots")]
        package = entry.module.partition(".")[0]
        found += [
            Path(folder) / name for folder in entry.path for name in (package, f"{package}.py")
        ]
    there = dict.fromkeys(str(path) for path in found if path.exists())
    return [path for path in there if not path.startswith("/usr/") and path != "/"]


@cache
def bubblewrap() -> str:
    """Return the path of bubblewrap.

    Raises InputError where it is missing, or cannot make a jail.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise InputError("lane jail: bubblewrap (bwrap) is not on PATH; see `arena doctor`")
    trial = [program, "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "true"]
    done = subprocess.run(trial, capture_output=True, text=True, timeout=10, check=False)
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise InputError(f"lane jail: bubblewrap cannot make one here: {why}; see `arena doctor`")
    return program


@cache
def _version(program: str) -> tuple[int, ...]:
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    return tuple(int(number) for number in re.findall(r"\d+", done.stdout)[:2])
