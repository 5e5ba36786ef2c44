"""Decide whether a fault counts: replay its game, each bot in a new process of its own.

A fault that recurs counts, and the second game is stored. A fault that does not recur came from the
state that earlier games had left in the process, or from the machine; the second game then replaces
the first. But a replay is not a second chance: the second game is used only if the bot made the
same moves up to the fault. Otherwise the first fault stands, marked as unsteady.

After several faults that did not recur, a bot gets a new process for every game.
"""

from __future__ import annotations

from collections import Counter
from typing import Final, Protocol

from arena.lanes.faults import KINDS, one_line
from arena.tournament.match import Finished
from arena.tournament.schedule import Fixture
from engine import Action, Seat, State

UNSTEADY: Final = "unsteady: "
"""Prefix of the message of a fault that did not recur because the bot made other moves."""
MOST_GONE: Final = 3
"""Faults of a bot that did not recur, after which it gets a new process for every game."""
_MOST_GAMES = 4  # replays of one game, as a fault of one bot may follow one of the other


class Game(Protocol):
    """A game that can be played again."""

    fixture: Fixture

    def begin(self) -> State:
        """Return the state at the beginning of the game."""

    def again(self, guilty: Seat | None) -> Finished:
        """Return its end when replayed separately in new processes, after a fault of this seat."""


class Repeats:
    """Decides which end of a game counts, and counts each bot's faults that did not recur.

    `renewed` are the labels of the bots that get a new process for every game.
    """

    def __init__(self) -> None:
        self.renewed: set[str] = set()
        self._gone = Counter[str]()

    def decide(self, game: Game, end: Finished | None) -> Finished:
        """Return the end of a game that counts; None as `end` means that it is still to be played.

        A fault `idle` is final, as it is about the bot's idle time in the whole run: no replay.
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
