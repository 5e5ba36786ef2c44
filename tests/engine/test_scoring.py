"""Points, breakdown and outcome beyond the published game; the rulebook tests have the rest."""

from __future__ import annotations

import pytest

from engine import Rules, breakdown, outcome
from engine.scoring import city_winner, deals, majorities, sets
from tests.positions import DECK, pack, packs


def test_each_part_of_a_score_has_a_function() -> None:
    """Majorities need the other pile, sets and deals do not."""
    assert majorities(pack("55"), pack("5")) == (5, 0, 0, 0)
    assert majorities(pack("5"), pack("55")) == (0, 0, 0, 0)
    assert sets(pack("55667788")) == 10
    assert deals(pack("24xz")) == (6, -4)


@pytest.mark.parametrize(("bonus", "expected"), [(3, 6), (0, 0), (-2, -4)])
def test_the_set_bonus_is_a_number_of_the_rules(bonus: int, expected: int) -> None:
    """Two sets score twice the bonus, also if it is zero or negative."""
    first, _ = breakdown(packs("55667788", ""), Rules(set_bonus=bonus))
    assert first.sets == expected


def test_the_majority_values_are_numbers_of_the_rules() -> None:
    """With 1, 2, 3, 4 all majorities are 10 and not 26."""
    rules = Rules(majority_values=(1, 2, 3, 4))
    first, second = breakdown(packs("55667788", "5678"), rules)
    assert first.majorities == (1, 2, 3, 4)
    assert second.majorities == (0, 0, 0, 0)


def test_the_number_of_cities_that_win_is_a_number_of_the_rules() -> None:
    """Where two are needed, two and three both win."""
    rules = Rules(cities_needed=2)
    assert outcome(packs("8", "CC"), rules)[:2] == (1, "city")
    assert outcome(packs("CCC", "88"), rules)[:2] == (0, "city")
    assert outcome(packs("8", "CC"))[:2] == (0, "points")


def test_other_cards_never_look_like_a_city() -> None:
    """All 42 cards that are not cities do not make a city win."""
    everything = DECK.replace("C", "")
    assert city_winner(packs(everything, "")) is None
    assert city_winner(packs("", everything + "CC")) is None
    assert city_winner(packs("", "CCC")) == 1


def test_equal_totals_are_a_tie_however_large_they_are() -> None:
    """1000 points for the 5s against 1000 for the 6s: the 6 breaks the tie."""
    rules = Rules(majority_values=(1000, 1000, 0, 0))
    assert outcome(packs("5", "6"), rules) == (1, "tiebreak", (1000, 1000))
    assert outcome(packs("6", "5"), rules) == (0, "tiebreak", (1000, 1000))
