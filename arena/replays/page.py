"""Page: the replay of one game as one HTML file that works offline."""

from __future__ import annotations

from typing import Any, Final

from arena.pages.page import render
from arena.records.naming import Naming

SCRIPTS: Final = tuple(
    f"arena.replays/{name}.js"
    for name in ("cards", "board", "actions", "knowledge", "swing", "viewer")
)
"""What binds `Arena.drawBoard` and `Arena.mountViewer`, in this order."""

STYLES: Final = ("arena.replays/replay.css",)

MARK: Final = 'data-page="arena view"'
"""What the page of a replay has in it."""


def render_replay(timeline: dict[str, Any], names: Naming = "english") -> str:
    """Return the page of a game; `names` is what its cards are called at first."""
    return render(
        "arena.replays/replay.html",
        scripts=[*SCRIPTS, "arena.replays/mount.js"],
        styles=STYLES,
        title=timeline["title"],
        timeline=timeline,
        names=names,
    )
