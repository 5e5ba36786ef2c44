"""What a program needs is found by its header, and by what is called like it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.lanes import libraries
from arena.lanes.libraries import (
    find_libraries,
    find_opened,
    find_packages,
    folders_of,
    names_in,
    programs_of,
)

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


def test_packages_are_named_by_any_word_of_a_source_and_by_the_first_ones_of_data() -> None:
    """A pickle begins with the modules that it needs, and weights may be large."""
    data = b"\x80\x04numpy.core" + bytes(1 << 16) + b"scipy"
    names = names_in({"bot.py": b"x" * (1 << 16) + b" import_module('pandas')", "w.pkl": data})
    assert {"pandas", "numpy", "import_module"} <= names
    assert "scipy" not in names


@pytest.mark.skipif(shutil.which("ldd") is None, reason="this machine has no ldd")
@pytest.mark.parametrize("program", [*PROGRAMS, sys.executable])
def test_libraries_are_those_of_ldd(program: str) -> None:
    """Which starts the program's loader to find them."""
    done = subprocess.run(["ldd", program], capture_output=True, text=True, check=True)
    expected = {Path(path).resolve() for path in re.findall(r"(/\S+) \(0x", done.stdout)}
    assert {path.resolve() for path in find_libraries([Path(program)])} == expected


def test_what_is_no_program_needs_nothing(tmp_path: Path) -> None:
    """Nor does one whose header is cut off, or leads out of the file."""
    (tmp_path / "text").write_text("hello")
    whole = Path(sys.executable).read_bytes()
    for size in (4, 20, 64, 100):
        (tmp_path / f"{size}.so").write_bytes(whole[:size])
    (tmp_path / "none.so").write_bytes(b"\x7fELF\x02\x01" + b"\xff" * 58)
    assert find_libraries([tmp_path, tmp_path / "text", tmp_path / "nothing"]) == set()


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


def test_the_library_of_c_is_there() -> None:
    """With what programs open while they run."""
    assert any(path.name.startswith(("libc.", "ld-musl")) for path in find_opened())


def test_a_script_brings_the_programs_that_it_names_first(tmp_path: Path) -> None:
    """Through `env`, too; what is not of the system is not among them."""
    script = tmp_path / "script"
    script.write_text("#!/usr/bin/env -S tac -r\n")
    script.chmod(0o755)
    names = {path.name for path in programs_of([str(script)])}
    assert {"env", "tac", "sh", "sed"} <= names
    assert "script" not in names


def test_folders_are_called_like_the_program(tmp_path: Path) -> None:
    """A tool has none; a program outside of the system brings nothing."""
    assert [*folders_of(Path("/bin/sh"))] == []
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "zzz-1.2"
    program.touch()
    assert [*folders_of(program)] == []
