"""Doctor: what this machine offers the arena, and what to install.

Nothing here raises or hangs: what goes wrong is a finding, and a program that is asked
something has `patience` seconds for its answer.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

PATIENCE = 10.0  # seconds
TRIAL = ("--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "true")
INTERPRETERS = {
    "node": "--version",
    "cc": "--version",
    "gcc": "--version",
    "java": "--version",
    "cargo": "--version",
    "rustc": "--version",
    "go": "version",
}

_WIDTH = 80
_WHAT_WIDTH = 16
_MARKS = {True: "ok", False: "bad", None: "-"}
_OLDEST_PYTHON = (3, 11)
_START_METHOD = "forkserver"
_GIB = 2**30
_LEAST_FREE = 2**28  # bytes in the temporary folder
_SYSTEM = Path("/proc/sys")
_CGROUP = Path("/sys/fs/cgroup")
_LIMITS = ("memory.max", "memory/memory.limit_in_bytes")  # of version 2 and 1
_SWITCHES = (  # what forbids user namespaces where, and what allows them
    ("user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=10000"),
    ("kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
    (
        "kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "an AppArmor profile for bwrap, or "
        "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
)


class Finding(NamedTuple):
    """One thing that was looked at; `ok` is None where it is information and no more."""

    what: str
    ok: bool | None
    detail: str
    advice: str = ""


class Answer(NamedTuple):
    """What a program said, or with a fault what is to be said about it."""

    line: str
    fault: Literal["", "failed", "hung", "broken"] = ""


def findings(patience: float = PATIENCE) -> Iterator[Finding]:
    """Yield everything there is to say about this machine, each as soon as it is known."""
    yield _guarded("python", python)
    workers = _guarded("start methods", start_methods)
    yield workers
    yield _guarded("cores", cores)
    yield _guarded("memory", memory)
    yield _guarded("temporary folder", temporary)
    yield _guarded("sqlite", sqlite)
    boxed = _guarded("bubblewrap", partial(bubblewrap, patience))
    yield boxed
    yield lanes(bool(workers.ok), bool(boxed.ok))
    yield _guarded("user", user)
    for command in INTERPRETERS:
        yield _guarded(command, partial(interpreter, command, patience))


def _guarded(what: str, look: Callable[[], Finding]) -> Finding:
    try:
        return look()
    except Exception as error:  # a doctor does not die of what it finds
        return Finding(what, False, f"could not be looked at: {error!r}")


def lines(found: Iterable[Finding]) -> Iterator[str]:
    """Yield the findings for a terminal of 80 columns, an advice below what it is about.

    >>> found = [Finding("node", None, "not found"), Finding("sea", False, "dry", "wait")]
    >>> for line in lines(found):
    ...     print(line)
    -    node             not found
    bad  sea              dry
                          -> wait
    """
    indent = " " * (_WHAT_WIDTH + 6)
    for finding in found:
        yield from _wrapped(
            f"{_MARKS[finding.ok]:<4} {finding.what:<{_WHAT_WIDTH}} {finding.detail}", indent
        )
        if finding.advice:
            yield from _wrapped(f"{indent}-> {finding.advice}", indent + "   ")


def _wrapped(text: str, indent: str) -> list[str]:
    """Break a text between words, and without what would disturb a terminal."""
    text = "".join(char if char.isprintable() else " " for char in text)
    return textwrap.wrap(text, _WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def asked(words: Sequence[str], patience: float = PATIENCE) -> Answer:
    """Run a program and return the first line it said, or its last complaint if it failed.

    It runs in the root folder, where no project's settings change what it says; when its
    time is over it is killed with all it has started.
    """
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=os.sep,
            errors="replace",
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Answer(f"cannot be run: {error}", "broken")
    try:
        out, err = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        return Answer(f"no answer within {patience:g} s", "hung")
    finally:
        _end(process)
    return _answer(process.returncode, _told(out), _told(err))


def _answer(status: int, out: list[str], err: list[str]) -> Answer:
    if status:
        said = err or out
        return Answer(f"exit status {status}" + (f": {said[-1]}" if said else ""), "failed")
    return Answer((out or err or ["says nothing"])[0])


def _told(text: str) -> list[str]:
    """Return the lines that have something in them."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def _end(process: subprocess.Popen[str]) -> None:
    """Leave nothing of a program that has not ended, and do not wait for what cannot die."""
    if process.returncode is None:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1)
    for pipe in (process.stdout, process.stderr):
        if pipe:
            pipe.close()


def _path_of(command: str) -> str | None:
    path = shutil.which(command)
    return path and os.path.abspath(path)


def python(version: Sequence[int] = sys.version_info[:3]) -> Finding:
    """Say which Python this is, and whether it is new enough."""
    detail = f"{platform.python_implementation()} {'.'.join(map(str, version))}"
    oldest = ".".join(map(str, _OLDEST_PYTHON))
    if tuple(version) >= _OLDEST_PYTHON:
        return Finding("python", True, detail)
    return Finding("python", False, detail, f"install Python {oldest} or newer")


