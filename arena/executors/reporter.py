"""Define what a worker reports while it plays, to its parent and in the log."""

from __future__ import annotations

from arena.executors.log import logger
from arena.games.match import GameResult
from arena.tournament.schedule import Fixture
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

    def disturbed(self, pair: int) -> None:
        """A bot's folder was changed by others; raises where the pair is then played in quiet."""

    def end_others(self) -> None:
        """End all processes of bots that are left."""

    def asking(self, pair: int, seat: Seat, asked: Seat, history: bytes | None) -> None:
        """The bot in seat `asked` is asked, in a game that is played apart."""


def log_fault(fixture: Fixture, result: GameResult) -> None:
    """Log the fault that has ended a game."""
    assert result.fault is not None
    logger.warning(
        "%s forfeits (%s at ply %d): %s; game: %s, pair %d, seat %d",
        fixture.pairing[result.winner == 0],
        result.fault.kind,
        result.plies,
        result.fault.message,
        fixture.pairing.name,
        fixture.pair,
        fixture.seat,
    )
