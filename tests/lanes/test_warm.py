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
