"""Versions: what must be the same on two machines so that they play the same games."""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from pathlib import Path

import msgspec

from arena.lanes.traceback_text import ROOT
from arena.tournament.tournament import engine_sha256

_SHOWN = 12  # characters of a hash


class Versions(msgspec.Struct, frozen=True):
    """The hashes of the engine's and the arena's source, and Python's minor version."""

    engine: str
    arena: str
    python: str

    def differences(self, here: Versions) -> list[str]:
        """Return what differs, as "engine: there 1f, here 2e"; this one is there.

        >>> there = Versions("1f", "2e", "3.11")
        >>> there.differences(Versions("1f", "2e", "3.12"))
        ['python: there 3.11, here 3.12']
        """
        pairs = zip(msgspec.structs.fields(self), self._texts(), here._texts(), strict=True)
        return [f"{name.name}: there {a}, here {b}" for name, a, b in pairs if a != b]

    def _texts(self) -> list[str]:
        return [value[:_SHOWN] for value in msgspec.structs.astuple(self)]


@cache
def versions_here() -> Versions:
    """Return the versions of this process."""
    major, minor, _ = platform.python_version_tuple()
    return Versions(engine_sha256(), _hash(f"{ROOT}/arena"), f"{major}.{minor}")


def _hash(package: str) -> str:
    """Return the hash of the names and texts of a package's modules."""
    folder = Path(package)
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        digest.update(f"{name}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
