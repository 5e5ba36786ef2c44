"""Clones: the sdist and the wheel of one commit, built twice in places that have little in common.

What is built is the commit, not the working folder.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests import ROOT
from tests.packaging import wheel
from tests.packaging.wheel import run

SITE = ("arena/site", "--no-gallery")
"""The site that a wheel has, of pictures and without the pages of the gallery."""


class Commit(NamedTuple):
    """The commit that is built: its hash, its time in seconds, and its tags."""

    sha: str
    time: str
    tags: tuple[str, ...]


def read_commit(repository: Path = ROOT) -> Commit:
    """Return the commit of a working folder."""
    sha, time = _git(repository, "show", "--no-patch", "--format=%H %ct", "HEAD").split()
    return Commit(sha, time, tuple(_git(repository, "tag", "--points-at", "HEAD").split()))


def count_changes(repository: Path = ROOT) -> int:
    """Return how many files of a working folder differ from its commit, or are new."""
    return len(_git(repository, "status", "--porcelain").splitlines())


def build(
    folder: Path, commit: Commit, *options: str, umask: int = 0o022, zone: str = "UTC"
) -> tuple[Path, Path]:
    """Clone a commit to a folder, build its site and itself, and return its wheel and its sdist."""
    clone = folder / "clone"
    run(["git", "clone", "--quiet", "--no-checkout", ROOT, clone], ROOT, umask=umask)
    run(["git", "checkout", "--quiet", commit.sha], clone, umask=umask)
    run([sys.executable, "-m", "docs.making", *SITE], clone, umask=umask, TZ=zone)
    built = wheel.build(
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
    first = build(folder / "first", commit, *options)
    with tempfile.TemporaryDirectory() as elsewhere:
        second = build(
            *(Path(elsewhere) / "a second place", commit, *options),
            umask=0o077,
            zone="Asia/Kathmandu",
        )
        pairs = zip(first, second, strict=True)
        different = [one.name for one, other in pairs if is_different(one, other)]
    assert not different, (
        f"two clones of {commit.sha[:12]} give other bytes: {', '.join(different)}"
    )
    return first


def is_different(one: Path, other: Path) -> bool:
    """Return whether two files have different names or bytes."""
    return (one.name, one.read_bytes()) != (other.name, other.read_bytes())


def digest(path: Path) -> str:
    """Return the sha256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _git(folder: Path, *words: str) -> str:
    return run(["git", "-C", folder, *words], folder)
