"""Draw random deals, for a game with its luck and for many games at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from engine import STANDARD, Rules
from engine.play import Draw, draw
from engine.seeds import address

_SEEDS = 1 << 62


def draw_game(rng: np.random.Generator, rules: Rules) -> Draw:
    """Return what `engine.play_game` draws for one seed, which the generator gives."""
    return draw(address(int(rng.integers(_SEEDS)), "deal"), rules)


def random_deals(
    count: int, rng: np.random.Generator, rules: Rules = STANDARD
) -> npt.NDArray[np.uint8]:
    """Return deals (game, card) in the notation's order; equal generators give equal deals."""
    decks = np.broadcast_to(np.frombuffer(rules.deck, np.uint8), (count, len(rules.deck)))
    return rng.permuted(decks, axis=1)
