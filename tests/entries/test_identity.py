"""A bot's identity covers the bots that it builds on."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from arena.entries.identity import hash_source


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of three bots: `top` builds on `middle`, and `middle` on `base`."""
    (tmp_path / "base.py").write_text("bot = 1")
    (tmp_path / "middle.py").write_text("from bots.base import bot")
    (tmp_path / "top.py").write_text("import bots.middle\nfrom bots import middle")
    return tmp_path


def test_a_bot_that_builds_on_no_other_is_its_source(folder: Path) -> None:
    """The hash is the file's SHA-256."""
    source = b"from engine import TAKE\nimport bots\nfrom . import base\n"
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
