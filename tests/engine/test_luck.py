"""Where the luck of a game goes: into its deal, its two seats and its playouts."""

from __future__ import annotations

from random import Random

import pytest

from engine import STANDARD, State
from engine.cards import shuffled
from engine.play import draw, playout
from engine.seeds import address, noise
from engine.state import random_deal


def test_a_game_draws_both_seats_seeds_and_then_its_deal() -> None:
    """16 bytes for seat 0, 16 for seat 1, and 8 for each of the 45 cards."""
    where = address(3, "deal", "a", "b", 0)
    drawn = noise(where, 16 + 16 + 8 * 45)
    seeds = int.from_bytes(drawn[:16]), int.from_bytes(drawn[16:32])
    assert draw(where).lucks == seeds
    assert draw(where).deal == shuffled(STANDARD.deck, drawn[32:])


@pytest.mark.parametrize(("number", "index"), [(0.0, 0), (1 - 2**-53, -1)])
def test_a_playout_chooses_among_all_legal_actions(number: float, index: int) -> None:
    """The smallest random number stands for the first one, the largest for the last."""

    class Constant(Random):
        def random(self) -> float:
            return number

    state = State(random_deal(Random(4)))
    expected = state.copy()
    playout(state, Constant())
    while not expected.over:
        expected.apply(expected.legal()[index])
    assert state.history == expected.history
