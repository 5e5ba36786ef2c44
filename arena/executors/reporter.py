"""Reporter: what a worker says while it plays a chunk."""

from __future__ import annotations

from arena.games.match import GameResult
from engine.state import Seat


class Reporter:
    """What a worker reports while it plays; this one reports nothing."""

    def beat(self) -> None:
        """The worker is alive."""

    def playing(self, first: int, pairs: int) -> None:
        """These pairs are played from now on."""

    def played(self) -> None:
        """The pairs have been played."""

    def failed(self, result: GameResult) -> None:
        """This game of the chunk has ended with a fault, the first one of a bot here."""

    def asking(self, pair: int, seat: Seat, asked: Seat, history: bytes | None) -> None:
        """The bot in seat `asked` is asked, in a game that is played apart."""
