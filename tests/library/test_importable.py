"""A bot's process imports what is installed, and nothing that only this program can import."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

import pytest

from arena.library import closure
from arena.library.closure import find_import, is_installed


@pytest.fixture(autouse=True)
def _nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test asks for its own packages, and leaves this process as it was."""
    monkeypatch.setattr(closure, "_places", {})
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    before = {**sys.modules}
    yield
    for name in sys.modules.keys() - before:
        del sys.modules[name]
    sys.modules.update(before)


def write(folder: Path, *names: str) -> None:
    """Write modules that have a class each, and let this program import them first."""
    for name in names:
        path = folder / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("class Mine:\n    pass\n")
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()


class Everywhere:
    """Finds what is on the path, as the finder does that pytest puts before all others."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        del path, target
        return PathFinder.find_spec(name)


def test_a_finder_of_this_program_finds_nothing_for_a_bot(tmp_path: Path) -> None:
    """A module in the program's folder is not installed, whoever has found it."""
    write(tmp_path, "beside_the_program")
    sys.meta_path.insert(0, Everywhere)
    module = importlib.import_module("beside_the_program")
    assert not is_installed("beside_the_program")
    assert find_import(module.Mine) is None
    assert find_import(Path) == (Path.__module__, "Path")


def test_a_file_with_the_name_of_an_installed_module_is_not_that_module(tmp_path: Path) -> None:
    """A bot's process would import the module of Python."""
    write(tmp_path, "this")
    sys.modules.pop("this", None)
    module = importlib.import_module("this")
    assert module.__file__ == str(tmp_path / "this.py")
    assert not is_installed("this")
    assert find_import(module.Mine) is None


@pytest.mark.slow
def test_what_is_installed_for_editing_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through a line of a .pth file, which names a folder or brings a finder of its own."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "own"], check=True)
    (own,) = (tmp_path / "own").glob("lib/python*/site-packages")
    write(tmp_path / "source", "by_folder")
    write(tmp_path / "elsewhere", "by_finder")
    write(tmp_path / "program", "by_nobody", "spaces/in_program")
    (own / "spaces").mkdir()
    (own / "spaces" / "in_package.py").write_text("")
    sys.path.insert(0, str(own))
    (own / "by_folder.pth").write_text(f"{tmp_path / 'source'}\n")
    (own / "by_finder.pth").write_text("import finder_of_mine\n")
    (own / "finder_of_mine.py").write_text(
        "import sys\n"
        "from importlib.util import spec_from_file_location\n"
        "class Finder:\n"
        "    def find_spec(name, path=None, target=None):\n"
        "        if name == 'by_finder':\n"
        f"            return spec_from_file_location(name, {str(tmp_path)!r}"
        " + '/elsewhere/by_finder.py')\n"
        "sys.meta_path.append(Finder)\n"
    )
    monkeypatch.setattr(sys, "executable", str(tmp_path / "own" / "bin" / "python"))
    names = ["by_folder", "by_finder", "by_nobody", "spaces.in_package", "spaces.in_program"]
    for name in names:
        importlib.import_module(name)
    assert [is_installed(name) for name in names] == [True, True, False, True, False]
