"""The root of jails has copies of small files, the same links, and places for the rest."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from arena.lanes import jail_root
from arena.lanes.jail_root import HOME, lay_out


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


def test_a_root_is_made_once_and_whole(tmp_path: Path, system: Path) -> None:
    """What a killed process has left is made anew; what is there is not touched."""
    made = tmp_path / "root"
    (tmp_path / "root.part" / "half").mkdir(parents=True)
    bound = lay_out(made, [], [system / "program"])
    assert not (made / "half").exists()
    inside(made, system / "program").write_text("kept")
    assert lay_out(made, [], [system / "program"]) == bound
    assert inside(made, system / "program").read_text() == "kept"
    assert HOME == "/tmp"
