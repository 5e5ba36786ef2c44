"""The yardstick: a bare loop that plays the published rules at random.

It has one shared generator and lists of kinds, and no views, protocol, checks or record. It is
as fast as plain Python makes it, because a slow yardstick flatters what is measured.
"""

from __future__ import annotations

from random import Random

from engine import CITY, KINDS, STANDARD
from engine.scoring import Outcome

PACK = list(STANDARD.deck)


def play(rng: Random) -> Outcome:
    """Play a random game under the published rules, and return how it ended."""
    random = rng.random
    cards = sorted(PACK, key=lambda _: random())  # 5 us faster than rng.shuffle
    row = cards[10:12]
    piles: tuple[list[int], list[int]] = ([], [])
    start = 0
    for number in range(4):
        hands = cards[start : start + 5], cards[start + 5 : start + 10]
        start = 12 + 10 * number
        takes_left = [1, 1]
        seat = number & 1
        for _ in range(12):
            hand = hands[seat]
            plays = len(hand)
            choice = int(random() * (plays + takes_left[seat] if row else plays))
            if choice < plays:
                row.append(hand.pop(choice))
            else:
                pile = piles[seat]
                pile += row[-5:]
                del row[-5:]
                takes_left[seat] = 0
                if pile.count(CITY) == 3:
                    return Outcome(seat, "city", (0, 0))
            seat = 1 - seat
    return score(*piles)


def score(first: list[int], second: list[int]) -> Outcome:
    """Return the outcome of these piles, on points or after a tie."""
    one, two = [first.count(kind) for kind in KINDS], [second.count(kind) for kind in KINDS]
    mine, theirs = _without_majorities(one), _without_majorities(two)
    for kind in range(4):
        if one[kind] > two[kind]:
            mine += kind + 5
        elif one[kind] < two[kind]:
            theirs += kind + 5
    if mine != theirs:
        return Outcome(int(mine < theirs), "points", (mine, theirs))
    for kind in (3, 2, 1, 0, CITY):
        if one[kind] != two[kind]:
            return Outcome(int(one[kind] < two[kind]), "tiebreak", (mine, theirs))
    return Outcome(None, "draw", (mine, theirs))


def _without_majorities(n: list[int]) -> int:
    """Return the points of sets, alliances and betrayals of a pile with `n[kind]` of each kind."""
    return 5 * min(n[:4]) + 2 * n[4] + 3 * n[5] + 4 * n[6] - n[7] - 2 * n[8] - 3 * n[9]
