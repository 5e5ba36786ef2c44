"""Report the version installed here and the version that made a file; refuse other formats."""

from __future__ import annotations

import hashlib
import platform
import re
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

import engine
from arena.errors import InputError
from arena.lanes.evidence import ROOT
from engine.errors import show

DISTRIBUTION: Final = "district-noir-arena"
"""The name under which the arena is installed."""

_RELEASE: Final = re.compile(r"(\d{1,6})\.(\d{1,6})(\.\w{1,20})*")  # 1.0.3, or 1.1.0.dev0
_MOST_FORMAT: Final = 1_000
_SHOWN: Final = 12  # characters of a hash


@cache
def version_here() -> str:
    """Return the installed version of the arena.

    Raises InputError for a checkout without an installation: it has no version.
    """
    for folder in filter(None, sys.path):  # `importlib.metadata` does the same in 16 ms
        for found in Path(folder).glob(f"{DISTRIBUTION.replace('-', '_')}-*.dist-info"):
            return found.name.split("-")[1].removesuffix(".dist")
    folder = ascii(str(Path(engine.__path__[0]).parent))
    raise InputError(f"the arena is not installed: run `pip install -e .` in {folder}")


def versions() -> dict[str, str]:
    """Return the arena's version, the engine's hash and Python's version on this machine."""
    return {"arena": version_here(), "engine": engine_sha256(), "python": platform.python_version()}


@cache
def engine_sha256() -> str:
    """Return the hash of the engine's source, because another engine plays other games."""
    digest = hashlib.sha256()
    for path in sorted(Path(engine.__path__[0]).glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


class Versions(msgspec.Struct, frozen=True):
    """The hashes of the engine's and the arena's source, and Python's minor version.

    `release` is the arena's version number, only for messages.
    """

    engine: str
    arena: str
    python: str
    release: str = ""

    def differences(self, here: Versions) -> list[str]:
        """Return the differences, such as "engine: there 1f, here 2e"; `self` is "there".

        >>> there = Versions("1f", "2e", "3.11", "1.0.0")
        >>> there.differences(Versions("1f", "3d", "3.12", "1.0.1"))
        ['arena: there 1.0.0 (2e), here 1.0.1 (3d)', 'python: there 3.11, here 3.12']
        """
        return [
            f"{name}: there {self._show(name)}, here {here._show(name)}"
            for name in ("engine", "arena", "python")
            if getattr(self, name) != getattr(here, name)
        ]

    def _show(self, name: str) -> str:
        text: str = getattr(self, name)[:_SHOWN]
        return f"{self.release} ({text})" if name == "arena" else text


@cache
def versions_here() -> Versions:
    """Return the versions of this process."""
    major, minor, _ = platform.python_version_tuple()
    return Versions(engine_sha256(), arena_sha256(), f"{major}.{minor}", version_here())


def arena_sha256() -> str:
    """Return the hash of the names and contents of the arena's modules."""
    folder = Path(ROOT) / "arena"
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        digest.update(f"{name}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def minor(version: str) -> str:
    """Return the minor release of a version; its patch releases write the same bytes.

    >>> minor("1.0.3")
    '1.0'
    """
    return ".".join(version.split(".")[:2])


def maker_of(manifest: Mapping[str, Any]) -> str:
    """Return the version that made a file, by its manifest, and how to install that version.

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

    It may contain keys unknown to this version. A manifest without `versions` is accepted.
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


def check_format(number: object, known: int, maker: str = "", oldest: int | None = None) -> None:
    """Raise InputError if the number of a file's format is not `known`, the one supported here.

    `maker` is the result of `maker_of` for the file, empty if unknown. With `oldest`, formats from
    this number on are supported, too.

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
    if number < (known if oldest is None else oldest):
        maker = maker or "made by a development version before 1.0"
        raise InputError(f"{maker}, in format {number}, and this arena reads {known}")
