"""Counts supports: plays for majorities and sets.

Source: R12 to R15, each weighed by the cards that may still change it.
"""

from typing import Any

from engine import (
    CITY,
    KINDS,
    SUPPORTS,
    TAKE,
    VALUES,
    Action,
    Pack,
    Rules,
    Seat,
    Setup,
    View,
    count,
    pack_of,
    size,
)
from engine.scoring import Piles, deals

CITY_WORTH = (0.0, 2.0, 7.0, 100.0)
"""The worth of cities by their number before the win; the last number is the win."""


class Promise:
    """The expected worth of two piles at the end, in points.

    A lead counts for more the fewer cards of its value are left to turn it, and a set
    counts in part before it is complete.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._worth_of: dict[Pack, float] = {}

    def lead(self, piles: Piles) -> float:
        """Return by how many points the first pile promises more than the second."""
        first, second = piles
        lead = self.pile_worth(first) - self.pile_worth(second)
        for kind in SUPPORTS:
            mine, theirs = count(first, kind), count(second, kind)
            left = max(0, self.rules.copies[kind] - mine - theirs)
            share = (mine - theirs) / (left + 1)
            lead += self.rules.majority_values[kind] * max(-1.0, min(1.0, share))
        return lead

    def gain(self, view: View, seat: Seat, row: bytes) -> float:
        """Return how many points more a take from this row promises the seat."""
        mine, theirs = view.piles[seat], view.piles[1 - seat]
        more = mine + pack_of(row[-self.rules.take_size :])
        return self.lead((more, theirs)) - self.lead((mine, theirs))

    def pile_worth(self, pile: Pack) -> float:
        """Return the worth of a pile without regard to the other: sets, deals and cities."""
        worth = self._worth_of.get(pile)
        if worth is None:
            worth = self._worth_of[pile] = self._counted(pile)
        return worth

    def _counted(self, pile: Pack) -> float:
        supports = [count(pile, kind) for kind in SUPPORTS]
        whole = min(supports)
        begun = sum([n > whole for n in supports])
        sets = self.rules.set_bonus * (whole + begun * begun / 16)
        nearness = 3 - self.rules.cities_needed + count(pile, CITY)
        return sets + sum(deals(pile)) + CITY_WORTH[max(0, min(3, nearness))]

    def gains(self, mine: Any, theirs: Any, cards: Any) -> Any:
        """Return `gain` for takes of these cards in many games (card, game).

        The piles are arrays (kind, game), and the cards (kind, card, game).
        """
        more = self.leads(mine[:, None] + cards, theirs[:, None])
        return more - self.leads(mine, theirs)

    def leads(self, mine: Any, theirs: Any) -> Any:
        """Return `lead` for arrays of piles (kind, ...), with bit-identical results."""
        leads = self.pile_worths(mine) - self.pile_worths(theirs)
        for kind in SUPPORTS:
            left = (self.rules.copies[kind] - mine[kind] - theirs[kind]).clip(0)
            share = (mine[kind] - theirs[kind]) / (left + 1)
            leads += self.rules.majority_values[kind] * share.clip(-1.0, 1.0)
        return leads

    def pile_worths(self, piles: Any) -> Any:
        """Return `pile_worth` for an array of piles (kind, ...)."""
        import numpy as np

        supports = piles[: len(SUPPORTS)]
        whole = supports.min(axis=0)
        begun = (supports > whole).sum(axis=0, dtype=np.int8)
        sets = self.rules.set_bonus * (whole + begun * begun / 16)
        deals = sum([VALUES[kind] * piles[kind].astype(np.int16) for kind in KINDS if VALUES[kind]])
        nearness = 3 - self.rules.cities_needed + piles[CITY].astype(np.int16)
        return sets + deals + np.array(CITY_WORTH).take(nearness, mode="clip")


class Majority:
    """Weighs every take by what it adds to the promise of the piles.

    `patience` is how much more a take must bring for every card still in the hand.
    """

    def __init__(self, setup: Setup, patience: float = 6.2) -> None:
        self.promise = Promise(setup.rules)
        self.patience = patience

    def choose(self, view: View, /) -> Action:
        """Return the action with the best prospect, the first if several tie."""
        return max(view.legal, key=lambda action: self.worth(view, action))

    def worth(self, view: View, action: Action) -> float:
        """Return the points that an action brings, less those it leaves to the opponent."""
        if action == TAKE:
            return self.promise.gain(view, view.seat, view.row) - self.patience * size(view.hand)
        row = view.row + bytes((action,))
        if not view.taken[view.opponent]:
            return min(0.0, -self.promise.gain(view, view.opponent, row))
        return self.promise.gain(view, view.seat, row)

    def scores(self, games: Any, /) -> Any:
        """Return the worth of each action in many games (game, action)."""
        import numpy as np

        from arena.batch.beliefs import Seats

        seats = Seats(games)
        _, other_taken = seats.taken
        play = self.promise.gains(*seats.piles(own=other_taken), seats.after_play)
        play = np.where(other_taken, play, np.minimum(0.0, -play))
        take = self.promise.gains(seats.own, seats.other, seats.take[:, None])
        return np.concatenate([play, take - self.patience * seats.cards[0]]).T


bot = Majority
