"""What a seat believes of its opponent's hand, by what the opponent has done in this round."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from arena.batch.lockstep import Lockstep
from arena.batch.piles import Cards, Indices
from arena.batch.rollouts import Policy, pick
from engine import Pack, View, hands
from engine.cards import BITS, KINDS, cards_of, pack_of, to_text
from engine.state import played

DOUBT: Final = 1 / 64
"""The chance that an opponent plays otherwise than its policy says."""

_PLACES = 1 << BITS * np.arange(len(KINDS), dtype=np.int64)


class Belief:
    """The hands that the opponent may hold, and how likely each of them is.

    At the beginning of a round a hand weighs as much as there are deals of it. By Bayes' rule
    each action of the opponent multiplies the weight of a hand by the chance of this action: with
    that hand the policy plays one action, and with the chance of a `doubt` another legal one. So a
    wrong policy excludes no hand. `games` are the worlds, one for each hand, at the position of the
    last view; they end with the round, and are stepped with the game, so that a decision costs the
    plies since the last one. `weights` have no common scale.

    >>> belief = Belief(lambda games: np.arange(12.0) + np.zeros((games.count, 1)))
    >>> belief.update(View.from_text("1 5678C xy T"))
    >>> len(belief.hands), float(belief.weights.sum())
    (2444, 494099.15625)
    """

    def __init__(self, policy: Policy, doubt: float = DOUBT) -> None:
        self.policy = policy
        self.doubt = doubt
        self.weights: npt.NDArray[np.float64] = np.zeros(0)
        self.games = Lockstep(0)
        self._seen: View | None = None

    @property
    def hands(self) -> list[Pack]:
        """The hands, in the order of the weights."""
        assert self._seen is not None, "a view comes first"
        held = self.games.hands[self._seen.opponent]
        packs: list[Pack] = packs_of(held).tolist()
        return packs

    def update(self, view: View) -> None:
        """Learn from what has happened until a view of a game that goes on.

        A view that does not follow on the last one is of another round, or of another game.
        """
        begin = (view.round - 1) * view.rules.round_plies
        start = self._seen
        if start is None or not _follows(view, start, begin):
            start = _start(view, begin)
            worlds = [*hands(start)]
            self.games = Lockstep.from_view(start, [hand for hand, _ in worlds])
            self.weights = np.array([ways for _, ways in worlds], np.float64)
        for ply in range(len(start.history), len(view.history)):
            if view.rules.seat_at(ply) != view.seat:
                self._learn(view.history[ply])
            self.games.step(np.full(self.games.count, view.history[ply]))
        self._seen = view

    def _learn(self, action: int) -> None:
        """Weigh the hands by an action of the opponent, which some of them do not allow."""
        able = np.flatnonzero(self.games.legal()[:, action])
        if len(able) < self.games.count:
            self.games, self.weights = self.games.select(able), self.weights[able]
        others = self.games.legal().sum(axis=1) - 1
        as_said = pick(self.games, self.policy) == action
        chances = np.where(as_said, 1 - self.doubt, self.doubt / np.maximum(others, 1))
        self.weights = self.weights * np.where(others, chances, 1.0)

    def sample(self, most: int) -> tuple[Indices, npt.NDArray[np.int64]]:
        """Return the numbers of at most so many hands, and whole weights of them.

        All hands are there if they are not too many. Of more, each is there as often as its
        weight says, a fraction up or down: they are drawn at equal distances along the sum of
        all weights.
        """
        count = len(self.weights)
        if count <= most:
            whole = np.rint(self.weights * (_WHOLE / self.weights.max())).astype(np.int64)
            return np.arange(count), whole
        sums = self.weights.cumsum()
        places = (np.arange(most) + 0.5) * (sums[-1] / most)
        drawn = np.minimum(sums.searchsorted(places, side="right"), count - 1)
        chosen, times = np.unique(drawn, return_counts=True)
        return chosen, times.astype(np.int64)


_WHOLE = 1 << 20


def packs_of(held: Cards) -> npt.NDArray[np.int64]:
    """Return the packs of cards that are counted (kind, game)."""
    packs: npt.NDArray[np.int64] = _PLACES @ held.astype(np.int64)
    return packs


def _follows(view: View, last: View, begin: int) -> bool:
    """Return whether a view is of the same round as the last one, and not before it."""
    ply = len(last.history)
    own = played(view.history, view.round - 1, view.seat, view.rules)
    before = played(last.history, view.round - 1, view.seat, view.rules)
    return (
        ply >= begin
        and view.seat == last.seat
        and view.rules == last.rules
        and view.opening == last.opening
        and view.history[:ply] == last.history
        and view.hand + pack_of(own) == last.hand + pack_of(before)
    )


def _start(view: View, begin: int) -> View:
    """Return what the seat of a view saw at the beginning of the round, at this ply."""
    own = played(view.history, view.round - 1, view.seat, view.rules)
    hand = to_text(cards_of(view.hand + pack_of(own)))
    history = to_text(view.history[:begin])
    return View.from_text(
        f"{view.seat} {hand} {to_text(view.opening) or '-'} {history}".rstrip(), view.rules
    )
