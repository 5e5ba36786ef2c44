"""Rules as numbers: what may be changed, the bounds, and what a refusal says."""

from __future__ import annotations

from dataclasses import fields, replace
from random import Random
from typing import Any

import pytest

from engine import STANDARD, Rules, State, View
from engine.errors import RulesError
from engine.rules import RULE_NAMES
from engine.state import random_deal
from engine.view import view
from tests.positions import RULE_SETS


def test_the_default_is_the_published_game() -> None:
    """45 cards, hands of five, four rounds, 48 actions, which cannot be changed."""
    assert Rules() == STANDARD
    assert len(STANDARD.deck) == 45
    assert STANDARD.round_plies == 12
    assert STANDARD.game_plies == 48
    assert STANDARD.changes() == {}
    assert repr(STANDARD) == "Rules()"
    assert replace(STANDARD, set_bonus=4) == Rules(set_bonus=4)
    assert [field.name for field in fields(Rules)] == [*RULE_NAMES]
    with pytest.raises(AttributeError):
        STANDARD.take_size = 6  # type: ignore[misc]


def test_numbers_that_do_not_fit_are_refused_with_the_sum() -> None:
    """Of the cards that are dealt, and of what is left for a forced take in each round."""
    with pytest.raises(RulesError, match=r"2 .*4 x 2 x .*5 .*2 = 44 .*45"):
        Rules(removed=2)
    with pytest.raises(RulesError, match="= 55 cards, but the copies add up to 45"):
        Rules(rounds=5)
    with pytest.raises(RulesError, match="= 45 cards, but the copies add up to 46"):
        Rules(copies=(6, 6, 7, 8, 4, 2, 1, 3, 4, 2, 3))
    with pytest.raises(RulesError, match=r"forced take.* 2 .*5 - 1 .*11 = 0"):
        Rules(take_size=11)
    with pytest.raises(RulesError, match=r"round 2 .*forced take.* 0 .*5 - 1 .*9 = 0"):
        Rules(take_size=9)
    assert Rules(take_size=8).take_size == 8
    numbers: dict[str, Any] = {"hand_size": 2, "take_size": 3, "opening_row": 5}
    assert Rules(rounds=3, removed=28, **numbers).rounds == 3
    assert refusal(rounds=4, removed=24, **numbers) == (
        "round 4 may have nothing left for a forced take: a row of 0 + 2 x hand_size 2 - 1 played "
        "- take_size 3 = 0"
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("removed", -1),
        ("hand_size", 0),
        ("opening_row", -1),
        ("take_size", 0),
        ("rounds", 0),
        ("cities_needed", 0),
        ("rounds", 10**9),
        ("hand_size", "5"),
        ("hand_size", 5.0),
        ("hand_size", True),
        ("set_bonus", None),
        ("set_bonus", 10**9),
        ("tiebreak", "eights"),
        ("tiebreak", []),
        ("copies", (5, 6, 7, 8)),
        ("copies", 45),
        ("copies", "56782345678"),
        ("copies", (-1, 12, 7, 8, 4, 2, 1, 3, 4, 2, 3)),
        ("copies", (32, 0, 0, 0, 4, 2, 1, 3, 0, 0, 3)),
        ("majority_values", (5, 6, 7)),
        ("majority_values", (5, 6, 7, "8")),
    ],
)
def test_an_invalid_value_is_refused_by_name(name: str, value: object) -> None:
    """The message names the rule and shows the value."""
    changes: Any = {name: value}
    with pytest.raises(RulesError, match=name) as caught:
        Rules(**changes)
    shown = list(value) if isinstance(value, tuple) else value
    assert repr(shown) in str(caught.value)


def test_zero_is_a_value_where_the_game_allows_it() -> None:
    """No bonus, no removed cards, no opening row, majorities worth nothing."""
    assert Rules(set_bonus=0).changes() == {"set_bonus": 0}
    assert Rules(removed=0, opening_row=5).removed == 0
    assert Rules(removed=5, opening_row=0).opening_row == 0
    assert Rules(majority_values=(0, 0, 0, 0)).majority_values == (0, 0, 0, 0)


