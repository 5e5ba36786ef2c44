"""Define what workers are asked about recorded games, and what they answer, as plain data.

A bot judges the decisions of a game that has been played: it plays on from them in many worlds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from engine.state import Seat

PARTS: Final = 1_000_000
"""What a chance of 1 is as a whole number."""

ILLEGAL: Final = -1
"""Stands for the chance of an action that is not legal."""

_BLUNDER = PARTS // 10
_CERTAIN = 2  # standard errors


class Recorded(NamedTuple):
    """A game under the published rules; a worker draws by its name.

    It was played to its end, or is judged on its own. Of `plies` the decisions are judged, of all
    plies where it is None.
    """

    name: str
    deal: str
    actions: str
    plies: tuple[int, ...] | None = None


class Question(NamedTuple):
    """The games of a chunk, by pair and seat, to be judged in so many worlds by this seed."""

    games: Mapping[tuple[int, Seat], Recorded]
    worlds: int
    seed: int


class Judged(NamedTuple):
    """A decision: the action that was played, the chance of each action to win, and the loss.

    Numbers are parts of PARTS. A chance is ILLEGAL where the action is not legal; `error` is the
    standard error of the loss.
    """

    ply: int
    action: int
    chances: list[int]
    loss: int
    error: int

    @property
    def best(self) -> int:
        """The action with the highest chance, the first among equals."""
        return max(range(len(self.chances)), key=self.chances.__getitem__)


class JudgedGame(NamedTuple):
    """The decisions of the game at this place of a chunk, without those that were forced."""

    pair: int
    seat: Seat
    decisions: Sequence[Judged]


def is_blunder(loss: Any, error: Any) -> Any:
    """Return whether 10 points of 100 or more were lost, and more than two standard errors.

    Both are parts of PARTS, or arrays of them.

    >>> is_blunder(100_000, 40_000), is_blunder(100_000, 60_000), is_blunder(99_999, 0)
    (True, False, False)
    """
    return (loss >= _BLUNDER) & (loss > _CERTAIN * error)


def is_possible(game: JudgedGame, plies: int, actions: int) -> bool:
    """Return whether a game with so many plies and kinds of actions can be judged so."""
    return all(
        0 <= one.ply < plies
        and 0 <= one.action < actions
        and len(one.chances) == actions
        and all(ILLEGAL <= chance <= PARTS for chance in one.chances)
        and abs(one.loss) <= PARTS
        and 0 <= one.error <= PARTS
        for one in game.decisions
    )
