"""Page: the replay of one game as one HTML file that works offline."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any, Final

from arena.pages.page import render
from arena.records.naming import Naming

SCRIPTS: Final = tuple(
    f"arena.replays/{name}.js"
    for name in ("cards", "board", "actions", "knowledge", "swing", "viewer")
)
"""What binds `Arena.drawBoard` and `Arena.mountViewer`, in this order."""

STYLES: Final = ("arena.replays/replay.css",)

_MARK = b'data-page="arena view"'
_MOST = 1 << 23  # bytes of a page that is looked at


def render_replay(timeline: dict[str, Any], names: Naming = "english") -> str:
    """Return the page of a game; `names` is what its cards are called at first."""
    return render(
        "arena.replays/replay.html",
        scripts=[*SCRIPTS, "arena.replays/mount.js"],
        styles=STYLES,
        title="{} - {}".format(*timeline["players"]),
        timeline=timeline,
        names=names,
    )


def frame(page: str) -> str:
    """Return a page as an element of another page, which it can neither read nor change.

    >>> print(frame('<p class="a">'))
    <iframe title="Replay" sandbox="allow-scripts" style="width:100%;height:56rem;border:0" \
srcdoc="&lt;p class=&quot;a&quot;&gt;"></iframe>
    """
    style = "width:100%;height:56rem;border:0"
    return (
        f'<iframe title="Replay" sandbox="allow-scripts" style="{style}" '
        f'srcdoc="{escape(page)}"></iframe>'
    )


def is_replay(path: Path) -> bool:
    """Return whether a file is the page of a replay."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return _MARK in file.read(_MOST)
