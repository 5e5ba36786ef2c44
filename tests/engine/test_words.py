"""Positions and rules in plain words say all that a seat knows, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import TypeVar

import pytest

import engine
from engine import KINDS, STANDARD, TAKE, Pack, Rules, Seat, State, View, points
from engine.cards import MOST_COPIES, pack_of
from engine.notation import parse_actions, parse_deal
from engine.rules import first_seat
from engine.view import view
from engine.words import MOST, NAMES, describe, rules_text
from tests.positions import RULE_SETS, random_game
from tests.tiers import few

T = TypeVar("T")

LONG = {
    "many short rounds": Rules(
        copies=(31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31),
        removed=0, hand_size=1, opening_row=1, take_size=1, rounds=170, cities_needed=1000,
    ),
    "a long first row": Rules(
        copies=(31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31),
        removed=1, hand_size=1, opening_row=300, take_size=1, rounds=20, cities_needed=1000,
        majority_values=(1000, 999, 998, 997), set_bonus=-1000, tiebreak="supports",
    ),
    "a round of many cards": Rules(
        copies=(31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31),
        removed=0, hand_size=170, opening_row=1, take_size=1, rounds=1, cities_needed=31,
        majority_values=(1000, 999, 998, 997), set_bonus=-1000, tiebreak="supports",
    ),
    "long rounds": Rules(
        copies=(31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31),
        removed=1, hand_size=10, opening_row=0, take_size=4, rounds=17, cities_needed=31,
        majority_values=(1000, 999, 998, 997), set_bonus=-1000, tiebreak="supports",
    ),
}  # fmt: skip
"""Variants with as many cards as a deck can have, and with long numbers."""


def read(text: str) -> View:
    """Return the view that a text describes, each part read from its own sentence."""
    found = dict(line.split(": ", 1) for line in text.splitlines()[1:])
    turn = re.match(r"You are seat (\d)\. Round (\d+) of (\d+), (.*) first\. (.*)\.\n", text)
    assert turn
    seat = int(turn[1])
    changes = json.loads(found.pop("Changed rules", "{}.")[:-1])
    rules = Rules.from_changes(changes)
    assert turn[3] == str(rules.rounds)
    assert (turn[4] == "you") == (first_seat(int(turn[2]) - 1) == seat)
    row, *legend = found["The row, oldest first"].split(". ")
    read_some = _read_notation if legend else _read_names
    taken = re.match(r"you (no|yes), the opponent (no|yes)\.", found["Taken in this round"])
    assert taken
    seen = View(
        seat,
        tuple(_read_names(found["Legal actions"])),
        _read_pack(found["Your hand"]),
        read_some(row),
        _by_seat(
            seat, *(_read_pack(found[f"{whose} pile"]) for whose in ("Your", "The opponent's"))
        ),
        _by_seat(seat, taken[1] == "yes", taken[2] == "yes"),
        b"".join(_read_history(found, seat)),
        read_some(found["The row at the beginning"]),
        rules,
    )
    assert turn[2] == str(seen.round)
    acts = {None: "The game is over", seat: "It is your turn"}
    assert turn[5] == acts.get(seen.to_act, "It is not your turn")
    return seen


def _read_names(text: str) -> bytes:
    names = text.removesuffix(".")
    return b"" if names == "none" else bytes(map(NAMES.index, names.split(", ")))


def _read_notation(text: str) -> bytes:
    return parse_actions(text.removesuffix("."))


def _read_history(found: dict[str, str], seat: Seat) -> Iterator[bytes]:
    if "The actions, in turn" in found:
        yield _read_notation(found["The actions, in turn"])
    for name, actions in found.items():
        if first := re.match(r"Round (\d+), (you|the opponent) first", name):
            assert (first[2] == "you") == (first_seat(int(first[1]) - 1) == seat)
            yield _read_names(actions)


def _read_pack(text: str) -> Pack:
    cards = text.partition(".")[0]
    if cards == "none":
        return 0
    counts = [part.split(" of ") for part in cards.split(", ")]
    return pack_of(b"".join(bytes([NAMES.index(name)]) * int(n) for n, name in counts))


def _by_seat(seat: Seat, mine: T, theirs: T) -> tuple[T, T]:
    return (theirs, mine) if seat else (mine, theirs)


def positions(rules: Rules, games: int, seed: int = 1) -> Iterator[View]:
    """Yield the views of both seats at every ply of random games."""
    rng = Random(seed)
    for _ in range(games):
        deal, actions = random_game(rng, rules)
        state = State(parse_deal(deal, rules), rules)
        yield from (view(state, seat) for seat in (0, 1))
        for action in parse_actions(actions):
            state.apply(action)
            yield from (view(state, seat) for seat in (0, 1))


@pytest.mark.parametrize("name", [*few(RULE_SETS, 4), *few(LONG)])
def test_a_described_view_is_read_back_and_is_short(name: str) -> None:
    """At every ply of games of all phases, for the seat to act and for the other one."""
    rules, is_long = (RULE_SETS | LONG)[name], name in LONG
    for seen in islice(positions(rules, games=1 if is_long else 4), 0, None, 9 if is_long else 1):
        text = seen.describe()
        assert len(text) <= MOST, text
        assert read(text) == seen, text


def test_the_text_has_what_follows_from_the_view() -> None:
    """Points, the next take, the unseen cards and the number of hidden ones."""
    for seen in positions(STANDARD, 5, seed=2):
        text = seen.describe()
        mine, theirs = points(seen.piles)[:: -1 if seen.seat else 1]
        assert re.findall(r"(-?\d+) points now: majorities", text) == [str(mine), str(theirs)]
        for line in re.findall(r"points now: (.*)\.", text):
            assert sum(numbers(line)) in (mine, theirs)
        said = dict(line.split(": ", 1) for line in text.splitlines()[1:])
        assert _read_pack(said["A take would bring"]) == pack_of(seen.row[-5:])
        unseen = said["Unseen, held by the opponent, still to come or removed"]
        assert _read_pack(unseen) == seen.unseen
        assert said["The opponent's hand"] == f"{seen.opponent_cards} hidden cards."


def test_every_action_has_a_name_of_its_own() -> None:
    """And the names are those that the notation has, or say the value."""
    assert len({*NAMES}) == len(NAMES) == TAKE + 1
    assert [NAMES[kind] for kind in KINDS] == [*"5678", "+2", "+3", "+4", "-1", "-2", "-3", "City"]


def numbers(text: str) -> list[int]:
    """Return the numbers in a text."""
    return [int(number) for number in re.findall(r"-?\d+", text)]


@pytest.mark.parametrize("name", RULE_SETS)
def test_the_page_of_rules_has_the_numbers_of_the_rule_book(name: str) -> None:
    """Every number that a variant may change is in the line of its rule."""
    rules = RULE_SETS[name]
    title, *lines = rules_text(rules).splitlines()
    assert title.endswith("seat 0 and seat 1.")
    by_number = dict(line.split(". ", 1) for line in lines)
    assert [*by_number] == [f"R{number}" for number in range(1, 19)]
    said = by_number["R1"]
    assert numbers(said)[0] == len(rules.deck)
    for kind in KINDS:
        held = re.search(rf"(\d+) of {re.escape(NAMES[kind])}\b", said)
        assert (int(held[1]) if held else 0) == rules.copies[kind], NAMES[kind]
    assert numbers(by_number["R2"]) == [rules.removed, rules.opening_row]
    assert numbers(by_number["R6"]) == [rules.take_size]
    assert numbers(by_number["R10"]) == [rules.rounds, rules.hand_size, rules.hand_size + 1]
    assert numbers(by_number["R11"]) == [rules.cities_needed]
    values = [n for pair in zip(rules.majority_values, (5, 6, 7, 8), strict=True) for n in pair]
    assert numbers(by_number["R12"]) == values
    assert numbers(by_number["R13"])[-1] == rules.set_bonus
    assert ("cities" in by_number["R18"]) == (rules.tiebreak == "cities")


def test_the_rules_as_published_fit_on_a_page() -> None:
    """They are a constant of the engine."""
    assert rules_text() == engine.RULES_TEXT
    assert len(engine.RULES_TEXT) < 2_000


def test_no_position_can_have_a_longer_text() -> None:
    """Every part at its longest: more than any one position has, and still short enough."""
    copies = (MOST_COPIES,) * len(KINDS)
    rules = Rules(
        copies=copies, removed=100, hand_size=10, opening_row=1, take_size=10, rounds=12,
        cities_needed=1000, majority_values=(1000,) * 4, set_bonus=-1000, tiebreak="supports",
    )  # fmt: skip
    every = MOST_COPIES * pack_of(bytes(KINDS))
    twice = 2 * sum(copies)
    legal = tuple(range(TAKE + 1))
    known = (0, legal, every, bytes(twice), (every, every), (True, True), b"", b"", rules)
    assert len(describe(known, 170, 1, 170, every)) < MOST - 10