@pytest.mark.parametrize("name", RULE_SETS)
def test_rules_come_back_from_their_changes_and_can_be_dealt(name: str) -> None:
    """Equal, with the same hash; hands, row, deck and removed have the sizes of the numbers."""
    rules = RULE_SETS[name]
    again = Rules.from_changes(rules.changes())
    assert again == rules
    assert hash(again) == hash(rules)
    assert eval(repr(rules)) == rules
    rules = RULE_SETS[name]
    state = State(random_deal(Random(0), rules), rules)
    assert len(state.row) == rules.opening_row
    assert len(state.removed) == rules.removed
    assert len(state.deck) == (rules.rounds - 1) * 2 * rules.hand_size


def test_an_unknown_rule_is_refused_with_the_list_of_rules() -> None:
    """The message holds the wrong name and the right ones; derived fields are not rules."""
    with pytest.raises(RulesError, match=r"'set_bonsu'.*set_bonus"):
        Rules.from_changes({"set_bonsu": 4})
    with pytest.raises(RulesError, match="'deck'"):
        Rules.from_changes({"deck": b""})
    with pytest.raises(RulesError, match="mapping"):
        Rules.from_changes(["set_bonus"])


LEAST = {
    "removed": 0,
    "opening_row": 0,
    "hand_size": 1,
    "take_size": 1,
    "rounds": 1,
    "cities_needed": 1,
}
COPIES = (5, 6, 7, 8, 4, 2, 1, 3, 4, 2, 3)


def refusal(**changes: Any) -> str:
    """Return the message with which rules are refused, empty if they are accepted."""
    try:
        Rules(**changes)
    except RulesError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", LEAST)
def test_a_number_is_refused_just_outside_its_range_and_not_inside_it(name: str) -> None:
    """From 0 or 1 to 1000; a number in the range may still not give a deal of all cards."""
    least = LEAST[name]
    for value in (least - 1, 1001):
        expected = f"{name} must be a whole number from {least} to 1000: {value}"
        assert refusal(**{name: value}) == expected
    for value in (least, 1000):
        assert "must be" not in refusal(**{name: value})


def test_up_to_31_copies_of_a_card_fit_into_a_pack() -> None:
    """0 copies are allowed; 32, numbers below 0 and other types are not."""
    for most in (31, 0):
        assert "the copies add up to" in refusal(copies=(most, *COPIES[1:]))
    for wrong in (32, -1, True, 5.0):
        message = refusal(copies=(wrong, *COPIES[1:]))
        expected = "copies must be 11 whole numbers from 0 to 31, for 5 6 7 8 2 3 4 x y z C: "
        assert message == f"{expected}{[wrong, *COPIES[1:]]}"


def test_a_wrong_value_is_shown_in_at_most_80_characters() -> None:
    """One of 79 characters is cut; Python prints no int of 5,000 digits, and no deep list."""
    shown = refusal(tiebreak="x" * 78).partition(": ")[2]
    assert shown == f"'{'x' * 78}'"
    cut = refusal(tiebreak="x" * 79).partition(": ")[2]
    assert cut == f"'{'x' * 79}..."
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    assert refusal(removed=10**5000) == (
        "removed must be a whole number from 0 to 1000: a value too long to print"
    )
    assert refusal(set_bonus=nested).endswith(": a value too long to print")


def test_a_deck_may_have_more_cards_than_a_byte_has_values() -> None:
    """31 rounds with 313 cards are played, written and read as four with 45 are."""
    rules = Rules(copies=(31,) * 10 + (3,), rounds=31, removed=1)
    state = State(random_deal(Random(0), rules), rules)
    while not state.over:
        state.apply(state.legal()[0])
    assert len(rules.deck) == 313
    assert len(state.history) == rules.game_plies == 31 * 12
    assert State.from_text(state.to_text(), rules) == state
    for seat in (0, 1):
        seen = view(state, seat)
        assert (seen.over, seen.round) == (True, 31)
        assert View.from_text(seen.to_text(), rules) == seen
