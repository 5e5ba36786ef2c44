"""What a jail shows: packages and libraries that a bot needs, in a root that is read before."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.entries.resolve import resolve
from arena.lanes import jail_root, libraries
from arena.lanes.jail_root import HOME, lay_out
from arena.lanes.launch import plan_launch
from arena.lanes.libraries import (
    find_libraries,
    find_opened,
    find_packages,
    folders_of,
    names_in,
    programs_of,
)
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


def test_what_lies_in_a_folder_in_memory_or_where_nothing_may_be_executed_is_bound(
    tmp_path: Path, system: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever its size; as on a folder of temporary files with the option noexec."""
    places = [system, system / "packages/one", system / "packages/six.py"]
    places[-1].touch()
    bound = lay_out(tmp_path / "root", places, [system / "link"], [system / "packages"])
    assert {path for path in bound if path.is_relative_to(system)} == {*places}
    monkeypatch.setattr(os, "ST_NOEXEC", os.statvfs(tmp_path).f_flag | 1)
    bound = lay_out(tmp_path / "other", [], [system / "link"])
    assert system / "program" in bound
    assert inside(tmp_path / "other", system / "program").read_text() == ""


def test_a_root_is_made_once(tmp_path: Path, system: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_all_files_of_a_folder_are_read_and_no_links(tmp_path: Path, read: list[str]) -> None:
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
def test_a_wrong_marker_costs_a_reading(
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
def test_a_jail_is_planned_when_all_it_shows_is_read(tmp_path: Path, read: list[str]) -> None:
    """Once in a run, and nothing where there is no jail."""
    for lane, of_python in (("process", 0), ("jail", 1), ("jail", 1)):
        plan_launch(resolve("uniform", lane=lane), Limits(), tmp_path / "bot").close()
        assert read.count(os.__file__) == of_python
    assert not any(name.endswith("/bin/sh") for name in read)


PROGRAMS = [path for name in ("sh", "sort", "node", "find") if (path := shutil.which(name))]


EXTRAS = ('extra; extra == "fast"', "other >= 2; python_version > '3' and extra == 'tests'")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a folder of packages: five that metadata describe, and one that they do not."""
    site = tmp_path / "site-packages"
    for name, parts, requires in (
        ("Big_Search", "search search.libs", ["tools.of-it >= 2", *EXTRAS]),
        ("tools_of_it", "tools tools.pth", ["district-noir-arena", 'other; extra == "fast"']),
        ("extra", "extra", []),
        ("district_noir_arena", "arena bots engine", ["other"]),
        ("other", "other", []),
    ):
        info = site / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        lines = [f"Name: {name}", *(f"Requires-Dist: {one}" for one in requires)]
        (info / "METADATA").write_text("\n".join([*lines, "", "Requires-Dist: other"]))
        paths = [*(f"{part}/x.py" for part in parts.split()), f"{info.name}/RECORD", "../../bin/x"]
        (info / "RECORD").write_text("".join(f"{path},sha256=x,1\n" for path in paths))
        for part in parts.split():
            (site / part).mkdir()
    (site / "unknown.py").touch()
    monkeypatch.setattr(libraries, "site_folders", lambda: [site])
    for kept in (libraries._modules, libraries._distributions):
        kept.cache_clear()
    yield site
    for kept in (libraries._modules, libraries._distributions):
        kept.cache_clear()


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("nothing", ""),
        ("other", "other other-1.0.dist-info"),
        (
            "search",
            "Big_Search-1.0.dist-info extra extra-1.0.dist-info search search.libs tools tools.pth"
            " tools_of_it-1.0.dist-info",
        ),
        ("engine", ""),
        ("libs", ""),
        ("unknown", "."),  # without metadata it may require anything, as in a Linux distribution
    ],
)
def test_a_package_brings_what_it_requires(site: Path, name: str, found: str) -> None:
    """Also for an extra, but not for its tests. The arena's own modules are shown in any case."""
    assert find_packages({name, "word"}) == {site / part for part in found.split()}


def test_packages_are_named_by_words_and_what_is_no_program_needs_nothing(tmp_path: Path) -> None:
    """A pickle begins with its modules; nor does one whose header is cut off, or leads away."""
    data = b"\x80\x04numpy.core" + bytes(1 << 16) + b"scipy"
    names = names_in({"bot.py": b"x" * (1 << 16) + b" import_module('pandas')", "w.pkl": data})
    assert {"pandas", "numpy", "import_module"} <= names
    assert "scipy" not in names
    (tmp_path / "text").write_text("hello")
    whole = Path(sys.executable).read_bytes()
    for size in (4, 20, 64, 100):
        (tmp_path / f"{size}.so").write_bytes(whole[:size])
    (tmp_path / "none.so").write_bytes(b"\x7fELF\x02\x01" + b"\xff" * 58)
    assert find_libraries([tmp_path, tmp_path / "text", tmp_path / "nothing"]) == set()
    assert any(path.name.startswith(("libc.", "ld-musl")) for path in find_opened())


@pytest.mark.skipif(shutil.which("ldd") is None, reason="this machine has no ldd")
@pytest.mark.parametrize("program", [*PROGRAMS, sys.executable])
def test_libraries_are_those_of_ldd(program: str) -> None:
    """Which starts the program's loader to find them."""
    done = subprocess.run(["ldd", program], capture_output=True, text=True, check=True)
    expected = {Path(path).resolve() for path in re.findall(r"(/\S+) \(0x", done.stdout)}
    assert {path.resolve() for path in find_libraries([Path(program)])} == expected


@pytest.mark.parametrize("secret", ["/etc/passwd", "/lib/../etc/passwd", "/proc/self/exe"])
def test_a_file_cannot_name_a_secret_as_its_loader(tmp_path: Path, secret: str) -> None:
    """What a bot's own program names is shown only if it is a library of the system."""
    program = Path(sys.executable)
    whole = program.read_bytes()
    name = re.findall(rb"/lib[^\0]*/ld-[^\0]+", whole)[0]
    bad = tmp_path / "bad"
    bad.write_bytes(whole.replace(name, secret.encode().ljust(len(name), b"\0")))
    assert secret.encode() in bad.read_bytes()
    found = find_libraries([bad])
    assert found
    assert found <= find_libraries([program])


def test_a_script_brings_the_programs_that_it_names_and_no_tools_folder(tmp_path: Path) -> None:
    """Through `env`, too; what is not of the system is not among them, and brings nothing."""
    script = tmp_path / "script"
    script.write_text("#!/usr/bin/env -S tac -r\n")
    script.chmod(0o755)
    names = {path.name for path in programs_of([str(script)])}
    assert {"env", "tac", "sh", "sed"} <= names
    assert "script" not in names
    assert [*folders_of(Path("/bin/sh"))] == []
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "zzz-1.2"
    program.touch()
    assert [*folders_of(program)] == []
