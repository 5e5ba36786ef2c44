"""Rules with few cards: decks shorter than an observation's newest cards, and at that length."""

from __future__ import annotations

from engine import Rules
from tests.addons.rl.ground_truth import VARIANTS

SMALL_DECKS = {
    **VARIANTS,
    "three cards": Rules((2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0, 1, 1, 1, 1),
    "no opening row": Rules((1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0), 0, 2, 0, 2, 1),
    "one kind": Rules((7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0, 3, 1, 4, 1),
    "no supports": Rules((0, 0, 0, 0, 3, 2, 1, 2, 1, 0, 0), 1, 2, 0, 2, 2),
    "ten cards": Rules((1, 2, 1, 2, 1, 0, 0, 0, 1, 0, 2), 0, 4, 2, 7, 1, 2),
    "eleven cards": Rules((2, 2, 2, 1, 0, 1, 0, 1, 0, 1, 1), 0, 1, 1, 1, 5),
}
"""copies, removed, hand_size, opening_row, take_size, rounds, cities_needed."""
