"""Points, golden games and rules: the engine and the plain second referee come to the same."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from engine import STANDARD, Record, Rules, State, View, breakdown, outcome
from engine.cards import TAKE, cards_of, to_text
from engine.errors import RulesError
from engine.notation import parse_cards
from engine.rules import RULE_NAMES
from engine.scoring import Piles
from engine.state import random_deal
from engine.view import view
from tests.playthrough import FOLDER, playthrough
from tests.positions import DECK, RULE_SETS, packs, random_game
from tests.referee import Table
from tests.tiers import few


def assert_same_position(state: State, table: Table) -> None:
    """Compare every visible and hidden part of the two positions."""
    assert to_text(bytes(state.legal())) == "".join(table.legal())
    assert state.over == table.over
    assert to_text(state.row) == "".join(table.row)
    assert to_text(state.deck) == "".join(table.deck)
    assert sorted(to_text(state.removed)) == sorted(table.removed)
    assert list(state.taken) == table.taken
    assert state.round == table.round
    for seat in (0, 1):
        assert sorted(to_text(cards_of(state.hands[seat]))) == sorted(table.hands[seat])
        assert sorted(to_text(cards_of(state.piles[seat]))) == sorted(table.piles[seat])
    if not state.over:
        assert state.to_act == table.turn


def assert_same_result(piles: Piles, table: Table, rules: Rules) -> str:
    """Compare points, breakdown, winner and win type; return the win type."""
    winner, win_type, score = outcome(piles, rules)
    assert score == (table.points(0), table.points(1))
    for seat, part in enumerate(breakdown(piles, rules)):
        plain = part._asdict() | {"majorities": list(part.majorities)}
        assert plain == table.breakdown(seat)
    assert (winner, win_type) == table.result()
    return win_type


def agree_on_a_game(deal: str, actions: str, rules: Rules) -> str:
    """Play a game on both referees, compare after every action; return its win type."""
    state, table = State(parse_cards(deal), rules), Table(deal, **rules.changes())
    assert_same_position(state, table)
    for char in actions:
        state.apply(TAKE if char == "T" else parse_cards(char)[0])
        table.act(char)
        assert_same_position(state, table)
    assert state.over
    return assert_same_result(state.piles, table, rules)


@pytest.mark.parametrize("name", few(RULE_SETS, 5))
def test_both_referees_agree_at_every_ply_of_random_games(name: str) -> None:
    """Legal actions, hands, row, piles, turn and result are the same in both."""
    rng, rules, seen = Random(f"second referee {name}"), RULE_SETS[name], Counter[str]()
    for _ in range(500 if name == "published" else 50):
        seen[agree_on_a_game(*random_game(rng, rules), rules)] += 1
    assert seen["city"] > 0
    assert seen["points"] > 0 or rules.cities_needed == 1
    if name == "published":
        assert seen["tiebreak"] > 0


@pytest.mark.parametrize("rules", few([STANDARD, Rules(tiebreak="supports"), Rules(set_bonus=3)]))
def test_both_referees_score_any_two_piles_alike(rules: Rules) -> None:
    """Small piles make every win type common, draws too."""
    rng, seen = Random("piles"), Counter[str]()
    for _ in range(4000):
        cards, cut = rng.sample(DECK, rng.randint(0, 12)), rng.randint(0, 6)
        table = Table(DECK, **rules.changes())
        table.piles = [cards[:cut], cards[cut:]]
        for seat in (0, 1):
            if table.piles[seat].count("C") == 3:
                table.city_winner = seat
        piles = packs("".join(cards[:cut]), "".join(cards[cut:]))
        seen[assert_same_result(piles, table, rules)] += 1
    assert set(seen) == {"city", "points", "tiebreak", "draw"}


FILES = sorted(FOLDER.glob("*.txt"))


def read(path: Path) -> tuple[str, Record, str]:
    text = path.read_text(encoding="utf-8")
    title, record = text.splitlines()[:2]
    return title, Record.from_json(record), text


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_golden_game_plays_as_it_is_written_and_the_second_referee_agrees(path: Path) -> None:
    """State and both views at every ply; `python -m tests.playthrough` after a wanted change."""
    title, record, text = read(path)
    assert playthrough(title, record) == text
    table = Table(record.deal, **record.rules.changes())
    for action in record.actions:
        table.act(action)
    winner, win_type = table.result()
    name = "nobody" if winner is None else winner
    score = f"{table.points(0)} : {table.points(1)}"
    assert f"\nwinner {name}, {win_type}, {score}\n" in text


def test_the_default_is_the_published_game_and_zero_is_a_value() -> None:
    """45 cards, hands of five, 48 actions, which cannot be changed; the last numbers that fit."""
    assert Rules() == STANDARD
    assert (len(STANDARD.deck), STANDARD.round_plies, STANDARD.game_plies) == (45, 12, 48)
    assert STANDARD.changes() == {}
    assert repr(STANDARD) == "Rules()"
    assert replace(STANDARD, set_bonus=4) == Rules(set_bonus=4)
    assert [field.name for field in fields(Rules)] == [*RULE_NAMES]
    with pytest.raises(AttributeError):
        STANDARD.take_size = 6  # type: ignore[misc]
    for changes in (
        *({"set_bonus": 0}, {"removed": 0, "opening_row": 5}, {"removed": 5, "opening_row": 0}),
        *({"majority_values": (0, 0, 0, 0)}, {"take_size": 8}),
        SHORT | {"rounds": 3, "removed": 28},
    ):
        rules = Rules(**changes)
        assert {name: getattr(rules, name) for name in changes} == changes
        assert rules.changes().keys() == changes.keys()
    for wrong, message in (
        *(({"set_bonsu": 4}, r"'set_bonsu'.*set_bonus"), ({"deck": b""}, "'deck'")),
        (["set_bonus"], "mapping"),
    ):
        with pytest.raises(RulesError, match=message):
            Rules.from_changes(wrong)


SHORT: dict[str, Any] = {"hand_size": 2, "take_size": 3, "opening_row": 5}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"removed": 2}, r"2 .*4 x 2 x .*5 .*2 = 44 .*45"),
        ({"rounds": 5}, "= 55 cards, but the copies add up to 45"),
        ({"copies": (6, 6, 7, 8, 4, 2, 1, 3, 4, 2, 3)}, "= 45 cards, but the copies add up to 46"),
        ({"take_size": 11}, r"forced take.* 2 .*5 - 1 .*11 = 0"),
        ({"take_size": 9}, r"round 2 .*forced take.* 0 .*5 - 1 .*9 = 0"),
        (
            SHORT | {"rounds": 4, "removed": 24},
            "^round 4 may have nothing left for a forced take: a row of 0 [+] 2 x hand_size 2 - 1 "
            "played - take_size 3 = 0$",
        ),
    ],
)
def test_numbers_that_do_not_fit_are_refused_with_the_sum(
    changes: dict[str, Any], message: str
) -> None:
    """Of the cards that are dealt, and of what is left for a forced take in each round."""
    with pytest.raises(RulesError, match=message):
        Rules(**changes)


@pytest.mark.parametrize("name", RULE_SETS)
def test_rules_come_back_from_their_changes_and_can_be_dealt(name: str) -> None:
    """Equal, with the same hash; hands, row, deck and removed have the sizes of the numbers."""
    rules = RULE_SETS[name]
    again = Rules.from_changes(rules.changes())
    assert again == rules
    assert hash(again) == hash(rules)
    assert eval(repr(rules)) == rules
    state = State(random_deal(Random(0), rules), rules)
    assert len(state.row) == rules.opening_row
    assert len(state.removed) == rules.removed
    assert len(state.deck) == (rules.rounds - 1) * 2 * rules.hand_size


LEAST = {"removed": 0, "opening_row": 0}
LEAST |= dict.fromkeys(("hand_size", "take_size", "rounds", "cities_needed"), 1)
COPIES = (5, 6, 7, 8, 4, 2, 1, 3, 4, 2, 3)
INVALID: dict[str, tuple[object, ...]] = {
    "hand_size": ("5", 5.0, True),
    "set_bonus": (None, 10**9),
    "tiebreak": ("eights", []),
    "copies": ((5, 6, 7, 8), 45, "56782345678"),
    "majority_values": ((5, 6, 7), (5, 6, 7, "8")),
}


def refusal(**changes: Any) -> str:
    """Return the message with which rules are refused, empty if they are accepted."""
    try:
        Rules(**changes)
    except RulesError as error:
        return str(error)
    return ""


def test_an_invalid_value_is_refused_by_name_and_a_number_just_outside_its_range() -> None:
    """From 0 or 1 to 1000, and up to 31 copies; a deal may still not fit."""
    for name, values in INVALID.items():
        for value in values:
            message = refusal(**{name: value})
            assert name in message
            assert repr(list(value) if isinstance(value, tuple) else value) in message
    for name, least in LEAST.items():
        for value in (least - 1, 1001):
            expected = f"{name} must be a whole number from {least} to 1000: {value}"
            assert refusal(**{name: value}) == expected
        for value in (least, 1000):
            assert "must be" not in refusal(**{name: value})
    for most in (31, 0):
        assert "the copies add up to" in refusal(copies=(most, *COPIES[1:]))
    for wrong in (32, -1, True, 5.0):
        message = refusal(copies=(wrong, *COPIES[1:]))
        expected = "copies must be 11 whole numbers from 0 to 31, for 5 6 7 8 2 3 4 x y z C: "
        assert message == f"{expected}{[wrong, *COPIES[1:]]}"


def test_a_wrong_value_is_shown_in_at_most_80_characters() -> None:
    """One of 79 characters is cut; Python prints no int of 5,000 digits, and no deep list."""
    for length, shown in ((78, f"'{'x' * 78}'"), (79, f"'{'x' * 79}...")):
        assert refusal(tiebreak="x" * length).partition(": ")[2] == shown
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    for name, value in (("removed", 10**5000), ("set_bonus", nested)):  # Python prints neither
        assert refusal(**{name: value}).endswith(": a value too long to print")


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
