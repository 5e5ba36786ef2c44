"""A game at the table ends with a word for its page, also where the arena itself has failed."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from arena.addons.table.open_game import News, OpenGame
from arena.errors import InputError


class Failing(OpenGame):
    """Fails as it begins."""

    kind = "failing"
    title = "nobody"

    def __init__(self, folder: Path, error: Exception) -> None:
        super().__init__(folder)
        self.error = error

    def play(self) -> dict[str, Any]:
        """Fail."""
        raise self.error

    def document(self, phase: str, **more: Any) -> dict[str, Any]:
        """Return the phase and the rest."""
        return {"phase": phase, "over": True, **more}


@pytest.mark.parametrize(
    ("error", "message", "printed"),
    [
        (InputError("no room for the record"), "no room for the record", 0),
        (ZeroDivisionError("by 0"), "an error of the arena: see its terminal", 1),
    ],
)
def test_a_game_that_fails_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, message: str, printed: int
) -> None:
    """Its page gets one line; what nobody has foreseen goes to the terminal, too."""
    hooked = list[Any]()
    monkeypatch.setattr(threading, "excepthook", hooked.append)
    game = Failing(tmp_path / "game", error)
    game.folder.mkdir()
    game.start()
    game.join(60)
    assert game.news.latest == {"phase": "failed", "over": True, "error": message}
    assert [args.exc_value for args in hooked] == [error] * printed
    assert not game.under_way
    assert not game.folder.exists()


def test_a_listener_that_has_missed_news_gets_the_frames_that_have_changed() -> None:
    """After a take back another action may have been made before it has heard of that."""

    async def listen() -> list[tuple[int, list[str]]]:
        news, heard = News(), []
        news.publish({"frames": [*"abc"], "over": False})
        async for document in news.follow():
            heard.append((document["from"], document["frames"]))
            if document["over"]:
                break
            news.publish({"frames": [*"a"], "over": False})
            news.publish({"frames": [*"axyz"], "over": True})
        return heard

    with ThreadPoolExecutor(1) as thread:  # in this one a browser of other tests may have its loop
        heard = thread.submit(asyncio.run, listen()).result()
    assert heard == [(0, [*"abc"]), (1, [*"xyz"])]
