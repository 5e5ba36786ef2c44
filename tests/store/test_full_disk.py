"""A full disk is named with the file, and no advice would delete good results."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.cli.picking import open_out
from arena.entries.file import replacing
from arena.errors import ArenaError
from arena.store.database import SqliteFile
from arena.store.folder import RunFolder
from tests.conftest import run_here

FULL = errno.ENOSPC, os.strerror(errno.ENOSPC)


def fill(_: object) -> None:
    """Write as on a full disk, whose error names no file."""
    raise OSError(*FULL)


def write_run_file(folder: Path) -> None:
    """Write a file of a run."""
    RunFolder(folder).write({"seats.csv": fill})


def write_to_the_side(folder: Path) -> None:
    """Write a file that replaces another one."""
    with replacing(folder / "seats.csv") as part:
        fill(part)


def export(folder: Path) -> None:
    """Write what a user has named."""
    with open_out(folder / "seats.csv") as file:
        fill(file)


@pytest.mark.parametrize("write", [write_run_file, write_to_the_side, export])
def test_the_file_that_does_not_fit_is_named(tmp_path: Path, write: Callable[[Path], None]) -> None:
    """And nothing is left of it."""
    with pytest.raises(OSError, match="No space left on device") as caught:
        write(tmp_path)
    assert Path(caught.value.filename).name == "seats.csv"
    assert not [*tmp_path.rglob("*seats*")]


def fill_line(*_: object) -> str:
    """Fail as the writing of a line does."""
    raise OSError(*FULL)


def test_a_command_says_which_file_does_not_fit(
    duel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one line, with status 2."""
    monkeypatch.setattr("arena.store.reader.to_line", fill_line)
    done = run_here(tmp_path, "export", str(duel), "-o", "games.jsonl")
    assert done.stderr == "error: games.jsonl: No space left on device\n"
    assert done.returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_standard_output_that_is_full_is_named() -> None:
    """As one that leads to a file on a full disk."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "arena", "docs", "--path"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.stderr.splitlines()[-1] == "error: standard output: No space left on device"


def fail(code: int, message: str) -> Callable[..., Any]:
    """Return a function that fails as SQLite does with this code."""

    def raise_error(*_: object) -> None:
        error = sqlite3.OperationalError(message)
        error.sqlite_errorcode = code
        raise error

    return raise_error


@pytest.mark.parametrize("code", [sqlite3.SQLITE_FULL, 4874, sqlite3.SQLITE_CANTOPEN])
def test_a_good_run_on_a_full_disk_is_not_to_be_played_again(
    duel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """SQLite cannot make the index of its log (4874), which says nothing of the games."""
    shutil.copytree(duel, tmp_path / "run")
    before = (tmp_path / "run" / "run.sqlite").read_bytes()
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=0))
    monkeypatch.setattr("arena.store.database.enable", fail(code, "disk I/O error"))
    for words in (("verify", "run"), ("play", "greedy", "uniform", "--out", "run", "-q")):
        done = run_here(tmp_path, *words)
        said = "error: run/run.sqlite: disk I/O error; no space is left in run\n"
        assert (done.returncode, done.stderr) == (2, said)
    assert (tmp_path / "run" / "run.sqlite").read_bytes() == before


def test_only_damage_is_followed_by_advice_to_begin_anew(tmp_path: Path) -> None:
    """In every database of the arena."""

    class Made(SqliteFile):
        path = tmp_path / "one.sqlite"
        advice = "; begin anew"

    for code, advised in ((sqlite3.SQLITE_CORRUPT, True), (sqlite3.SQLITE_IOERR_READ, False)):
        with pytest.raises(ArenaError) as caught, Made().errors():
            fail(code, "broken")()
        assert ("begin anew" in str(caught.value)) == advised
