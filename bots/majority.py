"""Counts supports: plays for majorities and sets."""

from engine import CITY, SUPPORTS, TAKE, Action, Pack, Setup, View, count
from engine.cards import pack_of, size
from engine.scoring import deals

CITY_WORTH = (0.0, 2.0, 7.0, 100.0)
"""What cities are worth by how near they are to the win: the last of these is the win."""


class Majority:
    """Values a pile by what its supports are likely to be worth at the end.

    A lead counts for more the fewer cards of its value are left to turn it, and a set
    counts in part before it is whole. `patience` is how much more a take must bring for
    every card still in the hand.
    """

    def __init__(self, setup: Setup, patience: float = 4.0) -> None:
        self.rules = setup.rules
        self.patience = patience

    def choose(self, view: View, /) -> Action:
        """Return the action with the best prospect, the first among equals."""
        mine, theirs = view.piles[view.seat], view.piles[view.opponent]
        now = self.prospect(mine, theirs)

        def worth(action: Action) -> float:
            if action == TAKE:
                hurry = self.patience * size(view.hand)
                return self.prospect(mine + self.end(view.row), theirs) - now - hurry
            end = self.end(view.row + bytes((action,)))
            if not view.taken[view.opponent]:
                return min(0.0, self.prospect(mine, theirs + end) - now)
            return self.prospect(mine + end, theirs) - now

        return max(view.legal, key=worth)

    def end(self, row: bytes) -> Pack:
        """Return what a take from the row would bring."""
        return pack_of(row[-self.rules.take_size :])

    def prospect(self, mine: Pack, theirs: Pack) -> float:
        """Return the points that the piles promise, mine less theirs."""
        lead = sum([self.majority(kind, mine, theirs) for kind in SUPPORTS])
        return lead + self.alone(mine) - self.alone(theirs)

    def majority(self, kind: int, mine: Pack, theirs: Pack) -> float:
        """Return the share of a support's value that the lead is worth already."""
        mine_of_it, theirs_of_it = count(mine, kind), count(theirs, kind)
        left = self.rules.copies[kind] - mine_of_it - theirs_of_it
        share = (mine_of_it - theirs_of_it) / (left + 1)
        return self.rules.majority_values[kind] * max(-1.0, min(1.0, share))

    def alone(self, pile: Pack) -> float:
        """Return what a pile is worth whatever the other one holds: sets, deals, cities."""
        supports = [count(pile, kind) for kind in SUPPORTS]
        whole = min(supports)
        begun = sum([n > whole for n in supports])
        sets = self.rules.set_bonus * (whole + begun * begun / 16)
        nearness = 3 - self.rules.cities_needed + count(pile, CITY)
        return sets + sum(deals(pile)) + CITY_WORTH[max(0, min(3, nearness))]


bot = Majority
