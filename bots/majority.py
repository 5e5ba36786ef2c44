"""Counts supports: plays for majorities and sets.

Source: R12 to R15, each weighed by the cards that may still change it.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from engine import (
    CITY,
    KINDS,
    SUPPORTS,
    TAKE,
    VALUES,
    Action,
    Kind,
    Pack,
    Rules,
    Seat,
    Setup,
    View,
    count,
    size,
)
from engine.cards import MOST_COPIES, OTHER_CARDS, SUPPORT_CARDS, UNIT, ByPack, newest
from engine.scoring import Piles, net_deals

CITY_WORTH = (0.0, 2.0, 7.0, 100.0)
"""The worth of cities by their number before the win; the last number is the win."""


class Promise:
    """The expected worth of two piles at the end, in points.

    A lead counts for more the fewer cards of its value are left to turn it, and a set
    counts in part before it is complete. Each city counts for `city` points more.
    """

    def __init__(self, rules: Rules, city: float = 0.0) -> None:
        self.rules = rules
        self.city = float(city)
        self.tables = _tables(rules)

    def lead(self, piles: Piles) -> float:
        """Return by how many points the first pile promises more than the second."""
        return self.leads_after(*piles, (0,))[0]

    def leads_after(self, mine: Pack, theirs: Pack, takes: Iterable[Pack]) -> list[float]:
        """Return `lead` after each of these takes by the owner of the first pile.

        What the second pile has is looked up once: six take 0.7 us each, one 2.5.
        """
        (fives, sixes, sevens, eights), sets, others = self.tables
        five, six = fives[theirs & 31], sixes[theirs >> 5 & 31]
        seven, eight = sevens[theirs >> 10 & 31], eights[theirs >> 15 & 31]
        city = self.city
        rival = sets[theirs & SUPPORT_CARDS] + others[theirs & OTHER_CARDS] + city * (theirs >> 50)
        leads = []
        for cards in takes:
            pile = mine + cards
            worth = sets[pile & SUPPORT_CARDS] + others[pile & OTHER_CARDS] + city * (pile >> 50)
            leads.append(
                worth
                - rival
                + five[pile & 31]
                + six[pile >> 5 & 31]
                + seven[pile >> 10 & 31]
                + eight[pile >> 15 & 31]
            )
        return leads

    def gains_of(self, view: View, seat: Seat, takes: Iterable[Pack]) -> list[float]:
        """Return how many points more each of these takes promises the seat."""
        lead, *leads = self.leads_after(view.piles[seat], view.piles[1 - seat], (0, *takes))
        return [each - lead for each in leads]

    def take(self, row: bytes) -> Pack:
        """Return the cards that a take of this row brings."""
        return newest(row, self.rules.take_size)

    def plays(self, view: View) -> list[Pack]:
        """Return the cards that a take brings after each card that may be played."""
        last = newest(view.row, self.rules.take_size - 1)
        return [last + UNIT[kind] for kind in view.legal if kind != TAKE]

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
        """Return the worth of an array of piles (kind, ...) without regard to the others."""
        import numpy as np

        supports = piles[: len(SUPPORTS)]
        whole = supports.min(axis=0)
        begun = (supports > whole).sum(axis=0, dtype=np.int8)
        sets = self.rules.set_bonus * (whole + begun * begun / 16)
        deals = sum([VALUES[kind] * piles[kind].astype(np.int16) for kind in KINDS if VALUES[kind]])
        nearness = 3 - self.rules.cities_needed + piles[CITY].astype(np.int16)
        worths = sets + deals + np.array(CITY_WORTH).take(nearness, mode="clip")
        return worths + self.city * piles[CITY]


class _Tables(NamedTuple):
    """The parts of a promise under some rules: they make one of six leads in 0.7 us.

    `majorities` are by support and then by the counts of the second pile and of the first. The
    worths of a pile's `sets` and of its `others`, deals and cities, are sums of sixteenths, hence
    exact.
    """

    majorities: list[list[list[float]]]
    sets: ByPack[float]
    others: ByPack[float]


@lru_cache(maxsize=16)
def _tables(rules: Rules) -> _Tables:
    """Return the tables of some rules."""

    def sets(supports: Pack) -> float:
        """Return the worth of whole sets and of sets that have begun."""
        held = [count(supports, kind) for kind in SUPPORTS]
        whole = min(held)
        begun = sum([n > whole for n in held])
        return rules.set_bonus * (whole + begun * begun / 16)

    def others(cards: Pack) -> float:
        """Return the worth of deals and cities."""
        nearness = 3 - rules.cities_needed + count(cards, CITY)
        return net_deals(cards) + CITY_WORTH[max(0, min(3, nearness))]

    def majority(kind: Kind, mine: int, theirs: int) -> float:
        """Return the worth of a majority: its value by how sure it is."""
        left = max(0, rules.copies[kind] - mine - theirs)
        share = (mine - theirs) / (left + 1)
        return rules.majority_values[kind] * max(-1.0, min(1.0, share))

    held = range(MOST_COPIES + 1)
    majorities = [[[majority(kind, n, m) for n in held] for m in held] for kind in SUPPORTS]
    return _Tables(majorities, ByPack(sets), ByPack(others))


class Majority:
    """Weighs every take by what it adds to the promise of the piles.

    `patience` is how much more a take must bring for every card still in the hand.
    """

    def __init__(self, setup: Setup, patience: float = 6.2) -> None:
        self.promise = Promise(setup.rules)
        self.patience = patience

    def choose(self, view: View, /) -> Action:
        """Return the action with the best prospect, the first if several tie."""
        legal = view.legal
        if len(legal) == 1:
            return legal[0]
        worths = self.worths(view)
        return legal[worths.index(max(worths))]

    def worths(self, view: View) -> list[float]:
        """Return the points that each action brings, less those it leaves to the opponent."""
        seat, promise = view.seat, self.promise
        plays = promise.plays(view)
        take = [promise.take(view.row)] if TAKE in view.legal else []
        if view.taken[1 - seat]:
            worths = promise.gains_of(view, seat, plays + take)
        else:
            worths = [min(0.0, -gain) for gain in promise.gains_of(view, 1 - seat, plays)]
            worths += promise.gains_of(view, seat, take)
        if take:
            worths[-1] -= self.patience * size(view.hand)
        return worths

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
