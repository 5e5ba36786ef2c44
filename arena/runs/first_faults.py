"""Report the first fault of each bot, while a run is played and from its store."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from arena.entries.needs import explain_missing
from arena.errors import arena_command
from arena.executors.log import logger
from arena.tournament.match import GameResult
from arena.tournament.replay_command import replay_commands
from arena.tournament.schedule import Fixture
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:
    from arena.store.store import Store


class FirstFaults:
    """Logs the first fault of each bot in this run: what, where, and the command to replay it."""

    def __init__(self, tournament: Tournament) -> None:
        self.pairings = tournament.pairings
        self.targets = {entry.label: entry.target for entry in tournament.entries}
        self.command = replay_commands(tournament)
        self._told: set[str] = set()

    def tell(self, pairing: int, result: GameResult) -> None:
        """Log a game of this pairing that ended by a fault, if it is the first of its bot."""
        label = self.pairings[pairing][result.winner == 0]
        if label in self._told or result.fault is None:
            return
        self._told.add(label)
        kind, message, traceback, _ = result.fault
        message += explain_missing(self.targets[label], message)
        # why a bot does not start was reported before the run
        why = "" if kind == "import" else f": {message}"
        logger.warning("%s forfeits a game (%s, ply %d)%s", label, kind, result.plies, why)
        if place := find_place(traceback):
            logger.warning("  %s", place)
        fixture = Fixture(self.pairings[pairing], result.pair, result.seat)
        if command := self.command(fixture):
            logger.warning("  to see it again: %s", command)


class FirstFault(NamedTuple):
    """The first fault of a bot in a run: what, where, and the command that shows the game."""

    kind: str
    message: str
    ply: int
    game: str
    show: str


def find_first_faults(store: Store, tournament: Tournament, place: object) -> dict[str, FirstFault]:
    """Return the first fault of each bot that had one, by label; `place` is the run's folder."""
    found: dict[str, FirstFault] = {}
    for number, game in store.first_faults(1):
        fixture = tournament.fixture(number, game.pair, game.seat)
        label = fixture.pairing[int(game.winner == 0)]
        if game.fault and label not in found:
            told = game.fault.kind, game.fault.message, game.plies, fixture.name
            found[label] = FirstFault(*told, arena_command("show", [place, fixture.name]))
    return found


def find_place(traceback: str) -> str:
    """Return the location of a traceback's last frame, with its line of code; "" without frames.

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
