"""Under `ulimit -v` a command ends with one line, whatever lacks memory."""

from __future__ import annotations

import errno
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from arena.cli.ulimit import is_shortage
from tests.conftest import Done
from tests.waiting import PATIENCE


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, duel: Path) -> Path:
    """Return a folder with a finished run."""
    folder = tmp_path_factory.mktemp("memory")
    shutil.copytree(duel, folder / "run")
    return folder


def limited(folder: Path, megabytes: int, words: str) -> Done:
    """Run a command that may have so much memory."""
    return subprocess.run(
        ["sh", "-c", f'ulimit -v {megabytes << 10}; exec "$0" -m arena {words}', sys.executable],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


OWN = 64  # MB: with less, Python itself fails in any way, also before the arena begins


def has_begun(done: Done) -> bool:
    """Return whether a command that failed had got as far as the arena's own code."""
    return "\nerror: " in f"\n{done.stderr}" or "/arena/" in done.stderr


ALL = [
    ("play greedy uniform --pairs 1", 300),
    ("run quickstart --pairs 1", 300),
    ("report run", 200),
    ("verify run", 150),
    ("compare greedy uniform", 300),
    ("ablate quickstart --rule set_bonus=0", 300),
    ("table", 100),
    ("sites", 100),
    ("show run", 100),
    ("export run", 25),
    ("view run greedy/uniform/0/0 --out page.html", 25),
    ("check greedy", 150),
    ("game greedy uniform", 25),
    ("bots", 20),
    ("verify run", 700),
    ("run quickstart --pairs 1 --out other", 600),
]
CHEAP = ("play greedy uniform --pairs 1", "verify run", "show run")


@pytest.mark.parametrize(
    ("words", "megabytes"),
    [
        pytest.param(words, megabytes, id=f"{words.split()[0]}-{megabytes}")
        if words in CHEAP and megabytes < 700
        else pytest.param(
            words, megabytes, id=f"{words.split()[0]}-{megabytes}", marks=pytest.mark.slow
        )
        for words, megabytes in ALL
    ],
)
def test_too_little_memory_is_one_line(folder: Path, words: str, megabytes: int) -> None:
    """It names the limit and what raises it; the status is 1, and nothing is left behind."""
    before = sorted(folder.iterdir())
    done = limited(folder, megabytes, words)
    if megabytes < OWN and (done.returncode == 0 or not has_begun(done)):
        return  # a Python that takes less, or one that failed before the arena began
    assert (done.returncode, done.stdout) == (1, "")
    *others, line = done.stderr.splitlines()
    assert not others or megabytes < OWN  # hashlib logs that it could not load a library
    assert line.startswith("error: too little memory")
    if megabytes >= 100:
        limit = f"`ulimit -v` allows {megabytes} MB: raise it, as with `ulimit -v unlimited`"
        assert re.search(": numpy( and pandas)? needs? more; ", line)
        assert line.endswith(limit)
    assert sorted(folder.iterdir()) == before


@pytest.mark.slow
def test_help_needs_no_more_than_it_does(folder: Path) -> None:
    """Nothing is tried for it, nor for commands that make no tables."""
    for words in ("run --help", "show run greedy/uniform/0/0"):
        assert limited(folder, 60, words).returncode == 0


@pytest.mark.slow
def test_with_enough_memory_a_limit_changes_nothing(folder: Path) -> None:
    """Two gigabytes are enough on a machine of a few cores."""
    done = limited(folder, 4096, "verify run")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("error", "is_one"),
    [
        (MemoryError(), True),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), True),
        (OSError(errno.ENOSPC, "No space left on device"), False),
        (ImportError("x.so: failed to map segment from shared object"), True),
        (RuntimeError("can't start new thread"), True),
        (SystemError("error return without exception set"), True),
        (ImportError("No module named 'x'"), False),
        (RuntimeError("cannot allocate"), True),
        (ValueError("cannot allocate"), False),
    ],
)
def test_what_python_says_of_missing_memory_is_known(error: Exception, is_one: bool) -> None:
    """By the kind of the error, and where that says little by its words."""
    assert is_shortage(error) is is_one
