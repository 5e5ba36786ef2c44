"""Only what a run has made is removed, however much its name looks like the arena's."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import signal
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from arena.entries.layout import remove_tree
from arena.entries.resolve import resolve
from arena.errors import ArenaError
from arena.lanes import temp_and_cache_folders
from arena.lanes.limits import Limits
from arena.lanes.load_check import find_problems
from arena.lanes.process import BotProcess
from arena.lanes.temp_and_cache_folders import MARKER, empty_folder, scratch_folder
from arena.processes import exit_on_termination
from arena.tournament.asking import asked
from engine import STANDARD
from tests.conftest import run_here
from tests.tiers import few
from tests.users import IS_ROOT

HOME = f"noir-arena-{os.geteuid()}"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder for temporary files of this test."""
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


@contextmanager
def killed_run(place: Path) -> Iterator[Path]:
    """Yield the folder of a run that was killed, in a place."""
    with scratch_folder() as folder:
        kept = shutil.copytree(folder.parent, place / "kept")
    kept.chmod(0o700)
    yield kept.rename(folder.parent) / folder.name


@pytest.mark.parametrize("number", few([signal.SIGTERM, signal.SIGHUP], 0, 1))
def test_a_signal_at_any_line_leaves_nothing(place: Path, number: signal.Signals) -> None:
    """Also while the folder is made, before anybody knows it, and while it is removed."""
    line, came = 0, True
    while came:
        line, came = line + 1, False
        with exit_on_termination(), suppress(SystemExit), signal_at(line, number) as signalled:
            with scratch_folder() as folder:
                assert folder.exists()
            came = signalled()
            assert not came, f"{number!r} at line {line} did not end the program"
        came = signalled()
        assert [*place.iterdir()] == [], f"left by {number!r} at line {line}"
    assert line > 30


@contextmanager
def signal_at(line: int, number: signal.Signals) -> Iterator[Callable[[], bool]]:
    """Send this process a signal at so many lines of this module; say if it was sent."""
    lines = 0

    def follow(frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal lines
        if frame.f_code.co_filename != temp_and_cache_folders.__file__:
            return None
        lines += event == "line"
        if event == "line" and lines == line:
            signal.raise_signal(number)
        return follow

    before = sys.gettrace()
    sys.settrace(follow)
    try:
        yield lambda: lines >= line
    finally:
        sys.settrace(before)


def test_the_folder_of_a_killed_run_is_removed_and_that_of_a_living_one_is_not(place: Path) -> None:
    """Nor is what has no marker, or one that is a link, or what others may enter."""
    with killed_run(place) as killed, scratch_folder() as living:
        for name in ("run-unmarked", "run-linked", "new-1234"):
            (living.parent / name).mkdir(0o700)
        (living.parent / "run-linked" / MARKER).symlink_to(living / MARKER)
        (living.parent / "run-open").mkdir(0o755)
        (living.parent / "run-open" / MARKER).touch()
        assert not killed.exists()
        with scratch_folder() as third:
            names = {folder.name for folder in living.parent.iterdir()}
        others = {MARKER, "run-unmarked", "run-linked", "run-open", "new-1234"}
        assert names == {living.name, third.name, *others}


def test_the_marker_stays_as_a_bot_is_tried(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bot's folder is emptied, and that of the run is not: after a kill it is still known."""
    marked = []
    start = BotProcess.start

    def look(process: BotProcess) -> None:
        start(process)
        marked.extend((run / MARKER).is_file() for run in place.glob(f"{HOME}/run-*"))

    monkeypatch.setattr(BotProcess, "start", look)
    entry = resolve("uniform", lane="process")
    assert [*find_problems([entry], STANDARD, Limits())] == []
    with asked(entry, 0, 7, STANDARD):
        pass
    assert marked == [True, True]


@pytest.mark.parametrize(
    "what",
    ["open", "unmarked", "file", "link", *["another's"][:IS_ROOT]],  # who else may chown?
)
def test_a_name_that_is_taken_is_left_alone(place: Path, what: str) -> None:
    """The runs then have their folder under the next name."""
    home = place / HOME
    if what == "file":
        home.write_text("mine")
    elif what == "link":
        home.symlink_to(place)
    else:
        home.mkdir()
        if what != "unmarked":
            (home / MARKER).touch()
        home.chmod(0o755 if what == "open" else 0o700)
    if what == "another's":
        os.chown(home, 61_347, 61_347)
    before = home.lstat()
    with scratch_folder() as folder:
        assert folder.parent == place / f"{HOME}.1"
        assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    assert home.lstat()[:8] == before[:8]
    assert [*place.iterdir()] == [home]


def test_a_folder_for_temporary_files_without_a_free_name_is_one_line(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As is one that cannot be written, or is not there."""
    monkeypatch.setattr("arena.lanes.temp_and_cache_folders._MOST_HOMES", 2)
    for name in (HOME, f"{HOME}.1"):
        (place / name).touch()
    with pytest.raises(ArenaError, match="and the names before it are taken"), scratch_folder():
        pass
    monkeypatch.setattr(tempfile, "tempdir", str(place / "nowhere"))
    with pytest.raises(ArenaError, match="nowhere: No such file or directory"), scratch_folder():
        pass


def test_a_file_system_without_locks_is_one_line(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command ends with status 1, and leaves nothing behind."""

    def refuse(_descriptor: int, _how: int) -> None:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", refuse)
    done = run_here(tmp_path, "play", "uniform", "greedy", "--pairs", "1", TMPDIR=str(place))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith(
        "its file system has no locks (Operation not supported); choose a TMPDIR on a local disk"
    )
    assert [*place.glob("*/*")] == []


@pytest.mark.slow
def test_a_folder_of_any_depth_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one whose path is longer than the system takes."""
    folder = tmp_path / "deep"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for _ in range(1500):
        os.mkdir("deep")
        os.chdir("deep")
    os.chdir(tmp_path)
    remove_tree(folder)
    assert not folder.exists()


def test_removing_and_renewing_touch_nothing_behind_a_link_and_open_no_pipe(tmp_path: Path) -> None:
    """Whatever a stranger has put there in place of a folder; modes stay as they are."""
    other = tmp_path / "other"
    other.mkdir(mode=0o750)
    (other / "file").touch(mode=0o640)
    (tmp_path / "link").symlink_to(other)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "link").symlink_to(other)
    os.mkfifo(tmp_path / "folder" / "pipe")
    for name in ("link", "pipe", "folder", "missing"):
        remove_tree(tmp_path / name)
    assert [*tmp_path.iterdir()] == [other]
    assert stat.S_IMODE(other.stat().st_mode) == 0o750
    assert stat.S_IMODE((other / "file").stat().st_mode) == 0o640
    strange = tmp_path / "strange"
    strange.mkdir(0o755)
    (strange / "file").touch()
    folder = tmp_path / "worker" / "bot"
    for spoil in (
        lambda: None,
        lambda: folder.rmdir(),
        lambda: (folder.rmdir(), folder.symlink_to(strange)),
        lambda: (folder / "link").symlink_to(strange),
        lambda: (folder.rmdir(), folder.touch()),
    ):
        spoil()
        empty_folder(folder)
        assert folder.is_dir()
        assert not folder.is_symlink()
        assert list(folder.iterdir()) == []
    assert (strange / "file").exists()
    assert strange.stat().st_mode & 0o777 == 0o755
