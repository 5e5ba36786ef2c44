"""Pythons: those of this machine, by the names that a package's users type."""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_MINORS = range(11, 20)
_PROBE = "import ensurepip, venv, platform; print(platform.python_version())"


class Python(NamedTuple):
    """A Python that runs here and can make environments, and its version."""

    path: str
    version: str

    @property
    def minor(self) -> str:
        """Return the version as a classifier has it.

        >>> Python("python3.12", "3.12.1").minor
        '3.12'
        """
        return ".".join(self.version.split(".")[:2])


def find() -> list[Python]:
    """Return the first Python of each version from 3.11 on that works here, the oldest first."""
    works = (next(filter(None, map(probe, _places(minor))), None) for minor in _MINORS)
    return [python for python in works if python]


def _places(minor: int) -> Iterator[str]:
    """Yield where a Python may be: on the PATH, and among pyenv's, whose names may lead nowhere."""
    name = f"python3.{minor}"
    yield name
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    yield from sorted(glob.glob(f"{root}/versions/3.{minor}.*/bin/{name}"), reverse=True)


def probe(name: str) -> Python | None:
    """Return a Python that is named or lies at a path, or None if it makes no environment."""
    path = shutil.which(name)
    if path is None:
        return None
    done = subprocess.run([path, "-c", _PROBE], capture_output=True, text=True, check=False)
    return None if done.returncode else Python(path, done.stdout.strip())


def missing(found: Sequence[Python], wanted: Sequence[str]) -> list[str]:
    """Return the versions that a package names and that were not found.

    >>> missing([Python("python3.12", "3.12.1")], ["3.12", "3.14"])
    ['3.14']
    """
    return [version for version in wanted if version not in {python.minor for python in found}]
