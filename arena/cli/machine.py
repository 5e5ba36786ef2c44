"""Examine this machine for `arena doctor`: what the arena can use, and what to install.

Nothing here raises or hangs: an error is a finding, and a program that is run has `patience`
seconds to answer.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import metadata
from pathlib import Path

from arena.cli.examined import PATIENCE, Finding, ask
from arena.entries.lane import HERE
from arena.lanes.bubblewrap import TRIAL
from arena.lanes.cleanup import count_cores, machine_cores
from arena.tournament.versions import DISTRIBUTION

INTERPRETERS = {
    "node": "--version",
    "cc": "--version",
    "gcc": "--version",
    "java": "--version",
    "cargo": "--version",
    "rustc": "--version",
    "go": "version",
}

_OLDEST_PYTHON = (3, 11)
_NEWEST_PYTHON = (3, 14)  # the newest with which the tests have passed
_GIB = 2**30
_LEAST_FREE = 2**28  # bytes in the temporary folder
_SYSTEM = Path("/proc/sys")
_CGROUP = Path("/sys/fs/cgroup")
_LIMITS = ("memory.max", "memory/memory.limit_in_bytes")  # of cgroup version 2 and 1
_SWITCHES = (  # a setting, its value that forbids user namespaces, a command that allows them
    ("user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=10000"),
    ("kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
    (
        "kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "an AppArmor profile for bwrap, or "
        "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
)


def examine(patience: float = PATIENCE) -> Iterator[Finding]:
    """Yield all findings about this machine, each as soon as it is known."""
    yield _guard("python", examine_python)
    workers = _guard("workers", examine_workers)
    yield workers
    yield _guard("cores", examine_cores)
    yield _guard("memory", examine_memory)
    yield _guard("temporary folder", examine_temporary_folder)
    yield _guard("sqlite", examine_sqlite)
    yield _guard("extras", examine_extras)
    bubblewrap = _guard("bubblewrap", partial(examine_bubblewrap, patience))
    yield bubblewrap
    yield examine_lanes(has_workers=bool(workers.ok), has_jail=bool(bubblewrap.ok))
    yield _guard("processor time", _examine_clock)
    if bubblewrap.ok:
        yield from _examine_holds()
    yield _guard("user", examine_user)
    for command in INTERPRETERS:
        yield _guard(command, partial(examine_interpreter, command, patience))


def _examine_holds() -> Iterator[Finding]:
    """Yield how bots are confined on this machine."""
    from arena.lanes.jail import describe_holds

    try:
        for what, detail in describe_holds().items():
            yield Finding(what, None, detail)
    except Exception as error:  # a doctor survives whatever it finds
        yield Finding("lane jail", False, f"could not be examined: {error}")


def _examine_clock() -> Finding:
    """Return how the processor time of bots is measured."""
    from arena.lanes.jail import describe_clock

    return Finding("processor time", None, f"read from {describe_clock()}")


def examine_bot(spec: str) -> Iterator[Finding]:
    """Yield what a bot can read in the lane jail, and whether its command can start there.

    Raises InputError for a bad spec.
    """
    from arena.cli.examined import advise, find_hidden
    from arena.entries.resolve import resolve
    from arena.lanes.jail import describe_shown

    entry = resolve(spec, lane="jail")
    entry = entry.at(entry.home)
    for path in describe_shown(entry):
        yield Finding("can be read", None, path)
    if hidden := find_hidden(entry):
        script, program = hidden
        why = f"{script} is a script that starts {program}, which a jail does not show"
        yield Finding("command", False, why, advise(entry, program))


def _guard(what: str, look: Callable[[], Finding]) -> Finding:
    try:
        return look()
    except Exception as error:  # a doctor survives whatever it finds
        return Finding(what, False, f"could not be examined: {error!r}")


def _path_of(command: str) -> str | None:
    path = shutil.which(command)
    return path and os.path.abspath(path)


def examine_python(
    version: Sequence[int] = sys.version_info[:3], free_threaded: bool | None = None
) -> Finding:
    """Return the version of Python, and whether it is supported and tested."""
    detail = f"{platform.python_implementation()} {'.'.join(map(str, version))}"
    if free_threaded is None:
        free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    if free_threaded:
        detail += "; free threading is not supported"
    if tuple(version[:2]) > _NEWEST_PYTHON:
        detail += f"; not tested: the newest one tested is {'.'.join(map(str, _NEWEST_PYTHON))}"
    oldest = ".".join(map(str, _OLDEST_PYTHON))
    if tuple(version) >= _OLDEST_PYTHON:
        advice = f"install a Python {oldest} or newer with a GIL" if free_threaded else ""
        return Finding("python", True, detail, advice)
    return Finding("python", False, detail, f"install Python {oldest} or newer")


def examine_workers(forks: bool | None = None) -> Finding:
    """Return whether workers can be forked on this machine."""
    ok = hasattr(os, "fork") if forks is None else forks
    advice = "" if ok else "play on Linux or macOS: workers are forked"
    return Finding("workers", ok, "are forked" if ok else "cannot be forked", advice)


def examine_cores() -> Finding:
    """Return how many of the machine's cores this process may use."""
    total, usable = machine_cores(), count_cores()
    detail = str(usable) if usable == total else f"{usable} of {total}"
    return Finding("cores", None, detail)


