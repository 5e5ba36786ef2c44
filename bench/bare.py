"""The yardstick: a bare loop that plays the rules at random, and nothing else.

One shared generator, lists of kinds, no views, no protocol, no checks, no record.
"""

from __future__ import annotations

from random import Random

from engine import CITY, STANDARD
from engine.scoring import Outcome

PACK = list(STANDARD.deck)


def play(rng: Random) -> Outcome:
    """Play a random game under the published rules, and return how it ended."""
    cards = PACK[:]
    rng.shuffle(cards)
    random = rng.random
    hands = [cards[0:5], cards[5:10]]
    row = cards[10:12]
    piles: list[list[int]] = [[], []]
    for number in range(4):
        taken = [False, False]
        seat = number & 1
        for _ in range(12):
            hand = hands[seat]
            plays = len(hand)
            choice = int(random() * (plays + (not taken[seat] and len(row) > 0)))
            if choice < plays:
                row.append(hand.pop(choice))
            else:
                pile = piles[seat]
                pile += row[-5:]
                del row[-5:]
                taken[seat] = True
                if pile.count(CITY) == 3:
                    return Outcome(seat, "city", (0, 0))
            seat = 1 - seat
        start = 12 + 10 * number
        hands = [cards[start : start + 5], cards[start + 5 : start + 10]]
    return _scored(*piles)


def _scored(first: list[int], second: list[int]) -> Outcome:
    points = [_alone(first), _alone(second)]
    for kind in range(4):
        lead = first.count(kind) - second.count(kind)
        if lead:
            points[lead < 0] += kind + 5
    score = (points[0], points[1])
    if score[0] != score[1]:
        return Outcome(int(score[0] < score[1]), "points", score)
    for kind in (3, 2, 1, 0, CITY):
        lead = first.count(kind) - second.count(kind)
        if lead:
            return Outcome(int(lead < 0), "tiebreak", score)
    return Outcome(None, "draw", score)


def _alone(pile: list[int]) -> int:
    count = pile.count
    sets = min(count(0), count(1), count(2), count(3))
    good = 2 * count(4) + 3 * count(5) + 4 * count(6)
    return 5 * sets + good - count(7) - 2 * count(8) - 3 * count(9)
