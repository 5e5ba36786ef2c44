"""A run's folder: all files or none, its state at a glance, and a disk that is full."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

import pytest

import arena
from arena.cli.picking import open_out
from arena.entries.file import replacing
from arena.errors import ArenaError, InputError
from arena.runs.judge_games import JudgedGames
from arena.store.folder import WINS, RunFolder, home_of, locate, make_place
from arena.store.sqlite_file import SqliteFile
from tests.conftest import run_here


def text(content: str) -> Callable[[TextIO], object]:
    """Return a function that writes this text."""
    return lambda file: file.write(content)


def test_files_are_written_and_an_earlier_runs_are_replaced(tmp_path: Path) -> None:
    """The second run's text replaces the first; other files stay, and no temporary file is left."""
    out = tmp_path / "deep" / "run"
    RunFolder(out).write({"games.csv": text("old\n"), "manifest.json": text("{}")})
    (out / "notes.txt").write_text("mine")
    RunFolder(out).write({"games.csv": text("new\n")})
    assert (out / "games.csv").read_text() == "new\n"
    names = {path.name for path in out.iterdir()}
    assert names == {"games.csv", "manifest.json", "run.log", "notes.txt"}


def test_a_folder_of_other_files_is_refused_and_left_alone(tmp_path: Path) -> None:
    """A user's own games.csv is not a run's, also beside a log."""
    (tmp_path / "games.csv").write_text("mine")
    for names in (["games.csv"], ["games.csv", "run.log"]):
        (tmp_path / names[-1]).touch()
        with pytest.raises(InputError, match="holds other files"):
            RunFolder(tmp_path)
        assert sorted(path.name for path in tmp_path.iterdir()) == names


def may_freeze(path: Path, flag: str) -> bool:
    """Let nobody replace a file, or those of a folder; return whether that worked."""
    chattr = shutil.which("chattr")
    words = [str(chattr), flag, path]
    return bool(chattr) and not subprocess.run(words, capture_output=True, check=False).returncode


@pytest.mark.parametrize(("what", "flag"), [(".", "+a"), (".", "+i"), ("games.csv", "+i")])
def test_what_cannot_be_replaced_is_refused_before_anything_is_written(
    tmp_path: Path, what: str, flag: str
) -> None:
    """A folder that is append-only or immutable, and a result that is."""
    out = tmp_path / "run"
    RunFolder(out).write({"games.csv": text("old"), "manifest.json": text("{}")})
    before = sorted(path.name for path in out.iterdir())
    if not may_freeze(out / what, flag):
        pytest.skip("only root may, and not on every file system")
    try:
        with pytest.raises(InputError, match=r"cannot be written: .* is append-only or immutable"):
            RunFolder(out)
        assert sorted(path.name for path in out.iterdir()) == before
    finally:
        subprocess.run(["chattr", flag.replace("+", "-"), out / what], check=True)


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    """The log, the store and what was judged; a table takes the place of a link."""
    for name in ("run.log", "run.sqlite", "run.sqlite-wal", "analysis.sqlite", "replaced.sqlite"):
        out, elsewhere = tmp_path / f"to-{name}", tmp_path / "elsewhere"
        RunFolder(out).write({"manifest.json": text("{}")})
        place = home_of(out, name)
        place.parent.mkdir(exist_ok=True)
        place.unlink(missing_ok=True)
        place.symlink_to(elsewhere)
        with pytest.raises(InputError, match=f"{name}: a link, which is not followed"):
            RunFolder(out)
        if name == "analysis.sqlite":
            with pytest.raises(InputError, match="a link, which is not followed"):
                JudgedGames(place)
        assert not elsewhere.exists()
    (tmp_path / "mine").write_text("mine")
    place.unlink()
    (out / "games.csv").symlink_to(tmp_path / "mine")
    RunFolder(out).write({"games.csv": text("new")})
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """A file stands in place of the folder, or of a folder above it."""
    file = tmp_path / "file"
    file.write_text("")
    for path in (file, file / "run"):
        with pytest.raises(InputError, match=r"file.*cannot be written"):
            RunFolder(path)


def test_a_folder_in_place_of_a_file_is_refused_before_anything_is_played(tmp_path: Path) -> None:
    """The error names it."""
    RunFolder(tmp_path)
    (tmp_path / "games.csv").mkdir()
    with pytest.raises(InputError, match=r"games\.csv: a folder in the place of a file"):
        RunFolder(tmp_path)


def test_a_failed_write_leaves_the_earlier_run(tmp_path: Path) -> None:
    """If the second of two files cannot be written, the first is still the old one."""
    folder = RunFolder(tmp_path)
    folder.write({"a.csv": text("old")}, {"b.csv": text("old")})

    def full(_: TextIO) -> None:
        raise OSError(28, "No space left on device")

    stopped: list[bool] = []
    for files, others in (
        ({"a.csv": text("new"), "b.csv": full}, {}),
        ({"a.csv": text("new")}, {"b.csv": full}),
        ({"b.csv": full}, {"a.csv": text("new")}),
    ):
        with pytest.raises(OSError, match="No space"):
            folder.write(files, others, lambda: stopped.append(True))
        assert (tmp_path / "a.csv").read_text() == "old"
        assert {path.name for path in tmp_path.iterdir()} == {"a.csv", "b.csv", "run.log"}
    assert len(stopped) == 2  # the thread whose own file it was has ended


