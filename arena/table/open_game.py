"""OpenGame: a game that goes on in a thread of its own, whoever looks at it."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from arena.errors import ArenaError
from arena.lanes.cleanup import remove_folder
from arena.table.news import News
from arena.table.player import Quit


class OpenGame(ABC):
    """A game whose bots have processes of their own; `folder` is a new one for them."""

    kind: str

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.news = News()
        self.leaving = threading.Event()
        self._interrupted = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    @abstractmethod
    def title(self) -> str:
        """Who plays whom."""

    @abstractmethod
    def play(self) -> dict[str, Any]:
        """Play the game, and return what is to be told at its end; raises Quit if it is left."""

    @abstractmethod
    def document(self, phase: str, **more: Any) -> dict[str, Any]:
        """Return what is to be told of the game as it is now."""

    @property
    def under_way(self) -> bool:
        """Whether the game has not ended."""
        return not self.news.latest.get("over")

    def start(self) -> None:
        """Begin the game."""
        self._thread.start()

    def leave(self) -> None:
        """End the game soon, also in the middle of a bot's thought."""
        self.leaving.set()

    def join(self, seconds: float) -> None:
        """Wait for the game's end, but not longer than so many seconds."""
        self._thread.join(seconds)

    def look_up(self) -> None:
        """Raise Quit if the game is to be left; called again and again while a bot thinks.

        It is raised once: what cleans up after a bot's process calls this, too.
        """
        if self.leaving.is_set() and not self._interrupted:
            self._interrupted = True
            raise Quit

    def _run(self) -> None:
        try:
            ending = self.play()
        except Quit:
            ending = self.document("left")
        except ArenaError as error:  # the record cannot be written, say
            ending = self.document("failed", error=str(error))
        except BaseException:
            ending = self.document("failed", error="an error of the arena: see its terminal")
            raise
        finally:
            remove_folder(self.folder)
            self.news.publish(ending)
