"""The hands that the opponent may hold: counted by hand in the last round of a game."""

from __future__ import annotations

from math import comb

import pytest

from engine.cards import counts, size
from engine.view import view
from engine.worlds import hands
from tests.positions import at, dealt, pack, quiet_game

DEAL = dealt(
    *("55667", "78822", "88", "55667", "78833", "56677", "78xxx", "8224y", "yyyzz"), removed="CCC"
)


@pytest.mark.parametrize(
    ("plies", "expected"),
    [
        (46, {"": 1}),
        (44, {"z": 1, "C": 3}),
        (42, {"zz": 1, "zC": 2 * 3, "CC": 3}),
        (40, {"yzz": 1, "yzC": 2 * 3, "yCC": 3, "zzC": 3, "zCC": 2 * 3, "CCC": 1}),
    ],
)
def test_every_hand_comes_with_the_number_of_its_deals(
    plies: int, expected: dict[str, int]
) -> None:
    """Seat 1 plays y y y z z in this order; seat 0 does not see them, nor the cities."""
    seen = view(at(DEAL, quiet_game(DEAL)[:plies]), 0)
    possible = list(hands(seen))
    assert len(possible) == len(expected)
    assert dict(possible) == {pack(cards): ways for cards, ways in expected.items()}


@pytest.mark.parametrize("plies", [0, 2, 12, 31])
def test_the_numbers_add_up_to_all_choices_of_unseen_cards(plies: int) -> None:
    """n! / (k! (n - k)!) for n unseen cards and k in the hand; no hand comes twice."""
    seen = view(at(DEAL, quiet_game(DEAL)[:plies]), 1)
    possible = list(hands(seen))
    assert sum(ways for _, ways in possible) == comb(size(seen.unseen), seen.opponent_cards)
    assert len({hand for hand, _ in possible}) == len(possible)
    for hand, _ in possible:
        assert size(hand) == seen.opponent_cards
        assert all(n <= most for n, most in zip(counts(hand), counts(seen.unseen), strict=True))
