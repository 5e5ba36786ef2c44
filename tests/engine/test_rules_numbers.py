"""Rules as numbers: what may be changed, what is refused, and what the refusal says."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from random import Random
from typing import Any

import pytest

from engine import STANDARD, Rules, State
from engine.errors import RulesError
from engine.state import random_deal
from tests.positions import RULE_SETS


def test_the_default_is_the_published_game() -> None:
    """45 cards, hands of five, four rounds, 48 actions."""
    assert Rules() == STANDARD
    assert len(STANDARD.deck) == 45
    assert STANDARD.round_plies == 12
    assert STANDARD.game_plies == 48
    assert STANDARD.changes() == {}
    assert repr(STANDARD) == "Rules()"


def test_cards_that_cannot_be_dealt_are_refused_with_the_sum() -> None:
    """2 + 4 x 2 x 5 + 2 is 44 and not 45."""
    with pytest.raises(RulesError, match=r"2 .*4 x 2 x .*5 .*2 = 44 .*45"):
        Rules(removed=2)
    with pytest.raises(RulesError, match="= 55 cards, but the copies add up to 45"):
        Rules(rounds=5)
    with pytest.raises(RulesError, match="= 45 cards, but the copies add up to 46"):
        Rules(copies=(6, 6, 7, 8, 4, 2, 1, 3, 4, 2, 3))


def test_a_forced_take_of_nothing_is_refused_with_the_sum() -> None:
    """One player has played five cards, the other four and taken eleven: no card is left."""
    with pytest.raises(RulesError, match=r"forced take.* 2 .*5 - 1 .*11 = 0"):
        Rules(take_size=11)


def test_the_row_of_every_round_is_checked() -> None:
    """Takes of nine leave 2 + 9 - 9 cards in round 1, but 0 + 9 - 9 in round 2."""
    with pytest.raises(RulesError, match=r"round 2 .*forced take.* 0 .*5 - 1 .*9 = 0"):
        Rules(take_size=9)
    assert Rules(take_size=8).take_size == 8


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
def test_changes_and_from_changes_are_inverse(name: str) -> None:
    """Rules come back from their changes and from their repr, equal and with the same hash."""
    rules = RULE_SETS[name]
    again = Rules.from_changes(rules.changes())
    assert again == rules
    assert hash(again) == hash(rules)
    assert eval(repr(rules)) == rules


def test_rules_that_differ_are_not_equal() -> None:
    """One changed number is enough."""
    assert len(set(RULE_SETS.values())) == len(RULE_SETS)
    assert Rules(tiebreak="supports") != STANDARD
    assert Rules(set_bonus=0) != STANDARD


def test_lists_are_accepted_as_tuples() -> None:
    """YAML and JSON have only lists."""
    assert Rules.from_changes({"majority_values": [5, 6, 7, 8]}) == STANDARD
    hash(Rules.from_changes({"copies": [8, 7, 6, 5, 4, 2, 1, 3, 4, 2, 3]}))


def test_an_unknown_rule_is_refused_with_the_list_of_rules() -> None:
    """The message holds the wrong name and the right ones; derived fields are not rules."""
    with pytest.raises(RulesError, match=r"'set_bonsu'.*set_bonus"):
        Rules.from_changes({"set_bonsu": 4})
    with pytest.raises(RulesError, match="'deck'"):
        Rules.from_changes({"deck": b""})
    with pytest.raises(RulesError, match="mapping"):
        Rules.from_changes(["set_bonus"])


def test_rules_are_immutable() -> None:
    """No number can be changed during a game."""
    with pytest.raises(FrozenInstanceError):
        STANDARD.take_size = 6  # type: ignore[misc]


@pytest.mark.parametrize("name", RULE_SETS)
def test_every_variant_can_be_dealt(name: str) -> None:
    """Hands, row, deck and removed have the sizes the numbers say."""
    rules = RULE_SETS[name]
    state = State(random_deal(Random(0), rules), rules)
    assert len(state.row) == rules.opening_row
    assert len(state.removed) == rules.removed
    assert len(state.deck) == (rules.rounds - 1) * 2 * rules.hand_size
