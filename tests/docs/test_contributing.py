"""CONTRIBUTING.md speaks only of modules that exist."""

from __future__ import annotations

import re

from tests import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FOLDERS = ("arena", "engine", "bots", "tests", "bench", "docs")


def test_files_it_names_exist() -> None:
    """`room/module.py` is looked for at the top, in `arena/`, and anywhere by its last part."""
    named = set(re.findall(r"`([\w/.]+\.py)`", TEXT))
    files = {str(path.relative_to(ROOT)) for top in FOLDERS for path in (ROOT / top).rglob("*.py")}
    assert len(named) > 10
    assert not {one for one in named if not any(f"/{file}".endswith(f"/{one}") for file in files)}


def test_modules_it_names_exist() -> None:
    """`room.module` is a module of a room."""
    rooms = {path.parent.name for path in (ROOT / "arena").glob("*/__init__.py")}
    named = re.findall(r"(?<![\w./])([a-z]+)\.([a-z_]+)\b(?!\.md)", TEXT)
    named = {(room, name) for room, name in named if room in rooms}
    assert len(named) > 5
    missing = {one for one in named if not (ROOT / "arena" / one[0] / f"{one[1]}.py").exists()}
    assert missing <= {("games", "csv"), ("games", "parquet")}, missing
