"""Deals: random deals for many games at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from engine import STANDARD, Rules


def random_deals(
    count: int, rng: np.random.Generator, rules: Rules = STANDARD
) -> npt.NDArray[np.uint8]:
    """Return deals (game, card) in the notation's order; equal generators give equal deals."""
    decks = np.broadcast_to(np.frombuffer(rules.deck, np.uint8), (count, len(rules.deck)))
    return rng.permuted(decks, axis=1)