def test_only_what_people_open_is_at_the_top(duel: Path) -> None:
    """The rest is in the details, whose index says what each file is for."""
    top = {path.name for path in duel.iterdir() if path.is_file()}
    assert top <= {
        *("report.html", "report.md", "standings.csv", "verdicts.csv", "head_to_head.csv"),
        *("win_types.csv", "games.csv", "faults.csv", "timings.csv", "manifest.json"),
        *("run.sqlite", "run.log"),
    }
    details = {path.name for path in (duel / "details").iterdir()}
    assert {f"{name}.csv" for name in WINS} < details
    listed = re.findall(r"^- `(.+?)`: \w", (duel / "details" / "README.md").read_text(), re.M)
    assert details - {"README.md"} <= {*listed}


def test_files_that_an_older_arena_left_at_the_top_move(tmp_path: Path) -> None:
    """Of each there is one, whatever is written again; what the user has put there stays."""
    out = tmp_path / "out"
    RunFolder(out).write({"manifest.json": text("{}")})
    for name in ("cards.csv", "analysis.csv", "analysis.sqlite", "mine.csv"):
        (out / name).write_text("old")
    assert locate(out, "cards.csv") == out / "cards.csv"
    assert make_place(out, "analysis.csv") == out / "analysis.csv"
    assert make_place(out, "decided.csv") == out / "details" / "decided.csv"
    for content in ("new", "newer"):
        run = {"games.csv": text("rows"), "manifest.json": text("{}")}
        RunFolder(out).write({"cards.csv": text(content), **run})
        assert (out / "details" / "cards.csv").read_text() == content
        assert {path.name for path in (out / "details").iterdir()} == {"cards.csv", "analysis.csv"}
        assert {path.name for path in out.iterdir()} == {
            *("details", "games.csv", "manifest.json", "run.log"),
            *("mine.csv", "analysis.sqlite"),  # it may be open elsewhere
        }
    (out / "cards.csv").write_text("a copy of the user's")
    RunFolder(out).write({"cards.csv": text("newest"), **run})
    assert (out / "cards.csv").read_text() == "a copy of the user's"
    assert (out / "details" / "cards.csv").read_text() == "newest"


def test_a_failed_write_moves_nothing(tmp_path: Path) -> None:
    """The earlier run stays as its arena has left it."""
    folder = RunFolder(tmp_path)
    folder.write({"manifest.json": text("{}")})
    (tmp_path / "cards.csv").write_text("old")
    with pytest.raises(UnicodeEncodeError):
        folder.write({"cards.csv": text("\udc80")})
    assert (tmp_path / "cards.csv").read_text() == "old"
    assert [*(tmp_path / "details").iterdir()] == []


def test_details_are_removed_with_their_run_and_nothing_else(tmp_path: Path) -> None:
    """With --fresh; a file that is not the run's keeps its folder."""
    folder = RunFolder(tmp_path)
    for beside in ("", "notes.txt"):
        folder.write({"cards.csv": text("1"), "manifest.json": text("{}")})
        if beside:
            (tmp_path / "details" / beside).write_text("mine")
        (tmp_path / "takes.csv").write_text("of an older arena")
        assert sorted(folder.clear()) == ["details/cards.csv", "manifest.json", "takes.csv"]
        assert (tmp_path / "details").exists() == bool(beside)
    assert {path.name for path in tmp_path.rglob("*.*")} == {"run.log", "notes.txt"}


def test_details_that_lead_elsewhere_are_refused(tmp_path: Path) -> None:
    """A link, and a file in the place of the folder."""
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    RunFolder(out).write({"manifest.json": text("{}")})
    elsewhere.mkdir()
    (out / "details").symlink_to(elsewhere)
    reason = "details: a link, which is not followed"
    for write in (RunFolder, lambda path: make_place(path, "cards.csv")):
        with pytest.raises(InputError, match=reason):
            write(out)
    (out / "details").unlink()
    (out / "details").write_text("")
    with pytest.raises(InputError, match="details: a file in the place of a folder"):
        RunFolder(out)
    assert not [*elsewhere.iterdir()]


@pytest.fixture
def cup(duel: Path, tmp_path: Path) -> Path:
    """Return a copy of the folder of a run that has ended, which a test may change."""
    return shutil.copytree(duel, tmp_path / "cup")


def test_a_folder_on_a_file_system_without_locks_is_one_line(
    cup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for the folder for temporary files."""

    def refuse(_descriptor: int, _how: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(ArenaError, match=r"has no locks \(Operation not supported\); choose"):
        arena.run(["uniform", "greedy"], pairs=2, seed=7, out=cup, progress=False)


FULL = errno.ENOSPC, os.strerror(errno.ENOSPC)


def fill(_: object) -> None:
    """Write as on a full disk, whose error names no file."""
    raise OSError(*FULL)


def write_run_file(folder: Path) -> None:
    """Write a file of a run."""
    RunFolder(folder).write({"wins.csv": fill})


def write_to_the_side(folder: Path) -> None:
    """Write a file that replaces another one."""
    with replacing(folder / "wins.csv") as part:
        fill(part)


def export(folder: Path) -> None:
    """Write what a user has named."""
    with open_out(folder / "wins.csv") as file:
        fill(file)


@pytest.mark.parametrize("write", [write_run_file, write_to_the_side, export])
def test_the_file_that_does_not_fit_is_named(tmp_path: Path, write: Callable[[Path], None]) -> None:
    """And nothing is left of it."""
    with pytest.raises(OSError, match="No space left on device") as caught:
        write(tmp_path)
    assert Path(caught.value.filename).name == "wins.csv"
    assert not [*tmp_path.rglob("*wins*")]


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
