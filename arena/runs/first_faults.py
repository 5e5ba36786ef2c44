"""First faults: what each bot did wrong first, told as soon as it is known."""

from __future__ import annotations

from arena.entries.beside import explain_missing
from arena.executors.log import logger
from arena.games.match import GameResult
from arena.store.command import replay_commands
from arena.tournament.schedule import Fixture
from arena.tournament.tournament import Tournament


class FirstFaults:
    """Tells the first fault of each bot in this run: what, where, and how to see it again."""

    def __init__(self, tournament: Tournament) -> None:
        self.pairings = tournament.pairings
        self.targets = {entry.label: entry.target for entry in tournament.entries}
        self.command = replay_commands(tournament)
        self._told: set[str] = set()

    def tell(self, pairing: int, result: GameResult) -> None:
        """Log a game of this pairing that a fault has ended, if its bot had none before."""
        label = self.pairings[pairing][result.winner == 0]
        if label in self._told or result.fault is None:
            return
        self._told.add(label)
        kind, message, traceback, _ = result.fault
        message += explain_missing(self.targets[label], message)
        logger.warning("%s forfeits a game (%s, ply %d): %s", label, kind, result.plies, message)
        if place := find_place(traceback):
            logger.warning("  %s", place)
        fixture = Fixture(self.pairings[pairing], result.pair, result.seat)
        logger.warning("  to see it again: %s", self.command(fixture))


def find_place(traceback: str) -> str:
    """Return the place of a traceback's last frame, with its line of code; "" without one.

    >>> lines = ["Traceback (most recent call last):", '  File "x.py", line 3, in choose']
    >>> find_place("\\n".join([*lines, "    return {}[1]", "           ~~^^^", "KeyError: 1"]))
    'File "x.py", line 3, in choose: return {}[1]'
    """
    lines = traceback.splitlines()
    places = [number for number, line in enumerate(lines) if line.startswith('  File "')]
    if not places:
        return ""
    place, *rest = lines[places[-1] :]
    code = f": {rest[0].strip()}" if rest and rest[0].startswith("    ") else ""
    return place.strip() + code
