"""Hall: the games that are open, of which there are not too many."""

from __future__ import annotations

import threading
from itertools import count
from pathlib import Path
from typing import Final, TypeVar

from arena.errors import InputError
from arena.table.open_game import OpenGame

MOST_OPEN: Final = 8
"""Games under way at once: each has a process of a bot or two."""

_MOST_KEPT = 32
_PATIENCE = 5.0  # seconds for a game to end

AnyGame = TypeVar("AnyGame", bound=OpenGame)


class Hall:
    """The games of a server by their ids, "1" and so on; `folder` is for their bots."""

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
        """Start a game, and return its id; the oldest of those that have ended may go.

        Raises InputError if too many are under way.
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
        """Return the game of an id; raises LookupError if there is none of this kind."""
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
        """Leave all games, and wait for their ends."""
        games = [*self._games.values()]
        for game in games:
            game.leave()
        for game in games:
            game.join(_PATIENCE)
