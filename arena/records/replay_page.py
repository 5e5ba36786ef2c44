"""Render the replay of one game as an HTML page that works offline."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from arena.records.html_page import render
from arena.records.naming import Naming

SCRIPTS: Final = tuple(
    f"arena.records/{name}.js"
    for name in ("cards", "board", "actions", "knowledge", "swing", "viewer")
)
"""What binds `Arena.drawBoard` and `Arena.mountViewer`, in this order."""

STYLES: Final = ("arena.records/replay.css",)

_MARK = b'data-page="arena view"'
_MOST = 1 << 23  # bytes of a page that is looked at


def render_replay(timeline: dict[str, Any], names: Naming = "english") -> str:
    """Return the page of a game; `names` is what its cards are called at first."""
    return render(
        "arena.records/replay.html",
        scripts=[*SCRIPTS, "arena.records/mount.js"],
        styles=STYLES,
        title="{} - {}".format(*timeline["players"]),
        timeline=timeline,
        names=names,
    )


def is_replay(path: Path) -> bool:
    """Return whether a file is the page of a replay."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return _MARK in file.read(_MOST)
