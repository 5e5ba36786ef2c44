"""The drill: faults planted in a copy of the repository, each of which a test must catch."""

from __future__ import annotations

import compileall
import os
import shutil
import subprocess
import sys
from pathlib import Path
from py_compile import PycInvalidationMode as Invalidation
from typing import NamedTuple

from tests import ROOT


class Fault(NamedTuple):
    """A description, the file, the right source, the wrong one, and the test that catches it."""

    what: str
    file: str
    right: str
    wrong: str
    test: str
    """The test that must fail with the fault and pass without it, as pytest names it."""


def copy_repository(folder: Path) -> Path:
    """Return a new copy of the repository in `folder`, with only what git keeps and `tests` need.

    The folder `results` at the top, where runs are, is left out; a room of that name is not. A
    link stays a link: `arena/configs` leads to the folder `configs` of the copy.
    """
    everywhere = shutil.ignore_patterns("__pycache__")
    at_the_top = shutil.ignore_patterns(
        ".git", ".venv", ".*_cache", ".hypothesis", "build", "results"
    )

    def ignored(parent: str, names: list[str]) -> set[str]:
        top = at_the_top(parent, names) if Path(parent) == ROOT else set()
        return everywhere(parent, names) | top

    return Path(shutil.copytree(ROOT, folder / "copy", symlinks=True, ignore=ignored))


def commit() -> str:
    """Return the name of the commit, with a plus if files have changed; empty without git."""
    named, changes = (_git("rev-parse", "HEAD"), _git("status", "--porcelain", "-uno"))
    return named + ("+" if named and changes else "")


def _git(*words: str) -> str:
    """Return what git says of the repository, or nothing where there is none."""
    try:
        words = ("git", "-C", str(ROOT), *words)
        return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""


def compile_copy(copy: Path) -> None:
    """Compile every source of the copy once, so that not every process does it again.

    What is compiled is checked by the hash of its source: by its time alone a fault that is
    planted within the same second could be overlooked.
    """
    compileall.compile_dir(copy, quiet=2, invalidation_mode=Invalidation.CHECKED_HASH)


def run_tests(copy: Path, *tests: str, is_first: bool = False) -> int:
    """Return pytest's exit status: 0 if all pass, 1 if some fail, another if it cannot run.

    The tests are of `make test` or of `make test-all`: those that are marked `study` are not
    run. The processes that the tests start import the copy, too. The first run of a copy, which
    is without a fault, keeps what it compiles, and shows what pytest says.
    """
    together = ["-n", "2"] if is_first else []
    own = {
        "PYTHONPATH": str(copy),
        "PYTHONDONTWRITEBYTECODE": "" if is_first else "1",
    }
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not study", *together, *tests],
        cwd=copy,
        env=os.environ | own,
        stdout=None if is_first else subprocess.DEVNULL,
        check=False,
    ).returncode


def is_caught(copy: Path, fault: Fault) -> bool:
    """Return whether the fault's test fails with the fault planted in the copy.

    Raises RuntimeError if the fault no longer fits the source or pytest cannot run.
    """
    path = copy / fault.file
    source = path.read_text(encoding="utf-8")
    if source.count(fault.right) != 1:
        raise RuntimeError(f"{fault.what}: {fault.file} has changed, update the drill")
    path.write_text(source.replace(fault.right, fault.wrong), encoding="utf-8")
    try:
        status = run_tests(copy, fault.test)
    finally:
        path.write_text(source, encoding="utf-8")
    if status not in (0, 1):
        raise RuntimeError(f"{fault.what}: pytest ended with status {status}")
    return status == 1
