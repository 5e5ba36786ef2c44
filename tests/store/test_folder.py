"""A run's files are written all or none, and replace no files of others."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

import pytest

from arena.errors import InputError
from arena.store.folder import RunFolder
from arena.store.judge import JudgedGames


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
        (out / name).unlink(missing_ok=True)
        (out / name).symlink_to(elsewhere)
        with pytest.raises(InputError, match=f"{name}: a link, which is not followed"):
            RunFolder(out)
        if name == "analysis.sqlite":
            with pytest.raises(InputError, match="a link, which is not followed"):
                JudgedGames(out / name)
        assert not elsewhere.exists()
    (tmp_path / "mine").write_text("mine")
    (out / name).unlink()
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
