"""Variants: rules under which a bot must play; every number is changed at least once."""

from __future__ import annotations

from engine import Rules

VARIANTS = {
    "take_size 3": Rules(take_size=3),
    "take_size 1": Rules(take_size=1),
    "take_size 7": Rules(take_size=7, opening_row=5, removed=0),
    "cities_needed 2": Rules(cities_needed=2),
    "cities_needed 1": Rules(cities_needed=1),
    "tiebreak supports": Rules(tiebreak="supports"),
    "set_bonus 0": Rules(set_bonus=0),
    "set_bonus -4": Rules(set_bonus=-4),
    "majority_values 8 1 0 20": Rules(majority_values=(8, 1, 0, 20)),
    "removed 0": Rules(removed=0, opening_row=5),
    "opening_row 0": Rules(removed=5, opening_row=0),
    "rounds 1": Rules(rounds=1, removed=33),
    "rounds 2": Rules(rounds=2, removed=23),
    "hand_size 1": Rules(hand_size=1, rounds=1, opening_row=8, removed=35),
    "hand_size 3": Rules(hand_size=3, rounds=7, take_size=3, opening_row=3, removed=0),
    "hand_size 10": Rules(hand_size=10, rounds=2),
    "no cities": Rules(copies=(5, 6, 7, 8, 4, 2, 1, 3, 4, 2, 0), removed=0),
    "other copies": Rules(copies=(9, 9, 9, 0, 0, 1, 1, 1, 6, 4, 5)),
}
"""By name, each a playable game."""
