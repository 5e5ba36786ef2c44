"""Run the games of a web page in threads, and stream their events to any number of listeners."""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import suppress
from itertools import count, takewhile
from pathlib import Path
from typing import Any, Final, TypeVar

from arena.addons.table.player import Quit, Suspend
from arena.errors import ArenaError, InputError
from arena.lanes.cleanup import remove_folder

MOST_OPEN: Final = 8
"""The most games under way at once: each has one or two processes of bots."""

_MOST_KEPT = 32
_PATIENCE = 5.0  # seconds to wait for a game's end


class News:
    """A changing document; each listener gets the present version and all later ones.

    A listener gets only the `frames` that it does not have yet: `from` is the number of unchanged
    ones before them. A document with `over` is the last one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._document: dict[str, Any] | None = None
        self._listeners: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}

    @property
    def latest(self) -> dict[str, Any]:
        """The present document."""
        return self._document or {}

    def publish(self, document: dict[str, Any]) -> None:
        """Replace the document, and wake the listeners."""
        with self._lock:
            self._document = document
            listeners = [*self._listeners.items()]
        for event, loop in listeners:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(event.set)

    async def follow(self) -> AsyncIterator[dict[str, Any]]:
        """Yield the document now and after each change, until it is over."""
        changed = asyncio.Event()
        with self._lock:
            self._listeners[changed] = asyncio.get_running_loop()
        told: dict[str, Any] | None = None
        sent: list[Any] = []
        try:
            while not (told and told["over"]):
                changed.clear()
                latest = self._document
                if latest is told or latest is None:
                    await changed.wait()
                    continue
                told = latest
                frames = told["frames"]
                same = _count_alike(sent, frames)
                yield {**told, "from": same, "frames": frames[same:]}
                sent = frames
        finally:
            with self._lock:
                del self._listeners[changed]


def _count_alike(before: list[Any], after: list[Any]) -> int:
    """Return the number of equal frames at the beginning of two lists."""
    alike = (one == other for one, other in zip(before, after, strict=False))
    return sum(takewhile(bool, alike))


class OpenGame(ABC):
    """A game whose bots run in processes of their own; `folder` is a new folder for them."""

    kind: str

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.news = News()
        self.leaving = threading.Event()
        self._reason = Quit()
        self._interrupted = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    @abstractmethod
    def title(self) -> str:
        """The names of both players, as a title."""

    @abstractmethod
    def play(self) -> dict[str, Any]:
        """Play the game, and return the final document; raises Quit if the game is left."""

    @abstractmethod
    def document(self, phase: str, **more: Any) -> dict[str, Any]:
        """Return the document that describes the game at present."""

    @property
    def under_way(self) -> bool:
        """Whether the game has not ended yet."""
        return not self.news.latest.get("over")

    def start(self) -> None:
        """Begin the game."""
        self._thread.start()

    def leave(self, reason: Quit | None = None) -> None:
        """End the game soon, even while a bot is thinking; with Suspend, it can be resumed."""
        self._reason = reason or self._reason
        self.leaving.set()

    def join(self, seconds: float) -> None:
        """Wait for the game's end, but at most this many seconds."""
        self._thread.join(seconds)

    def look_up(self) -> None:
        """Raise the reason if the game is to be left; this is called repeatedly while a bot thinks.

        It is raised only once, because cleaning up after a bot's process calls this, too.
        """
        if self.leaving.is_set() and not self._interrupted:
            self._interrupted = True
            raise self._reason

    def _run(self) -> None:
        try:
            ending = self.play()
        except Quit:
            ending = self.document("left")
        except ArenaError as error:  # for example, the record cannot be written
            ending = self.document("failed", error=str(error))
        except BaseException:
            ending = self.document("failed", error="an error of the arena: see its terminal")
            raise
        finally:
            remove_folder(self.folder)
            self.news.publish(ending)


AnyGame = TypeVar("AnyGame", bound=OpenGame)


class Hall:
    """The games of a server by id ("1" and so on); `folder` holds the folders of their bots."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._games: dict[str, OpenGame] = {}
        self._numbers = count(1)

    def new_folder(self) -> Path:
        """Return a new folder for the bots of a game."""
        folder = self.folder / f"game-{next(self._numbers)}"
        folder.mkdir()
        return folder

    def open(self, game: OpenGame) -> str:
        """Start a game, and return its id; the oldest ended game may be removed.

        Raises InputError if too many games are under way.
        """
        with self._lock:
            self.check_room()
            ended = [number for number, other in self._games.items() if not other.under_way]
            if len(self._games) >= _MOST_KEPT and ended:
                del self._games[ended[0]]
            number = str(next(self._numbers))
            self._games[number] = game
            game.start()
        return number

    def check_room(self) -> None:
        """Raise InputError if too many games are under way."""
        games = [*self._games.values()]  # another thread may open one meanwhile
        if sum(game.under_way for game in games) >= MOST_OPEN:
            raise InputError(f"{MOST_OPEN} games are under way; leave one of them first")

    def find(self, number: str, kind: type[AnyGame]) -> AnyGame:
        """Return the game with an id; raises LookupError if no game of this kind has it."""
        game = self._games.get(number)
        if not isinstance(game, kind):
            raise LookupError(number)
        return game

    def listing(self) -> list[dict[str, str]]:
        """Return the open games as data, the newest first."""
        games = [*self._games.items()]
        return [
            {
                "id": number,
                "kind": game.kind,
                "title": game.title,
                "phase": game.news.latest.get("phase", "begins"),
            }
            for number, game in reversed(games)
        ]

    def close(self) -> None:
        """Leave all games, and wait for their ends; games of persons can be resumed later."""
        games = [*self._games.values()]
        for game in games:
            game.leave(Suspend())
        for game in games:
            game.join(_PATIENCE)
