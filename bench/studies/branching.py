"""Play one deal with every setting of a bot at once, as a tree.

Settings that have chosen the same actions so far are in the same position, which is visited once.
So 41 settings take a quarter of the time that they take one by one, and each game is the one that
`engine.play.play` gives. The bots must be functions of the view: without luck, memory or clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from bots.greedy import Greedy
from bots.majority import Promise
from engine import STANDARD, Action, Pack, Rules, Seat, State, Strategy, View, outcome
from engine.play import draw
from engine.scoring import Piles
from engine.seeds import address
from engine.view import view

Halves: TypeAlias = npt.NDArray[np.uint8]
"""Scores in half points of a game, or quarters of a pair."""

Indices: TypeAlias = npt.NDArray[np.intp]


class Crowd(Protocol):
    """Many settings of one bot, which choose for themselves in one position."""

    def __len__(self) -> int:
        """Return the number of settings."""
        ...

    def choose(self, view: View, group: Indices, /) -> Sequence[Action]:
        """Return the action of each setting of the group."""
        ...

    def forget(self) -> None:
        """Forget what was worked out for one deal."""
        ...


class KeptPromise(Promise):
    """A promise that many strategies share; it works out each number once a deal."""

    def __init__(self, rules: Rules = STANDARD, city: float = 0.0) -> None:
        super().__init__(rules, city)
        self._leads: dict[Piles, float] = {}

    def leads_after(self, mine: Pack, theirs: Pack, takes: Iterable[Pack]) -> list[float]:
        """Return `lead` after each of these takes by the owner of the first pile."""
        leads = []
        for piles in [(mine + cards, theirs) for cards in takes]:
            if piles not in self._leads:
                (self._leads[piles],) = super().leads_after(*piles, (0,))
            leads.append(self._leads[piles])
        return leads

    def forget(self) -> None:
        """Forget all leads."""
        self._leads.clear()


class KeptGreedy(Greedy):
    """`bots.greedy.Greedy`, whose leads are in a dict that many settings share."""

    kept: ClassVar[dict[Piles, int]] = {}

    def lead(self, mine: Pack, theirs: Pack) -> int:
        """Return the points of one pile less those of the other."""
        known = self.kept.get((mine, theirs))
        if known is None:
            known = self.kept[mine, theirs] = super().lead(mine, theirs)
        return known

    @classmethod
    def forget(cls) -> None:
        """Forget all numbers."""
        cls.kept.clear()


class Forgetful(Protocol):
    """What keeps numbers for one deal."""

    def forget(self) -> None:
        """Forget them."""
        ...


class Bots:
    """A crowd of strategies, and what they share."""

    def __init__(self, strategies: Sequence[Strategy], shared: Iterable[Forgetful] = ()) -> None:
        self.strategies = strategies
        self.shared = list(shared)

    def __len__(self) -> int:
        return len(self.strategies)

    def choose(self, view: View, group: Indices, /) -> Sequence[Action]:
        """Return the action of each setting of the group."""
        return [self.strategies[number].choose(view) for number in group]

    def forget(self) -> None:
        """Forget what was worked out for one deal."""
        for kept in self.shared:
            kept.forget()


def play_deals(crowd: Crowd, panel: Sequence[Strategy], seed: int, deals: range) -> Halves:
    """Return the scores of pairs in quarters, a row for each deal and a column for each setting.

    Deal j is against the opponent j mod the panel's size. It depends on the seed and j alone.
    """
    quarters = np.zeros((len(deals), len(crowd)), dtype=np.uint8)
    for row, deal in zip(quarters, deals, strict=True):
        crowd.forget()
        cards = draw(address(seed, "landscape", deal)).deal
        for seat in (0, 1):
            opponent = panel[deal % len(panel)]
            _branch(State(cards), seat, crowd, np.arange(len(crowd)), opponent, row)
    return quarters


def _branch(
    state: State, seat: Seat, crowd: Crowd, group: Indices, opponent: Strategy, out: Halves
) -> None:
    """Play on with the settings of the group, and add the half points of each to `out`."""
    while not state.over:
        seen = view(state, state.to_act)
        if state.to_act != seat:
            state.apply(opponent.choose(seen))
            continue
        if len(seen.legal) == 1:
            state.apply(seen.legal[0])
            continue
        actions = np.asarray(crowd.choose(seen, group))
        first = int(actions[0])
        for action in {int(action) for action in actions} - {first}:
            other = state.copy()
            other.apply(action)
            _branch(other, seat, crowd, group[actions == action], opponent, out)
        group = group[actions == first]
        state.apply(first)
    winner = outcome(state.piles).winner
    out[group] += 1 if winner is None else 2 * (winner == seat)
