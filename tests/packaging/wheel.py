"""Wheel: builds the package, finds Pythons, and installs it in new environments."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests import ROOT

CONSTRAINTS = ROOT / "constraints.txt"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def run(
    words: Sequence[str | Path],
    folder: Path,
    text: str = "",
    status: int = 0,
    umask: int = -1,
    **environment: str,
) -> str:
    """Run a command in a folder, away from this clone; return what it prints.

    Fails, with all that was printed, for another exit status.
    """
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        words,
        cwd=folder,
        env=outside | environment,
        umask=umask,
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == status, f"{words}:\n{done.stdout}"
    return done.stdout


def build(
    folder: Path, *options: str, source: Path = ROOT, umask: int = -1, **environment: str
) -> Path:
    """Build an sdist, and from it a wheel, into a folder; return the wheel.

    `--no-isolation` builds with what this environment has, and so without a network.
    """
    folder.mkdir(parents=True)
    words = [sys.executable, "-m", "build", *options, "--outdir", folder, source]
    run(words, folder, umask=umask, PIP_CONSTRAINT=str(CONSTRAINTS), **environment)
    (wheel,) = folder.glob("*.whl")
    return wheel


def libraries(requirements: Iterable[str]) -> list[metadata.Distribution]:
    """Return what pip would install for requirements, as it is installed here."""
    found: dict[str, metadata.Distribution] = {}
    waiting = [*requirements]
    while waiting:
        requirement = Requirement(waiting.pop())
        is_wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        name = canonicalize_name(requirement.name)
        if is_wanted and name not in found:
            found[name] = metadata.distribution(name)
            waiting += found[name].requires or []
    return [*found.values()]


def install_beside(wheel: Path, folder: Path, borrowed: Iterable[metadata.Distribution]) -> Path:
    """Make an environment of the wheel that borrows libraries of this one; return its bin."""
    borrow(folder, find_paths(borrowed))
    python = folder / "bin" / "python"
    words = ["--python", python, "install", "--quiet", "--no-index", "--no-deps", wheel]
    run([sys.executable, "-m", "pip", *words], wheel.parent)
    return folder / "bin"


def borrow(folder: Path, paths: Iterable[Path]) -> None:
    """Make an environment whose libraries are links to these files and folders."""
    venv.create(folder, symlinks=True)
    for path in paths:
        (packages(folder) / path.name).symlink_to(path)


def find_paths(borrowed: Iterable[metadata.Distribution]) -> set[Path]:
    """Return the files and folders of libraries in the folder of all packages."""
    return {
        Path(str(library.locate_file(file.parts[0])))
        for library in borrowed
        for file in library.files or []
        if file.parts[0] != ".."
    }


def packages(environment: Path) -> Path:
    """Return the folder of an environment in which libraries are."""
    (folder,) = environment.glob("lib/python*/site-packages")
    return folder


def make(folder: Path, python: str) -> int:
    """Make a new environment, and return how many megabytes its libraries take."""
    folder.mkdir(parents=True)
    run([python, "-m", "venv", folder], folder)
    return megabytes(folder)


def add(environment: Path, requirement: str) -> None:
    """Install something in an environment, in the versions that make installs."""
    words = ["install", "--quiet", "--constraint", CONSTRAINTS, requirement]
    run([environment / "bin" / "python", "-m", "pip", *words], environment)


def megabytes(environment: Path) -> int:
    """Return what the libraries of an environment take on the disk, as `du -sm` says it."""
    return int(run(["du", "-sm", packages(environment)], environment).split()[0])


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
    """Return the Python of each version from 3.11 on that works here, the oldest first."""
    return [one for minor in _MINORS if (one := probe(f"python3.{minor}"))]


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


SITE = ("arena/site", "--no-gallery")
"""The site that a wheel has, of pictures and without the pages of the gallery."""


class Commit(NamedTuple):
    """The commit that is built: its hash, its time in seconds, and its tags."""

    sha: str
    time: str
    tags: tuple[str, ...]


def read_commit() -> Commit:
    """Return the commit of the working folder."""
    sha, time = git("show", "--no-patch", "--format=%H %ct", "HEAD").split()
    return Commit(sha, time, tuple(git("tag", "--points-at", "HEAD").split()))


def build_clone(
    folder: Path, commit: Commit, *options: str, umask: int = 0o022, zone: str = "UTC"
) -> tuple[Path, Path]:
    """Clone a commit to a folder, build its site and itself, and return its wheel and its sdist."""
    clone = folder / "clone"
    run(["git", "clone", "--quiet", "--no-checkout", ROOT, clone], ROOT, umask=umask)
    run(["git", "checkout", "--quiet", commit.sha], clone, umask=umask)
    run([sys.executable, "-m", "docs.making", *SITE], clone, umask=umask, TZ=zone)
    built = build(
        *(folder / "built", *options),
        source=clone,
        umask=umask,
        SOURCE_DATE_EPOCH=commit.time,
        TZ=zone,
    )
    (sdist,) = built.parent.glob("*.tar.gz")
    return built, sdist


def build_twice(folder: Path, commit: Commit, *options: str) -> tuple[Path, Path]:
    """Return the wheel and the sdist of a commit; fails if a second build has other bytes.

    The clones lie in folders of other names, are made at other times, and the second has another
    umask and another time zone.
    """
    first = build_clone(folder / "first", commit, *options)
    with tempfile.TemporaryDirectory() as elsewhere:
        second = build_clone(
            *(Path(elsewhere) / "a second place", commit, *options),
            umask=0o077,
            zone="Asia/Kathmandu",
        )
        pairs = zip(first, second, strict=True)
        different = [
            one.name
            for one, other in pairs
            if (one.name, one.read_bytes()) != (other.name, other.read_bytes())
        ]
    names = ", ".join(different)
    assert not different, f"two clones of {commit.sha[:12]} give other bytes: {names}"
    return first


def git(*words: str) -> str:
    """Return what git says of the working folder."""
    return run(["git", *words], ROOT)