def examine_memory(cgroup: Path = _CGROUP) -> Finding:
    """Return the size of the memory, or the limit of a container if that is less."""
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return Finding("memory", None, "unknown")
    texts = [_text(cgroup / name) for name in _LIMITS]
    limit = min((int(text) for text in texts if text.isdecimal()), default=total)
    detail = f"{min(limit, total) / _GIB:.1f} GiB"
    if limit < total:
        detail += f", a limit; the machine has {total / _GIB:.1f} GiB"
    return Finding("memory", None, detail)


def _text(path: Path) -> str:
    """Return the content of a small file, "" if it cannot be read."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def examine_temporary_folder(folder: str | None = None) -> Finding:
    """Return the folder of temporary files, after a test that one can be written."""
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


def examine_sqlite() -> Finding:
    """Return the version of SQLite in this Python; some are built without it."""
    try:
        import sqlite3
    except ImportError as error:
        return Finding("sqlite", False, str(error), "install a Python that has sqlite3")
    return Finding("sqlite", True, sqlite3.sqlite_version)


def examine_bubblewrap(patience: float = PATIENCE, system: Path = _SYSTEM) -> Finding:
    """Return whether bubblewrap, which makes the jail, is installed and works."""
    what = "bubblewrap"
    path = _path_of("bwrap")
    if path is None:
        advice = "apt-get install bubblewrap, or your system's package (Linux only)"
        return Finding(what, False, "not found: no bwrap on PATH", advice)
    reply = ask([path, "--version"], patience)
    version = path if reply.fault else reply.line
    trial = ask([path, *TRIAL], patience)
    if not trial.fault:
        return Finding(what, True, f"{version}, works")
    if trial.fault == "failed":
        return Finding(what, False, f"{version}, does not start: {trial.line}", _remedy(system))
    advice = {
        "hung": f"find out what blocks it: bwrap {' '.join(TRIAL)}",
        "broken": "reinstall bubblewrap",
    }[trial.fault]
    return Finding(what, False, f"{version}, {trial.line}", advice)


def _remedy(system: Path) -> str:
    """Return advice for a bubblewrap that does not start."""
    for name, forbidden, remedy in _SWITCHES:
        if _text(system / name) == forbidden:
            return f"user namespaces are switched off; as root: {remedy}"
    return (
        "user namespaces are probably switched off: have them allowed; a container needs it "
        "from outside, for Docker --security-opt seccomp=unconfined"
    )


def examine_lanes(*, has_workers: bool, has_jail: bool) -> Finding:
    """Return in which lanes bots can play here.

    >>> examine_lanes(has_workers=True, has_jail=False).detail
    'inproc, process; no jail'
    """
    works = dict(zip(HERE, (True, has_workers, has_workers and has_jail), strict=True))
    detail = ", ".join(lane for lane, ok in works.items() if ok)
    missing = " and no ".join(lane for lane, ok in works.items() if not ok)
    advice = "play only bots you trust" if missing else ""
    return Finding("lanes", None, detail + (f"; no {missing}" if missing else ""), advice)


def examine_user() -> Finding:
    """Return whether this user is root: bots outside the jail have the same rights."""
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


def examine_interpreter(command: str, patience: float = PATIENCE) -> Finding:
    """Return the version of a language's interpreter, for bots written in that language."""
    path = _path_of(command)
    if path is None:
        return Finding(command, None, "not found")
    reply = ask([path, INTERPRETERS.get(command, "--version")], patience)
    return Finding(command, None, f"{path}: {reply.line}" if reply.fault else reply.line)


EXTRAS = {
    "report": "report.html, and charts",
    "swiss": "format: swiss",
    "table": "arena table",
    "remote": "bots that live elsewhere",
    "dask": "executor dask",
    "mpi": "executor mpi",
    "rl": "arena.addons.rl for learners",
    "openspiel": "the game in OpenSpiel",
}
"""The package's extras for users, and the purpose of each."""
_LIBRARY = re.compile(r"[\w.-]+")
_OF_EXTRA = re.compile(r"\bextra *== *['\"]([\w-]+)['\"]")


def examine_extras() -> Finding:
    """Return which extras are installed, and how to install the others."""
    try:
        missing = find_missing()
    except metadata.PackageNotFoundError:
        return Finding("extras", None, f"unknown: {DISTRIBUTION} is not installed here")
    here = ", ".join(extra for extra in EXTRAS if extra not in missing) or "none"
    if not missing:
        return Finding("extras", None, here)
    lacking = ", ".join(f"{extra} ({EXTRAS[extra]})" for extra in missing)
    advice = f"pip install '{DISTRIBUTION}[{missing[0]}]', and so with the others"
    return Finding("extras", None, f"{here}; not {lacking}", advice)


def find_missing() -> list[str]:
    """Return the extras of which a library is not installed.

    Raises importlib.metadata.PackageNotFoundError if the arena itself is not installed.
    """
    return [
        extra
        for extra, names in find_libraries().items()
        if extra in EXTRAS and not all(map(_is_installed, names))
    ]


def find_libraries() -> dict[str, list[str]]:
    """Return the libraries that the arena needs, by the extra that installs them.

    Those under "" are always required. Raises importlib.metadata.PackageNotFoundError if the arena
    itself is not installed.
    """
    found: dict[str, list[str]] = {extra: [] for extra in ("", *EXTRAS)}
    for requirement in metadata.requires(DISTRIBUTION) or []:
        name = _LIBRARY.match(requirement)
        extra = _OF_EXTRA.search(requirement)
        if name and (of := extra[1] if extra else "") in found:
            found[of].append(name[0])
    return found


def _is_installed(distribution: str) -> bool:
    try:
        metadata.distribution(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True
