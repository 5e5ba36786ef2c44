"""Decide whether a fault counts: its game is played again, each bot in a new process of its own.

A fault that comes back counts, and the second game is stored. One that does not come back belonged
to what earlier games had left in the process, or to the machine, and costs no game. But a second
try is no second chance: the second game counts only if the bot made the same moves up to the fault.
Otherwise the first fault stands, marked as unsteady.

After some faults that did not come back, a bot gets a new process for every game.
"""

from __future__ import annotations

from collections import Counter
from typing import Final, Protocol

from arena.games.match import Finished
from arena.lanes.faults import KINDS, one_line
from arena.tournament.schedule import Fixture
from engine import Action, Seat, State

UNSTEADY: Final = "unsteady: "
"""Begins the message of a fault that did not come back in a game with other moves of the bot."""

MOST_GONE: Final = 3
"""Faults of a bot that did not come back, after which it gets a new process for every game."""

_MOST_GAMES = 4  # played again, where a fault of one bot follows one of the other


class Game(Protocol):
    """A game that can be played again."""

    fixture: Fixture

    def begin(self) -> State:
        """Return the game at its beginning."""

    def again(self, guilty: Seat | None) -> Finished:
        """Return its end, played by itself in new processes, after a fault of this seat."""


class Repeats:
    """Decides the ends of games, and counts the faults of each bot that did not come back.

    `renewed` are the labels of the bots that get a new process for every game.
    """

    def __init__(self) -> None:
        self.renewed: set[str] = set()
        self._gone = Counter[str]()

    def decide(self, game: Game, end: Finished | None) -> Finished:
        """Return the end of a game that counts; None stands for one that has to be played alone.

        A bot that was idle for too long was so in the whole run: that game is not played again.
        """
        end = end or game.again(None)
        for _ in range(_MOST_GAMES):
            if end.fault is None or KINDS[end.fault.kind].is_final:
                return end
            second = game.again(end.guilty)
            if second.guilty == end.guilty:
                return second
            if not _same_moves(game, end, second):
                message = one_line(UNSTEADY + end.fault.message)
                return end._replace(fault=end.fault._replace(message=message))
            self._forgive(game.fixture.labels[end.guilty or 0])
            end = second
        return end

    def _forgive(self, label: str) -> None:
        self._gone[label] += 1
        if self._gone[label] >= MOST_GONE:
            self.renewed.add(label)


def _same_moves(game: Game, first: Finished, second: Finished) -> bool:
    """Return whether the guilty bot of the first game made the same moves in both, up to its end.

    Raises nothing: both games are legal.
    """
    seat = first.guilty or 0
    moves = _moves(game, first, seat)
    return moves == _moves(game, second, seat)[: len(moves)]


def _moves(game: Game, end: Finished, seat: Seat) -> list[Action]:
    state, moves = game.begin(), []
    for action in end.state.history:
        if state.to_act == seat:
            moves.append(action)
        state.apply(action)
    return moves
