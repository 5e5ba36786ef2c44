"""The root of jails: copies of small files, places for the rest; it is read before a game."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from arena.entries.resolve import resolve
from arena.lanes import jail_root
from arena.lanes.jail_root import HOME, lay_out
from arena.lanes.launch import plan_launch
from arena.lanes.limits import Limits
from tests.runs.test_rogues import needs_jail


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a program, a link to it, a large file and a folder of packages."""
    monkeypatch.setattr(jail_root, "HOME", "/private")
    monkeypatch.setattr(jail_root, "_MOUNTED", ("/proc",))
    folder = tmp_path / "system"
    (folder / "packages/one").mkdir(parents=True)
    (folder / "program").write_text("program")
    (folder / "program").chmod(0o4750)
    (folder / "link").symlink_to("program")
    (folder / "large").write_bytes(bytes((4 << 20) + 1))
    return folder


def inside(folder: Path, path: Path) -> Path:
    """Return the place of a path in a root folder."""
    return folder / path.relative_to("/")


def test_small_files_are_copied_and_the_rest_is_bound(tmp_path: Path, system: Path) -> None:
    """Links stay links, so a program finds its files from where one leads."""
    made = tmp_path / "root"
    before = os.umask(0o077)
    try:
        bound = lay_out(made, [system / "large", system / "packages"], [system / "link"])
    finally:
        os.umask(before)
    assert {path for path in bound if path.is_relative_to(system)} == {
        system / "large",
        system / "packages",
    }
    program, link = inside(made, system / "program"), inside(made, system / "link")
    assert (program.read_text(), os.readlink(link)) == ("program", "program")
    assert stat.S_IMODE(program.stat().st_mode) == 0o750
    assert program.stat().st_ino != (system / "program").stat().st_ino
    assert inside(made, system / "large").stat().st_size == 0
    assert [*inside(made, system / "packages").iterdir()] == []
    assert stat.S_IMODE(inside(made, system).stat().st_mode) == 0o755


def test_what_lies_in_a_folder_in_memory_is_bound(tmp_path: Path, system: Path) -> None:
    """Whatever its size: that folder is empty in each jail."""
    places = [system, system / "packages/one", system / "packages/six.py"]
    places[-1].touch()
    bound = lay_out(tmp_path / "root", places, [system / "link"], [system / "packages"])
    assert {path for path in bound if path.is_relative_to(system)} == {*places}


def test_where_nothing_may_be_executed_all_is_bound(
    tmp_path: Path, system: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a folder of temporary files with the option noexec."""
    monkeypatch.setattr(os, "ST_NOEXEC", os.statvfs(tmp_path).f_flag | 1)
    bound = lay_out(tmp_path / "root", [], [system / "link"])
    assert system / "program" in bound
    assert inside(tmp_path / "root", system / "program").read_text() == ""


def test_a_root_is_made_once_and_whole(
    tmp_path: Path, system: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if another bot's jail needs it at the same moment; what is there is not touched."""
    made, fill = tmp_path / "root", jail_root._fill

    def fill_while_another_does(*what: Any) -> None:
        monkeypatch.setattr(jail_root, "_fill", fill)
        lay_out(made, [], [system / "program"])
        fill(*what)

    monkeypatch.setattr(jail_root, "_fill", fill_while_another_does)
    bound = lay_out(made, [], [system / "program"])
    assert [*tmp_path.glob("root*")] == [made]
    assert inside(made, system / "program").read_text() == "program"
    inside(made, system / "program").write_text("kept")
    assert lay_out(made, [], [system / "program"]) == bound
    assert inside(made, system / "program").read_text() == "kept"
    assert HOME == "/tmp"


@pytest.fixture
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the marker a folder of its own."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder / "district-noir-arena"


@pytest.fixture
def read(cache: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:  # noqa: ARG001
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
        jail_root.warm([shown])
        assert read == [str(shown)]
    os.utime(shown, (1, 1))
    jail_root.warm([shown])
    assert len(read) == 2
    monkeypatch.setattr(jail_root, "_examine_pages", lambda: ("another start 0", 0, 9))
    for _ in range(2):
        jail_root.warm([shown])
        assert len(read) == 3


@pytest.mark.parametrize("spoil", ["garbage", "folder", "link", "writable", "large"])
def test_a_marker_that_is_wrong_or_not_ones_own_costs_a_reading(
    shown: Path, read: list[str], cache: Path, spoil: str
) -> None:
    """And a link is not followed: nothing is written to where it leads."""
    jail_root.warm([shown])
    marker, other = cache / "warmed", cache.parent / "other"
    content, before = marker.read_bytes(), marker.stat()
    if spoil == "garbage":
        marker.write_bytes(b"\xff\n")
    elif spoil == "large":
        marker.write_bytes(content + bytes(2 << 20))
    elif spoil == "folder":
        marker.unlink()
        marker.mkdir()
    elif spoil == "link":
        cache.rename(other)
        cache.symlink_to(other)
    else:
        cache.chmod(0o777)
    jail_root.warm([shown])
    assert len(read) == 2
    assert spoil != "link" or (other / "warmed").stat() == before


@needs_jail
def test_a_jail_is_planned_when_all_that_it_shows_is_read_or_copied(
    tmp_path: Path, read: list[str]
) -> None:
    """Once in a run, and nothing where there is no jail."""
    for lane, of_python in (("process", 0), ("jail", 1), ("jail", 1)):
        plan_launch(resolve("uniform", lane=lane), Limits(), tmp_path / "bot").close()
        assert read.count(os.__file__) == of_python
    assert not any(name.endswith("/bin/sh") for name in read)
