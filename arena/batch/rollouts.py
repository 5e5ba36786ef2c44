"""Play many games on together, by policies, and value the actions that they begin with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.batch.lockstep import Lockstep
from arena.batch.positions import Indices
from arena.batch.replay import Bools
from engine import Pack, View

Scores: TypeAlias = npt.NDArray[Any]
Policy: TypeAlias = Callable[[Lockstep], Scores]
"""Returns scores (game, action): the legal action with the highest score is played, the first if
several tie. The method `scores` of a strategy is one."""

Values: TypeAlias = Callable[[Lockstep], npt.NDArray[np.float64]]
"""Returns the chance of seat 0 to win in games that ended with a round, from 0 to 1."""

WHOLE: Final = 1 << 24
"""A chance of 1 as an integer: sums of integers are the same in any order."""

_MOST_FREE = 0.9  # from this share of games with a choice on, the policy is called for all games


def pick(games: Lockstep, policy: Policy) -> npt.NDArray[np.intp]:
    """Return a policy's action in each game; the policy is called for games with a choice.

    The entries of finished games are undefined.
    """
    masks = games.legal().copy()
    free = np.flatnonzero(masks.sum(axis=1, dtype=np.uint8) > 1)
    actions: npt.NDArray[np.intp] = masks.argmax(axis=1)
    actions[free] = pick_in(games, policy, free, masks)
    return actions


def pick_in(
    games: Lockstep, policy: Policy, some: Indices, masks: npt.NDArray[Any]
) -> npt.NDArray[np.intp]:
    """Return a policy's actions in some of the games, given the masks of all."""
    if len(some) > _MOST_FREE * games.count:
        return best_legal(policy(games), masks)[some]
    if not len(some):
        return some
    return best_legal(policy(games.select(some, to_come=False)), masks[some])


class Player(Protocol):
    """Plays many games at once."""

    @property
    def name(self) -> str:
        """Its name."""

    def choose(self, games: Lockstep, some: Indices, masks: Any, /) -> Indices:
        """Return its actions in some of the games, given the masks of all."""


class Pool:
    """The players of many games, of which one is drawn for each game."""

    def __init__(self, count: int) -> None:
        self.players: list[Player] = []
        self.met: Indices = np.zeros(count, np.intp)

    def change(
        self, players: Sequence[Player], weights: npt.NDArray[np.float64], live: Bools
    ) -> None:
        """Draw from these players from now on; those of `live` games play these to their ends."""
        kept = np.unique(self.met[live])
        self.met = kept.searchsorted(self.met).clip(0, max(0, len(kept) - 1))
        self._first = len(kept)
        self._shares = weights.cumsum() / weights.sum()
        self.players = [*(self.players[number] for number in kept), *players]
        self._names = np.array([player.name for player in self.players], object)

    def draw(self, games: Indices, luck: np.random.Generator) -> None:
        """Draw the players of games that begin."""
        drawn = self._shares.searchsorted(luck.random(len(games)), side="right")
        self.met[games] = self._first + drawn

    def names(self) -> npt.NDArray[np.object_]:
        """Return the name of each game's player."""
        return self._names.take(self.met)

    def choose(self, games: Lockstep, some: Indices, masks: Any, actions: Indices) -> None:
        """Fill in the actions of the players in some games, given the masks of all."""
        met = self.met[some]
        for number, player in enumerate(self.players):
            own = some[met == number]
            if len(own):
                actions[own] = player.choose(games, own, masks)


def best_legal(scores: Scores, masks: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Return the legal actions with the highest scores, the first if several tie."""
    best: npt.NDArray[np.intp] = np.where(masks, scores, -np.inf).argmax(axis=1)
    return best


def play_on(games: Lockstep, policies: Sequence[Policy]) -> None:
    """Play games until all are over, with a policy for each seat."""
    while not games.over.all():
        live = ~games.over
        seats = games.to_act[live]
        if (seats == seats[0]).all():
            actions = pick(games, policies[seats[0]])
        else:
            actions = np.zeros(games.count, np.intp)
            for seat in (0, 1):
                some = np.flatnonzero(live & (games.to_act == seat))
                actions[some] = pick(games.select(some), policies[seat])
        games.step(actions)


def action_values(
    view: View, hands: Sequence[Pack], policies: Sequence[Policy], values: Values
) -> npt.NDArray[np.int64]:
    """Return the value of each legal action of a view against each hand (action, hand).

    After the action the round is played to its end by the policies of the seats. The values are the
    chances of the view's seat to win, from 0 to WHOLE. Raises InputError for a hand that the
    opponent cannot hold.
    """
    count = len(hands)
    games = Lockstep.from_view(view, hands).select(np.tile(np.arange(count), len(view.legal)))
    games.step(np.repeat(np.array(view.legal, np.intp), count))
    play_on(games, policies)
    return own_chances(games, view.seat, values).reshape(-1, count)


def own_chances(games: Lockstep, seats: Any, values: Values) -> npt.NDArray[np.int64]:
    """Return the chances of these seats to win in games that are over, from 0 to WHOLE."""
    chances = values(games)
    own = np.where(np.equal(seats, 0), chances, 1 - chances)
    whole: npt.NDArray[np.int64] = np.rint(WHOLE * own).astype(np.int64)
    return whole
