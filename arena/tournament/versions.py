"""Say which version plays here and which made a file, and refuse files of other formats."""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import engine
from arena.errors import InputError
from engine.errors import show

DISTRIBUTION: Final = "district-noir-arena"
"""The name under which the arena is installed."""

_RELEASE: Final = re.compile(r"(\d{1,6})\.(\d{1,6})(\.\w{1,20})*")  # 1.0.3, or 1.1.0.dev0
_MOST_FORMAT: Final = 1_000


def version_here() -> str:
    """Return the version of the arena that is installed.

    Raises InputError for a checkout without an installation: it has no version.
    """
    from importlib import metadata  # 16 ms, for which no worker waits

    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        folder = ascii(str(Path(engine.__path__[0]).parent))
        what = f"the arena is not installed: run `pip install -e .` in {folder}"
        raise InputError(what) from None


def versions() -> dict[str, str]:
    """Return what plays here: the arena's version, the engine's hash and Python's version."""
    return {
        "arena": version_here(),
        "engine": engine_sha256(),
        "python": platform.python_version(),
    }


@cache
def engine_sha256() -> str:
    """Return the hash of the engine's source: another engine plays other games."""
    digest = hashlib.sha256()
    for path in sorted(Path(engine.__path__[0]).glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def minor(version: str) -> str:
    """Return the minor release of a version, whose files have the same bytes.

    >>> minor("1.0.3")
    '1.0'
    """
    return ".".join(version.split(".")[:2])


def maker_of(manifest: Mapping[str, Any]) -> str:
    """Return which version made a file, by its manifest, and how to install it where it can be.

    >>> maker_of({"versions": {"arena": "1.0.3"}})
    "made by version 1.0.3 (pip install 'district-noir-arena==1.0.3')"
    >>> maker_of({"versions": {"arena": "0.1.0"}})
    'made by a development version before 1.0'
    """
    made_by = manifest.get("versions")
    version = made_by.get("arena") if isinstance(made_by, Mapping) else None
    if not isinstance(version, str) or not _RELEASE.fullmatch(version):
        return "made by an unknown version"
    if version.startswith("0."):
        return "made by a development version before 1.0"
    return f"made by version {version} (pip install '{DISTRIBUTION}=={version}')"


def check_made_by(manifest: Mapping[str, Any]) -> None:
    """Raise InputError for the manifest of a later minor release than this one.

    It may have what this version does not know. One without `versions` is of any version.
    """
    made_by = manifest.get("versions")
    if made_by is None:
        return
    version = made_by.get("arena") if isinstance(made_by, Mapping) else made_by
    release = _RELEASE.fullmatch(version) if isinstance(version, str) else None
    if release is None:
        raise InputError(f"its manifest cannot be read: versions: no version {show(version)}")
    here = version_here()
    if (int(release[1]), int(release[2])) > tuple(map(int, minor(here).split("."))):
        raise InputError(f"made by version {version}; this is {here}: update the arena")


def check_format(number: object, known: int, maker: str = "") -> None:
    """Raise InputError for the number of a format that is not the one that is known here.

    `maker` is what `maker_of` says of the file, if it says it.

    >>> check_format(3, 4)
    Traceback (most recent call last):
        ...
    arena.errors.InputError: made by a development version before 1.0, in format 3, and this \
arena reads 4
    """
    if type(number) is not int or not 0 <= number <= _MOST_FORMAT:
        raise InputError(f"format {show(number)}: not the number of a format, which is {known}")
    if number > known:
        maker = maker or "made by a later version"
        reads = f"this is {version_here()} and reads {known}"
        raise InputError(f"{maker}, in format {number}; {reads}: update the arena")
    if number < known:
        maker = maker or "made by a development version before 1.0"
        raise InputError(f"{maker}, in format {number}, and this arena reads {known}")
