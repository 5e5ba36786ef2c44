"""Ground truth: small games, their exact values, and how far two policies are from the best."""

from __future__ import annotations

from typing import NamedTuple

from arena.addons.rl.exact import SMALL
from engine import Action, Rules, View

VARIANTS = {name: SMALL[name] for name in ("open", "points", "city", "rounds")}

SMALL_DECKS = {
    **VARIANTS,
    "three cards": Rules((2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0, 1, 1, 1, 1),
    "no opening row": Rules((1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0), 0, 2, 0, 2, 1),
    "one kind": Rules((7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0, 3, 1, 4, 1),
    "no supports": Rules((0, 0, 0, 0, 3, 2, 1, 2, 1, 0, 0), 1, 2, 0, 2, 2),
    "ten cards": Rules((1, 2, 1, 2, 1, 0, 0, 0, 1, 0, 2), 0, 4, 2, 7, 1, 2),
    "eleven cards": Rules((2, 2, 2, 1, 0, 1, 0, 1, 0, 1, 1), 0, 1, 1, 1, 5),
}
"""Of decks shorter than an observation's newest cards, and at that length. The numbers are copies,
removed, hand_size, opening_row, take_size, rounds, cities_needed."""


class Truth(NamedTuple):
    """A variant's value and number of views, and what policies get at worst, in either seat."""

    value: float
    views: int
    uniform: tuple[float, float]
    greedy: tuple[float, float]


TRUTH = {
    "open": Truth(0.085714286, 1812, (-0.4, -0.383333333), (-0.028571429, -0.161904762)),
    "points": Truth(-0.533333333, 1055, (-0.851388889, -0.490277778), (-0.9, -0.1)),
    "city": Truth(-0.322222222, 2040, (-0.794444444, -0.582407407), (-0.661111111, -0.111111111)),
    "rounds": Truth(0.0, 879, (-0.35, -0.308333333), (-0.433333333, -0.366666667)),
}


def uniform(seen: View) -> dict[Action, float]:
    """Return the policy of the bot `uniform`, without asking it."""
    return dict.fromkeys(seen.legal, 1 / len(seen.legal))
