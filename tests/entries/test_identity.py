"""A bot's identity covers the bots that it builds on."""

from __future__ import annotations

import hashlib
import os
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from arena.addons.cluster.call import find_here, hash_imports
from arena.entries.identity import hash_package, hash_source
from arena.entries.resolve import resolve
from arena.errors import InputError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of three bots: `top` builds on `middle`, and `middle` on `base`."""
    (tmp_path / "base.py").write_text("bot = 1")
    (tmp_path / "middle.py").write_text("from bots.base import bot")
    (tmp_path / "top.py").write_text("import bots.middle\nfrom bots import middle")
    return tmp_path


def test_a_bot_that_builds_on_no_other_is_its_source(folder: Path) -> None:
    """The hash is the file's SHA-256."""
    source = (
        b"from engine import TAKE\nimport bots\nfrom . import base\nimport arena.batch.beliefs\n"
    )
    assert hash_source(source, folder) == hashlib.sha256(source).hexdigest()


@pytest.mark.parametrize("name", ["middle", "top"])
def test_an_edit_changes_all_bots_that_build_on_it(folder: Path, name: str) -> None:
    """Directly or through another bot, in each way of importing."""
    source = (folder / f"{name}.py").read_bytes()
    before = hash_source(source, folder)
    (folder / "base.py").write_text("bot = 2")
    assert hash_source(source, folder) != before


def test_bots_that_import_each_other_have_a_hash(folder: Path) -> None:
    """Each bot of a cycle is hashed once."""
    (folder / "base.py").write_text("import bots.top")
    assert len(hash_source(b"import bots.top", folder)) == 64


@pytest.mark.parametrize("source", [b"import bots.nobody", b"not python (", b"\0", b"\xff"])
def test_a_source_that_cannot_be_read_builds_on_nothing(folder: Path, source: bytes) -> None:
    """Such a bot fails later, when it is imported."""
    assert hash_source(source, folder) == hashlib.sha256(source).hexdigest()


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


@pytest.mark.parametrize(
    "name", ["__init__.py", "low/__init__.py", "low/mine.py", "high/other.py", "high/weights.npz"]
)
def test_an_edit_of_any_file_of_a_package_is_another_bot(package: Path, name: str) -> None:
    """Of a module or of data, wherever it lies in the outermost package, of the same size too."""
    before = identity()
    (package / name).write_text("edited!")
    assert identity() != before


def test_a_file_that_is_added_renamed_or_hidden_is_seen(package: Path) -> None:
    """What Python keeps in `__pycache__`, and what lies beside the package, is not."""
    seen = {identity()}
    for name in ("high/new.npz", ".hidden", "low/data"):
        (package / name).write_text("new")
        seen.add(identity())
    (package / "low" / "data").rename(package / "low" / "date")
    seen.add(identity())
    assert len(seen) == 5
    (package / "low" / "__pycache__").mkdir()
    (package / "low" / "__pycache__" / "mine.pyc").write_text("x")
    (package.parent / "beside.py").write_text("x")
    assert identity() in seen


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


def test_an_edit_of_a_bot_that_a_package_imports_is_seen(
    package: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In any module of the package."""
    (package / "high" / "other.py").write_text("from bots.base import bot")
    monkeypatch.setattr("arena.entries.resolve.BOTS", folder)
    before = identity()
    (folder / "base.py").write_text("bot = 2")
    assert identity() != before


def test_a_package_that_cannot_be_hashed_is_refused(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the name of what is in the way: a pipe, a link to nowhere, a run, too much."""
    os.mkfifo(package / "pipe")
    with pytest.raises(InputError, match=r"their_pack/pipe: not a regular file"):
        identity()
    (package / "pipe").unlink()
    (package / "link").symlink_to("/nowhere")
    with pytest.raises(InputError, match=r"their_pack/link: No such file"):
        identity()
    (package / "link").unlink()
    (package / "run.sqlite").touch()
    with pytest.raises(InputError, match=r"run\.sqlite: a run"):
        identity()
    (package / "run.sqlite").unlink()
    with (package / "huge").open("wb") as file:
        file.truncate((1 << 30) + 1)
    with pytest.raises(InputError, match=r"their_pack: larger than 1,073,741,824 bytes"):
        identity()
    monkeypatch.setattr("arena.entries.file.MOST_INSTALLED", 3)
    with pytest.raises(InputError, match="more than 3 files and folders"):
        identity()


def test_a_package_may_be_as_large_as_it_is_said(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A byte more is too much."""
    total = sum(path.stat().st_size for path in package.rglob("*") if path.is_file())
    monkeypatch.setattr("arena.entries.identity.MOST_PROGRAM", total)
    assert len(hash_package(package, package.parent)) == 64
    monkeypatch.setattr("arena.entries.identity.MOST_PROGRAM", total - 1)
    with pytest.raises(InputError, match="their_pack: larger than"):
        hash_package(package, package.parent)


@pytest.mark.slow
@pytest.mark.parametrize("imports", ["0" * 64, "", "f" * 64])
def test_a_bot_that_imports_other_bots_elsewhere_is_refused(folder: Path, imports: str) -> None:
    """The message has both, as seen from elsewhere; one that imports the same is played."""
    entry = resolve(str(folder / "top.py"))
    assert find_here(entry, hash_imports(entry)) == entry
    ours = hash_imports(entry)[:12]
    with pytest.raises(InputError, match=f"it imports: there {ours}, here {imports[:12]}$"):
        find_here(entry, imports)