def start_methods(methods: Sequence[str] | None = None) -> Finding:
    """Say how this Python can start workers; the arena needs a fork server."""
    if methods is None:
        methods = multiprocessing.get_all_start_methods()
    ok = _START_METHOD in methods
    advice = "" if ok else f"play on Linux or macOS: workers need {_START_METHOD}"
    return Finding("start methods", ok, ", ".join(methods) or "none", advice)


def cores() -> Finding:
    """Say how many cores this process may use, which can be fewer than there are."""
    there = os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else there
    detail = str(usable) if usable == there else f"{usable} of {there}"
    return Finding("cores", None, detail)


def memory(cgroup: Path = _CGROUP) -> Finding:
    """Say how much memory there is, or less where a container has a limit."""
    try:
        there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return Finding("memory", None, "unknown")
    texts = [_text(cgroup / name) for name in _LIMITS]
    limit = min((int(text) for text in texts if text.isdecimal()), default=there)
    detail = f"{min(limit, there) / _GIB:.1f} GiB"
    if limit < there:
        detail += f", a limit; the machine has {there / _GIB:.1f} GiB"
    return Finding("memory", None, detail)


def _text(path: Path) -> str:
    """Return what is in a small file, nothing if it cannot be read."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def temporary(folder: str | None = None) -> Finding:
    """Say where temporary files go, and write one."""
    what = "temporary folder"
    try:
        folder = folder or tempfile.gettempdir()
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"arena")
            file.flush()
        free = shutil.disk_usage(folder).free
    except OSError as error:
        advice = "set TMPDIR to a folder that can be written"
        return Finding(what, False, f"cannot be written: {error}", advice)
    ok = free >= _LEAST_FREE
    advice = "" if ok else "make room there, or set TMPDIR to a folder elsewhere"
    return Finding(what, ok, f"{folder}, {free / _GIB:.1f} GiB free", advice)


def sqlite() -> Finding:
    """Say which SQLite this Python has; some are built without."""
    try:
        import sqlite3
    except ImportError as error:
        return Finding("sqlite", False, str(error), "install a Python that has sqlite3")
    return Finding("sqlite", True, sqlite3.sqlite_version)


def bubblewrap(patience: float = PATIENCE, system: Path = _SYSTEM) -> Finding:
    """Say whether bubblewrap is there and can start something; the jail is made of it."""
    what = "bubblewrap"
    path = _path_of("bwrap")
    if path is None:
        advice = "apt-get install bubblewrap, or your system's package (Linux only)"
        return Finding(what, False, "not found: no bwrap on PATH", advice)
    told = asked([path, "--version"], patience)
    version = path if told.fault else told.line
    trial = asked([path, *TRIAL], patience)
    if not trial.fault:
        return Finding(what, True, f"{version}, works")
    if trial.fault == "failed":
        return Finding(what, False, f"{version}, does not start: {trial.line}", _allow(system))
    advice = {
        "hung": f"see what holds it up: bwrap {' '.join(TRIAL)}",
        "broken": "install bubblewrap anew",
    }[trial.fault]
    return Finding(what, False, f"{version}, {trial.line}", advice)


def _allow(system: Path) -> str:
    """Return what may help a bubblewrap that does not start."""
    for name, forbidden, remedy in _SWITCHES:
        if _text(system / name) == forbidden:
            return f"user namespaces are switched off; as root: {remedy}"
    return (
        "user namespaces are probably switched off: have them allowed; a container needs it "
        "from outside, for Docker --security-opt seccomp=unconfined"
    )


def lanes(workers: bool, boxed: bool) -> Finding:
    """Say in which lanes bots can play here.

    >>> lanes(workers=True, boxed=False).detail
    'inproc, process; no jail'
    """
    there = {"inproc": True, "process": workers, "jail": workers and boxed}
    detail = ", ".join(lane for lane, ok in there.items() if ok)
    missing = " and no ".join(lane for lane, ok in there.items() if not ok)
    advice = "play only bots you trust" if missing else ""
    return Finding("lanes", None, detail + (f"; no {missing}" if missing else ""), advice)


def user() -> Finding:
    """Say whether this is root, whose rights the bots outside the jail have too."""
    if not hasattr(os, "geteuid"):
        return Finding("user", None, "unknown")
    if os.geteuid():
        return Finding("user", None, "not root; bots outside the jail have your rights")
    return Finding(
        "user",
        None,
        "root; bots outside the jail have root's rights",
        "prefer the jail for bots you do not know, or a user without rights",
    )


def interpreter(command: str, patience: float = PATIENCE) -> Finding:
    """Say which version of a language's program there is, for bots written in it."""
    path = _path_of(command)
    if path is None:
        return Finding(command, None, "not found")
    answer = asked([path, INTERPRETERS.get(command, "--version")], patience)
    return Finding(command, None, f"{path}: {answer.line}" if answer.fault else answer.line)
