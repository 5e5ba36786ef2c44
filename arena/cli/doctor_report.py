"""The report of `arena doctor`: a block of text to paste into an issue, with nothing private.

It consists of numbers and fixed words. Output of other programs, which can hold anything, is
included only if it is about a fault, and is cut before the first path or private name.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import platform
import re
import socket
import sys
import tempfile
from collections.abc import Iterable, Iterator
from importlib import metadata

from arena.cli.examined import Finding, write_line
from arena.cli.machine import INTERPRETERS, find_libraries
from arena.errors import escape
from arena.tournament.versions import DISTRIBUTION, arena_sha256, engine_sha256

_SHOWN = 12  # digits of a hash
_HIDDEN = "(hidden)"
_VARIABLES = (
    *("CI", "CONDA_PREFIX", "LC_ALL", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"),
    *("PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONOPTIMIZE", "PYTHONPATH"),
    *("PYTHONSAFEPATH", "PYTHONUTF8", "PYTHONWARNINGS", "SLURM_JOB_ID", "TMPDIR", "VIRTUAL_ENV"),
)
"""Variables that change how Python or the arena works; the report says only which are set."""

_OF_PERSONS = ("HOME", "HOSTNAME", "LOGNAME", "USER", "USERNAME")
_TEXT_PATH = r"[\w.~$-]*[/\\]"
_NUMBER = re.compile(r"\d+(?:\.\d+)+")
_SPOKEN = ("temporary folder", "bubblewrap", *INTERPRETERS)
"""Findings whose details can hold output of other programs, or paths."""


def write_report(findings: Iterable[Finding]) -> str:
    """Return the report as a block of Markdown."""
    lines = [*_head(), *_libraries(), "", *(_line(finding) for finding in findings)]
    text = "\n".join(lines).replace("`", "'")
    return f"```text\n{text}\n```"


def _head() -> Iterator[str]:
    """Yield the versions of the arena and Python, the system and its limits."""
    digests = f"engine {engine_sha256()[:_SHOWN]}, arena {arena_sha256()[:_SHOWN]}"
    yield f"arena     {_version_of(DISTRIBUTION)}{_origin()}; {digests}"
    place = "in" if sys.prefix != sys.base_prefix else "not in"
    python = f"{platform.python_implementation()} {_number(platform.python_version())}"
    yield f"python    {python}, {place} a virtual environment"
    yield f"system    {_system()}, {platform.machine()}"
    yield f"limits    {_limits()}"
    yield f"variables {', '.join(name for name in _VARIABLES if name in os.environ) or 'none'}"


def _origin() -> str:
    """Return how the arena was installed, if that is known."""
    try:
        text = metadata.distribution(DISTRIBUTION).read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return ", not installed"
    if not text:
        return ""
    editable = json.loads(text).get("dir_info", {}).get("editable", False)
    return ", editable" if editable else ", from a file or folder"


def _system() -> str:
    """Return the system and its release number; the rest of a release name may be private."""
    release = platform.release()
    wsl = " (WSL)" if "microsoft" in release.lower() else ""
    library, version = platform.libc_ver()
    libc = f", {library} {_number(version)}" if library else ""
    return f"{platform.system()} {_number(release)}{wsl}{libc}"


def _limits() -> str:
    """Return the resource limits of this process."""
    try:
        import resource
    except ModuleNotFoundError:  # not a Unix system
        return "unknown"
    kinds = {"addresses": "AS", "files": "NOFILE", "processes": "NPROC"}
    found = {}
    for name, kind in kinds.items():
        soft, _ = resource.getrlimit(getattr(resource, f"RLIMIT_{kind}"))
        found[name] = "no limit" if soft == resource.RLIM_INFINITY else f"{soft:,}"
    return ", ".join(f"{name} {value}" for name, value in found.items())


def _libraries() -> Iterator[str]:
    """Yield the versions of the required libraries, then of those of each extra."""
    try:
        needs = find_libraries()
    except metadata.PackageNotFoundError:
        return
    for extra, names in needs.items():
        known = ", ".join(f"{name} {_version_of(name)}" for name in names)
        yield f"{extra or 'libraries':<9} {known}"


def _version_of(name: str) -> str:
    """Return the public part of a library's version; the local part after + may name a machine."""
    try:
        return metadata.version(name).partition("+")[0]
    except metadata.PackageNotFoundError:
        return "missing"


def _number(text: str) -> str:
    """Return the first version number in a text.

    >>> _number("6.1.0-of-anna"), _number("next")
    ('6.1.0', 'unknown')
    """
    match = _NUMBER.search(text)
    return match[0] if match else "unknown"


def _line(finding: Finding) -> str:
    """Return a finding as a line without names of people or paths of this machine."""
    detail = finding.detail
    if finding.what in _SPOKEN and finding.ok is not False:
        detail = _measure(finding)
    return write_line(finding._replace(detail=_hide(detail)))


def _measure(finding: Finding) -> str:
    """Return the number in the finding about a program or a folder."""
    if finding.what == "temporary folder":
        return finding.detail.rpartition(", ")[2]
    if finding.detail == "not found":
        return finding.detail
    return _number(finding.detail)


def _hide(text: str) -> str:
    """Cut a text off before the first path, or the first name of this user or machine.

    A path may have spaces, so its end cannot be recognised.
    """
    words = "|".join(map(re.escape, _private()))
    match = re.search(rf"(?<!\w)(?:{words})(?!\w)|{_TEXT_PATH}", text, re.IGNORECASE)
    if match:
        text = text[: match.start()] + _HIDDEN
    return escape(text)


def _private() -> list[str]:
    """Return the names that identify this user or machine, the longest first."""
    words = {os.environ.get(name, "") for name in _OF_PERSONS}
    words |= {sys.prefix, sys.base_prefix, platform.node()}
    words |= {path for path in os.environ.get("PATH", "").split(os.pathsep) if os.sep in path}
    for ask in (getpass.getuser, os.getcwd, tempfile.gettempdir, socket.gethostname):
        with contextlib.suppress(KeyError, OSError, ImportError):  # a folder that was removed
            words.add(ask())
    words |= {word.partition(".")[0] for word in words}
    return sorted(words - {"", "root", os.sep}, key=len, reverse=True)
