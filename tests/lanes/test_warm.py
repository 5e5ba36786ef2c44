"""What jails show is in the page cache before the first game."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from arena.entries.resolve import resolve
from arena.lanes import jail_root
from arena.lanes.launch import plan_launch
from arena.lanes.limits import Limits
from tests.runs.test_rogues import needs_jail


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the marker a folder of its own, and let no earlier test have read anything."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    monkeypatch.setattr(jail_root, "_kept", "")
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
def shown(tmp_path: Path) -> Path:
    """Return the only file that jails show."""
    file = tmp_path / "table.bin"
    file.write_bytes(bytes(10))
    return file


def warm_program(shown: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Warm what jails show, as the first one of a program."""
    monkeypatch.setattr(jail_root, "_kept", "")
    jail_root.warm([shown])


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
    jail_root.read_all(folder, [str(folder / "hidden")])
    assert read == [str(folder / "a"), str(folder / "deep" / "b")]


def test_a_path_is_read_once_after_each_start_of_the_machine(
    shown: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not again by a later program; again if it has changed, and after another start."""
    for _ in range(2):
        warm_program(shown, monkeypatch)
        assert read == [str(shown)]
    os.utime(shown, (1, 1))
    warm_program(shown, monkeypatch)
    assert len(read) == 2
    monkeypatch.setattr(jail_root, "_examine_pages", lambda: ("another start 0", 0, 9))
    for _ in range(2):
        warm_program(shown, monkeypatch)
        assert len(read) == 3


@pytest.mark.parametrize("spoil", ["garbage", "folder", "link", "writable", "large"])
def test_a_marker_that_is_wrong_or_not_ones_own_costs_a_reading(
    shown: Path, read: list[str], cache: Path, monkeypatch: pytest.MonkeyPatch, spoil: str
) -> None:
    """And a link is not followed: nothing is written to where it leads."""
    warm_program(shown, monkeypatch)
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
    warm_program(shown, monkeypatch)
    assert len(read) == 2
    assert before is None or (other / "warmed").stat() == before


@needs_jail
def test_a_jail_is_planned_when_all_that_it_shows_is_read_or_copied(
    tmp_path: Path, read: list[str]
) -> None:
    """Once in a run, and nothing where there is no jail."""
    for lane, of_python in (("process", 0), ("jail", 1), ("jail", 1)):
        plan_launch(resolve("uniform", lane=lane), Limits(), tmp_path / "bot").close()
        assert read.count(os.__file__) == of_python
    assert not any(name.endswith("/bin/sh") for name in read)
