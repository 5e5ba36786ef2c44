"""Extras: the libraries that only some runs need, and which of them are installed."""

from __future__ import annotations

import re
from importlib import metadata

from arena.cli.machine import Finding

PACKAGE = "district-noir-arena"

EXTRAS = {
    "report": "report.html, and charts",
    "swiss": "format: swiss",
    "table": "arena table",
    "parquet": "games.parquet",
    "dask": "executor dask",
    "mpi": "executor mpi",
    "rl": "arena.rl for learners",
    "openspiel": "the game in OpenSpiel",
}
"""The extras of the package that a user may want, and what each is for."""

_OF_AN_EXTRA = re.compile(r"([\w.-]+).*; *extra *== *['\"]([\w-]+)['\"]")


def examine_extras() -> Finding:
    """Return which extras are here, and what brings the others."""
    try:
        missing = find_missing()
    except metadata.PackageNotFoundError:
        return Finding("extras", None, f"unknown: {PACKAGE} is not installed here")
    here = ", ".join(extra for extra in EXTRAS if extra not in missing) or "none"
    if not missing:
        return Finding("extras", None, here)
    lacking = ", ".join(f"{extra} ({EXTRAS[extra]})" for extra in missing)
    advice = f"pip install '{PACKAGE}[{missing[0]}]', and so with the others"
    return Finding("extras", None, f"{here}; not {lacking}", advice)


def find_missing() -> list[str]:
    """Return the extras that lack a library here.

    Raises importlib.metadata.PackageNotFoundError where the arena itself is not installed.
    """
    missing = set()
    for requirement in metadata.requires(PACKAGE) or []:
        match = _OF_AN_EXTRA.fullmatch(requirement)
        if match and not _is_installed(match[1]):
            missing.add(match[2])
    return [extra for extra in EXTRAS if extra in missing]


def _is_installed(distribution: str) -> bool:
    try:
        metadata.distribution(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True
