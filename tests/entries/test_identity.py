"""A bot's identity covers the bots that it builds on."""

from __future__ import annotations

import hashlib
import os
import shutil
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from arena.entries.file import MOST_SOURCE
from arena.entries.identity import find_imports, hash_source
from arena.entries.resolve import resolve, summarize
from arena.errors import InputError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of three bots: `top` builds on `middle`, and `middle` on `base`."""
    (tmp_path / "base.py").write_text("bot = 1")
    (tmp_path / "middle.py").write_text("from bots.base import bot")
    (tmp_path / "top.py").write_text("import bots.middle\nfrom bots import middle")
    return tmp_path


@pytest.mark.parametrize(
    "source",
    [
        b"from engine import TAKE\nimport bots\nfrom . import base\nimport arena.batch.beliefs\n",
        *(b"import bots.nobody", b"not python (", b"\0", b"\xff"),
    ],
)
def test_a_bot_that_builds_on_no_other_is_its_source(folder: Path, source: bytes) -> None:
    """The hash is the file's SHA-256, also where no module can be read."""
    assert hash_source(source, folder) == hashlib.sha256(source).hexdigest()


@pytest.mark.parametrize("name", ["middle", "top"])
def test_an_edit_changes_all_bots_that_build_on_it(folder: Path, name: str) -> None:
    """Directly or through another bot, in each way of importing; in a circle each counts once."""
    source = (folder / f"{name}.py").read_bytes()
    before = hash_source(source, folder)
    (folder / "base.py").write_text("import bots.top")
    assert hash_source(source, folder) != before


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a package with weights in a package below it, whose bot is `their_pack.low.mine`."""
    package = tmp_path / "their_pack"
    (package / "low").mkdir(parents=True)
    (package / "high").mkdir()
    for name in ("__init__.py", "low/__init__.py", "high/other.py"):
        (package / name).write_text("")
    (package / "low" / "mine.py").write_text("bot = 1")
    (package / "high" / "weights.npz").write_text("weights")
    monkeypatch.chdir(tmp_path)
    return package


def identity(spec: str = "their_pack.low.mine") -> str:
    return resolve(spec).sha256


def test_any_change_of_a_package_is_another_bot(package: Path) -> None:
    """Of a module or of data, wherever it lies, of the same size too; no cache, and none beside."""
    seen = [identity()]
    for name in ("__init__.py", "low/__init__.py", "low/mine.py", "high/other.py"):
        (package / name).write_text("edited")
        seen.append(identity())
    for name in ("high/weights.npz", "high/new.npz", ".hidden", "low/data"):
        (package / name).write_text("edited!")
        seen.append(identity())
    (package / "low" / "data").rename(package / "low" / "date")
    seen.append(identity())
    assert len({*seen}) == len(seen)
    (package / "low" / "__pycache__").mkdir()
    (package / "low" / "__pycache__" / "mine.pyc").touch()
    (package.parent / "beside.py").touch()
    assert identity() == seen[-1]


def test_what_a_link_of_a_package_leads_to_is_seen(package: Path, tmp_path: Path) -> None:
    """Of a file and of a folder; a circle of folders is walked once."""
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "weights").write_text("1")
    (package / "file").symlink_to(tmp_path / "shared" / "weights")
    (package / "folder").symlink_to(tmp_path / "shared")
    (package / "circle").symlink_to("..")
    before = identity()
    (tmp_path / "shared" / "weights").write_text("2")
    assert identity() != before


def test_a_package_without_init_is_the_folder_of_its_module(package: Path) -> None:
    """What else lies around it may be another's: two packages can share a name's space."""
    (package / "__init__.py").unlink()
    (package / "low" / "__init__.py").unlink()
    before = identity()
    (package / "high" / "weights.npz").write_text("another's")
    assert identity() == before
    (package / "low" / "weights.npz").write_text("its own")
    assert identity() != before


def test_a_module_of_no_package_is_its_file(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with an entry point whose package is one module."""
    (package.parent / "their_module.py").write_text("bot = 1")
    offered = [EntryPoint("theirs", "their_module", "arena.bots")]
    monkeypatch.setattr("arena.entries.resolve.entry_points", lambda: offered)
    assert identity("theirs") == hashlib.sha256(b"bot = 1").hexdigest()
    offered[0] = EntryPoint("theirs", "their_pack", "arena.bots")
    before = identity("theirs")
    (package / "high" / "weights.npz").write_text("other")
    assert identity("theirs") != before


def test_an_edit_of_a_bot_that_others_import_is_seen(
    package: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In any module of a package, of a folder, and of a zip."""
    (package / "bot.py").touch()
    (package / "high" / "other.py").write_text("from bots.base import bot")
    monkeypatch.setattr("arena.entries.resolve.BOTS", folder)
    specs = ("their_pack.low.mine", "./their_pack/", shutil.make_archive("their", "zip", package))
    before = [identity(spec) for spec in specs]
    (folder / "base.py").write_text("bot = 2")
    assert not {*before} & {identity(spec) for spec in specs}


def test_a_package_that_cannot_be_hashed_is_refused(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the name of what is in the way, or the limit; it may be as large as that."""
    for name, make, reason in (
        ("pipe", os.mkfifo, "not a regular file"),
        ("link", lambda path: path.symlink_to("/nowhere"), "No such file"),
        ("run.sqlite", Path.touch, "a run"),
    ):
        make(package / name)
        with pytest.raises(InputError, match=f"{name}: {reason}"):
            identity()
        (package / name).unlink()
    total = sum(path.stat().st_size for path in package.rglob("*") if path.is_file())
    monkeypatch.setattr("arena.entries.identity.MOST_PROGRAM", total)
    assert len(identity()) == 64
    monkeypatch.setattr("arena.entries.identity.MOST_PROGRAM", total - 1)
    with pytest.raises(InputError, match="their_pack: larger than"):
        identity()
    monkeypatch.setattr("arena.entries.file.MOST_INSTALLED", 3)
    with pytest.raises(InputError, match="more than 3 files and folders"):
        identity()


DEEP = b'''"""\n\n  Plays.  \n\n  More."""
import os, bots.one
from . import bots
from bots import *
from bots.two.more import x
class A:
    async def f(self):
        try:
            with a:
                from bots import three, four
        except E: import bots.five
        else:
            from bots import (  # the last one
                six,
            )
def g(): import bots.nine as n, bots
'''


def test_all_imports_of_bots_are_found(tmp_path: Path) -> None:
    """Wherever they stand, and in a source that does not compile; a summary is a line."""
    (tmp_path / "deep.py").write_bytes(DEEP)
    assert summarize(tmp_path / "deep.py") == "Plays."
    found = {"one", "two", "three", "four", "five", "six", "nine"}
    assert find_imports(DEEP) >= found
    assert find_imports(DEEP) - found <= {"the", "last"}
    assert find_imports(b"x = (; from bots import greedy") == {"greedy"}
    assert find_imports(b"bots.greedy; import_module('bots.pimc')  # import bots.timing") == set()


def test_a_search_comes_to_its_end() -> None:
    """Whatever a stranger has written: it takes a time in proportion to the length."""
    for text in (b"from bots import (", b"import ", b"from bots import \\\n", b";", b"\t"):
        find_imports(text * (MOST_SOURCE // len(text)))
