"""A bot's identity covers what it builds on."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from arena.entries.identity import hash_source


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of three bots: `top` builds on `middle`, and that on `base`."""
    (tmp_path / "base.py").write_text("bot = 1")
    (tmp_path / "middle.py").write_text("from bots.base import bot")
    (tmp_path / "top.py").write_text("import bots.middle\nfrom bots import middle")
    return tmp_path


def test_a_bot_that_stands_alone_is_its_source(folder: Path) -> None:
    """The hash is that of the file, as any tool shows it."""
    source = b"from engine import TAKE\nimport bots\nfrom . import base\n"
    assert hash_source(source, folder) == hashlib.sha256(source).hexdigest()


@pytest.mark.parametrize("name", ["middle", "top"])
def test_an_edit_changes_all_that_build_on_it(folder: Path, name: str) -> None:
    """Directly or through another bot, in each way of importing."""
    source = (folder / f"{name}.py").read_bytes()
    before = hash_source(source, folder)
    (folder / "base.py").write_text("bot = 2")
    assert hash_source(source, folder) != before


def test_bots_that_import_each_other_come_to_an_end(folder: Path) -> None:
    """A cycle is hashed once around."""
    (folder / "base.py").write_text("import bots.top")
    assert len(hash_source(b"import bots.top", folder)) == 64


@pytest.mark.parametrize("source", [b"import bots.nobody", b"not python (", b"\0", b"\xff"])
def test_what_cannot_be_read_builds_on_nothing(folder: Path, source: bytes) -> None:
    """Such a bot fails when it is imported, and not here."""
    assert hash_source(source, folder) == hashlib.sha256(source).hexdigest()
