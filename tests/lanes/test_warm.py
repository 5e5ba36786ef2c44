"""What jails show is in the page cache before the first game."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from arena.entries.resolve import resolve
from arena.executors.local import open_crew
from arena.executors.log import run_log
from arena.lanes import launch
from arena.lanes.jail import Shown
from arena.tournament.plan import Plan
from arena.tournament.strikes import Strikes
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.lanes.telling import forget

PAGE = 4096


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the marker a folder of its own, and let no earlier test have read anything."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    monkeypatch.setattr(launch, "_kept", "")
    return folder / "district-noir-arena"


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list of the paths that the kernel is asked to read."""
    asked: list[str] = []

    def advise(descriptor: int, _first: int, _length: int, advice: int) -> None:
        assert advice == os.POSIX_FADV_WILLNEED
        asked.append(os.readlink(f"/proc/self/fd/{descriptor}"))

    monkeypatch.setattr(os, "posix_fadvise", advise)
    return asked


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the only file that jails show."""
    file = tmp_path / "table.bin"
    file.write_bytes(bytes(10))
    monkeypatch.setattr(launch, "readable", lambda *_: Shown([file], []))
    return file


def is_read_by_warming(file: Path) -> bool:
    """Return whether all pages of a file are there after it was forgotten and warmed."""
    forget(str(file))
    launch.warm(file)
    with file.open("rb") as opened:
        places = range(0, file.stat().st_size, PAGE)
        return all(is_there(opened.fileno(), place) for place in places)


def is_there(descriptor: int, place: int) -> bool:
    """Return whether a byte of a file can be read without waiting for a disk."""
    try:
        return os.preadv(descriptor, [bytearray(1)], place, os.RWF_NOWAIT) == 1
    except BlockingIOError:
        return False


def warm_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Warm the jail of a bot, as the first one of a program."""
    monkeypatch.setattr(launch, "_kept", "")
    launch.warm_jails([resolve("uniform", lane="jail")])


def test_all_files_of_a_folder_are_read_and_links_lead_nowhere(
    tmp_path: Path, read: list[str]
) -> None:
    """Pipes are not opened, and a folder that is covered in the jail is left out."""
    folder, outside = tmp_path / "bot", tmp_path / "outside"
    (folder / "deep").mkdir(parents=True)
    (folder / "hidden").mkdir()
    for file in (folder / "a", folder / "deep" / "b", folder / "hidden" / "c", outside):
        file.write_text("x")
    (folder / "link").symlink_to(outside)
    os.mkfifo(folder / "pipe")
    launch.warm(folder, [str(folder / "hidden")])
    assert read == [str(folder / "a"), str(folder / "deep" / "b")]


def test_no_more_than_so_many_bytes_are_read(
    tmp_path: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a config names with `needs:` may be larger than the memory."""
    monkeypatch.setattr(launch, "MOST", 5)
    for name in "abc":
        (tmp_path / name).write_text("xxx")
    launch.warm(tmp_path)
    assert read == [str(tmp_path / "a")]


@pytest.mark.slow
def test_what_is_warm_has_been_read(tmp_path: Path) -> None:
    """A file that is asked for alone is not there yet: three of four pages of this one were not.

    The kernel of a busy machine may drop a page again, so it is tried three times from nothing.
    """
    file = tmp_path / "table.bin"
    with file.open("wb") as written:
        written.write(bytes(64 << 20))
        os.fsync(written.fileno())
    assert any(is_read_by_warming(file) for _ in range(3))


def test_a_path_is_read_once_after_each_start_of_the_machine(
    shown: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not again by a later program; again if it has changed, and after another start."""
    for _ in range(2):
        warm_program(monkeypatch)
        assert read == [str(shown)]
    os.utime(shown, (1, 1))
    warm_program(monkeypatch)
    assert len(read) == 2
    monkeypatch.setattr(launch, "_examine_pages", lambda: ("another start 0", 0, 9))
    for _ in range(2):
        warm_program(monkeypatch)
        assert len(read) == 3


def test_what_the_kernel_may_have_dropped_is_read_again(
    shown: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It drops the pages first that were read least recently."""
    for dropped, times in ((0, 1), (8, 1), (9, 2), (17, 2), (18, 3)):
        found = ("start 0", dropped, dropped + 9)
        monkeypatch.setattr(launch, "_examine_pages", lambda found=found: found)
        warm_program(monkeypatch)
        assert read == times * [str(shown)]


@pytest.mark.usefixtures("shown")
@pytest.mark.parametrize("spoil", ["garbage", "folder", "link", "writable", "large"])
def test_a_marker_that_is_wrong_or_not_ones_own_costs_a_reading(
    read: list[str], cache: Path, monkeypatch: pytest.MonkeyPatch, spoil: str
) -> None:
    """And a link is not followed: nothing is written to where it leads."""
    warm_program(monkeypatch)
    marker, other = cache / "warmed", cache.parent / "other"
    if spoil in ("garbage", "large"):
        marker.write_bytes(
            {"garbage": b"\xff\n", "large": marker.read_bytes() + bytes(2 << 20)}[spoil]
        )
    elif spoil == "folder":
        marker.unlink()
        marker.mkdir()
    elif spoil == "link":
        cache.rename(other)
        cache.symlink_to(other)
    else:
        cache.chmod(0o777)
    before = (other / "warmed").stat() if spoil == "link" else None
    warm_program(monkeypatch)
    assert len(read) == 2
    assert before is None or (other / "warmed").stat() == before


def test_a_program_that_cannot_keep_a_marker_reads_once(
    shown: Path, read: list[str], cache: Path
) -> None:
    """A league plays round after round."""
    cache.touch()
    for _ in range(2):
        launch.warm_jails([resolve("uniform", lane="jail")])
    assert read == [str(shown)]


def test_a_crew_begins_when_all_that_its_jails_show_has_been_asked_for(
    tmp_path: Path, shown: Path, read: list[str]
) -> None:
    """And nothing where there is no jail."""
    for lane, files in (("inproc", []), ("jail", [str(shown)])):
        bots = [resolve("uniform"), resolve("greedy", lane=lane)]
        tournament = Tournament("warm", 1, 1, bots, STANDARD)
        plan = Plan([], Strikes(tournament.pairings, 1, most=1))
        with run_log(tmp_path / "log") as log, open_crew(1, plan, tournament, log):
            assert [file for file in read if not file.endswith("log")] == files
