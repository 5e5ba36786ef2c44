"""Examine this machine for `arena doctor`: a line a check, each with what to do about it.

Nothing here raises: an error is a finding.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Final, NamedTuple

from arena.errors import InputError, escape
from arena.threads import count_cores, machine_cores
from arena.tournament.versions import DISTRIBUTION, version_here

EXTRAS: Final = {
    "swiss": "format: swiss",
    "table": "arena table",
    "remote": "bots that live elsewhere",
    "dask": "executor dask",
    "mpi": "executor mpi",
    "rl": "arena.addons.rl for learners",
    "openspiel": "the game in OpenSpiel",
    "jail": "bubblewrap, if the system has none",
}
"""The package's extras for users, and the purpose of each."""

_OLDEST_PYTHON = (3, 11)
_GIB = 2**30
_LEAST_FREE = 2**28  # bytes in the temporary folder
_SYSTEM = Path("/proc/sys")
_SWITCHES = (  # a setting, and its value that forbids user namespaces
    ("user/max_user_namespaces", "0", "10000"),
    ("kernel/unprivileged_userns_clone", "0", "1"),
    ("kernel/apparmor_restrict_unprivileged_userns", "1", "0"),
)
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_OF_EXTRA = re.compile(r"([\w.-]+).*\bextra *== *['\"]([\w-]+)['\"]")
_WIDTH, _WHAT_WIDTH = 80, 16
_SIGNS = {True: "ok", False: "bad", None: "-"}


class Finding(NamedTuple):
    """One thing that was examined; `ok` is None if it is only information."""

    what: str
    ok: bool | None
    detail: str
    advice: str = ""


def format_findings(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield the findings for a terminal of 80 columns, each with its advice below.

    >>> findings = [Finding("cores", None, "2"), Finding("sea", False, "dry", "wait")]
    >>> for line in format_findings(findings):
    ...     print(line)
    -    cores            2
    bad  sea              dry
                          -> wait
    """
    indent = " " * (_WHAT_WIDTH + 6)
    for one in findings:
        text = f"{_SIGNS[one.ok]:<4} {one.what:<{_WHAT_WIDTH}} {one.detail}"
        texts = [text, f"{indent}-> {one.advice}"] if one.advice else [text]
        for line, more in zip(texts, ("", "   "), strict=False):
            yield from textwrap.wrap(
                escape(line), _WIDTH, subsequent_indent=indent + more, break_on_hyphens=False
            )


def examine() -> Iterator[Finding]:
    """Yield all findings about this machine, each as soon as it is known."""
    for what, look in CHECKS.items():
        try:
            yield look()
        except Exception as error:  # a doctor survives whatever it finds
            yield Finding(what, False, f"could not be examined: {error!r}")


def examine_python() -> Finding:
    """Return the versions of the arena and of Python, and whether both can play here."""
    try:
        version = version_here()
    except InputError:
        version = "that is not installed"
    python = f"{platform.python_implementation()} {platform.python_version()}"
    detail = f"{python} on {platform.system()}, with arena {version}"
    if sys.version_info < _OLDEST_PYTHON:
        oldest = ".".join(map(str, _OLDEST_PYTHON))
        return Finding("python", False, detail, f"install Python {oldest} or newer")
    if not hasattr(os, "fork"):
        return Finding("python", False, f"{detail}; workers cannot be forked", "play on Linux")
    return Finding("python", True, detail)


def examine_cores() -> Finding:
    """Return how many of the machine's cores this process may use."""
    total, usable = machine_cores(), count_cores()
    return Finding("cores", None, str(usable) if usable == total else f"{usable} of {total}")


def examine_memory() -> Finding:
    """Return the size of the memory, or the limit of a container if that is less."""
    if not hasattr(os, "sysconf"):
        return Finding("memory", None, "unknown")
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limits = [int(text) for text in map(_text, map(Path, _LIMITS)) if text.isdecimal()]
    return Finding("memory", None, f"{min([total, *limits]) / _GIB:.1f} GiB")


def _text(path: Path) -> str:
    """Return the content of a small file, "" if it cannot be read."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def examine_folder() -> Finding:
    """Return the folder of temporary files, after a test that one can be written."""
    what, advice = "temporary folder", "set TMPDIR to a folder with room that can be written"
    try:
        folder = tempfile.gettempdir()
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"arena")
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Finding(what, False, f"cannot be written: {error}", advice)
    ok = free >= _LEAST_FREE
    return Finding(what, ok, f"{folder}, {free / _GIB:.1f} GiB free", "" if ok else advice)


def examine_bubblewrap() -> Finding:
    """Return whether bubblewrap can make a jail here, in which bots of strangers play."""
    from arena.lanes.jail_support import find_bubblewrap, find_program

    try:
        return Finding("bubblewrap", True, f"{find_bubblewrap()} makes the lane jail")
    except InputError as error:
        detail = str(error).removeprefix("lane jail: ").partition("; see ")[0]
    if not find_program():
        advice = f"apt-get install bubblewrap, or pip install '{DISTRIBUTION}[jail]' (Linux only)"
        return Finding("bubblewrap", False, f"{detail}: no lane jail", advice)
    for name, forbidden, allowed in _SWITCHES:
        if _text(_SYSTEM / name) == forbidden:
            remedy = f"as root: sysctl -w {name.replace('/', '.')}={allowed}"
            return Finding("bubblewrap", False, detail, f"user namespaces are off; {remedy}")
    advice = "have user namespaces allowed; for Docker --security-opt seccomp=unconfined"
    return Finding("bubblewrap", False, detail, advice)


def examine_extras() -> Finding:
    """Return which extras are installed, and how to install the others."""
    missing = find_missing()
    here = ", ".join(extra for extra in EXTRAS if extra not in missing) or "none"
    if not missing:
        return Finding("extras", None, here)
    lacking = ", ".join(f"{extra} ({EXTRAS[extra]})" for extra in missing)
    advice = f"pip install '{DISTRIBUTION}[{missing[0]}]', and so with the others"
    return Finding("extras", None, f"{here}; not {lacking}", advice)


def find_missing() -> list[str]:
    """Return the extras of which a library is not installed, in their order."""
    missing = set()
    for match in map(_OF_EXTRA.match, metadata.requires(DISTRIBUTION) or []):
        if match and not _is_installed(match[1]):
            missing.add(match[2])
    return [extra for extra in EXTRAS if extra in missing]


def _is_installed(distribution: str) -> bool:
    try:
        return bool(metadata.distribution(distribution))
    except metadata.PackageNotFoundError:
        return False


CHECKS: Final[Mapping[str, Callable[[], Finding]]] = {
    "python": examine_python,
    "cores": examine_cores,
    "memory": examine_memory,
    "temporary folder": examine_folder,
    "extras": examine_extras,
    "bubblewrap": examine_bubblewrap,
}


def examine_bot(spec: str) -> Iterator[Finding]:
    """Yield what a bot can read in the lane jail; raises InputError for a bad spec."""
    from arena.entries.resolve import resolve
    from arena.lanes.jail import describe_shown

    entry = resolve(spec, lane="jail")
    entry = entry.at(entry.home)
    for path in describe_shown(entry):
        yield Finding("can be read", None, path)
    if entry.command and Path(entry.command[0]).read_bytes()[:2] == b"#!":
        detail = f"{entry.command[0]} is a script, which may start what a jail does not show"
        advice = "name the program that it starts, or add it to needs in a config"
        yield Finding("command", None, detail, advice)
