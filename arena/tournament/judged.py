"""Define questions to workers about recorded games, and their answers, as plain data.

A bot judges each decision of a recorded game by playing on from it in many worlds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from engine import Seat

PARTS: Final = 1_000_000
"""The whole number that stands for a chance of 1."""
ILLEGAL: Final = -1
"""Stands for the chance of an action that is not legal."""
ROLLOUTS: Final = (19_000, 19_000, 27_000, 128_000)
SEARCHES: Final = (120_000, 120_000, 120_000, 60_000)
"""The standard errors by round that come from the judge itself, beside those of its worlds.

Measured by `python -m bench.blunders` (docs/analyse.md): rollouts against searches, and searches
against games that strong bots played on.
"""
BLUNDER: Final = PARTS // 10
"""The least loss that is called a blunder."""
_CERTAIN = 2  # standard errors


Habit: TypeAlias = tuple[tuple[str, float], ...]
"""Bots of the arena as which a bot plays, by name, with the probability, the likeliest first."""


class Recorded(NamedTuple):
    """A game under the published rules; its name seeds the worlds that a worker draws.

    An unfinished game can only be judged on its own. The decisions at `plies` are judged, at all
    plies if it is None. `models` say how the bot of each seat plays, if that is known.
    """

    name: str
    deal: str
    actions: str
    plies: tuple[int, ...] | None = None
    models: Sequence[Habit] = ()


class Question(NamedTuple):
    """The games of a chunk by pair and seat, how many worlds to judge them in, and the seed."""

    games: Mapping[tuple[int, Seat], Recorded]
    worlds: int
    seed: int


class Judged(NamedTuple):
    """A judged decision: the action played, each action's chance to win, and the loss.

    Chances and losses are integers in units of 1/PARTS. The chance of an illegal action is ILLEGAL;
    `error` is the standard error of the loss, with that of the judge itself. If a second judge has
    judged the decision again, the numbers are its own, and `first` is the loss by the first one.
    """

    ply: int
    action: int
    chances: list[int]
    loss: int
    error: int
    first: int | None = None

    @property
    def blunder(self) -> bool:
        """Whether it is one by two judges."""
        is_wrong = self.first is not None and self.best != self.action
        return is_wrong and bool(is_blunder(self.loss, self.error))

    @property
    def best(self) -> int:
        """The action with the highest chance, the first among equals."""
        return max(range(len(self.chances)), key=self.chances.__getitem__)


class JudgedGame(NamedTuple):
    """The judged decisions of the game with this pair and seat, without forced ones."""

    pair: int
    seat: Seat
    decisions: Sequence[Judged]


def is_sure(loss: Any, error: Any) -> Any:
    """Return whether a loss is more than two standard errors."""
    return loss > _CERTAIN * error


def is_blunder(loss: Any, error: Any) -> Any:
    """Return whether a loss is at least 10 points of 100, and more than two standard errors.

    Both are in units of 1/PARTS, or arrays of such numbers.

    >>> is_blunder(100_000, 40_000), is_blunder(100_000, 60_000), is_blunder(99_999, 0)
    (True, False, False)
    """
    return (loss >= BLUNDER) & is_sure(loss, error)
