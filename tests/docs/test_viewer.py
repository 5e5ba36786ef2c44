"""What docs/viewer.md says is true: its commands, and the keys of the page."""

from __future__ import annotations

from pathlib import Path

from arena.store.html_page import is_replay
from tests import ROOT, markdown

PAGE = (ROOT / "docs" / "viewer.md").read_text()


def the_pages_have_the_names_of_the_page(_: markdown.Ran, folder: Path) -> None:
    """All of them, and no other."""
    names = {path.name for path in folder.iterdir() if path.is_file() and is_replay(path)}
    assert names == {
        "champion-greedy-1-0.html",
        "champion-greedy-1-0-seat-1.html",
        "second.html",
        "judged.html",
    }


def test_every_function_of_the_page_is_there() -> None:
    """The scripts bind what the table names."""
    board, viewer = (
        next((ROOT / "arena").rglob(name)).read_text() for name in ("board.js", "viewer.js")
    )
    assert "drawBoard" in board
    assert "Arena.mountViewer =" in viewer
    for key in ("players", "perspective", "names", "onAction"):
        assert key in board
