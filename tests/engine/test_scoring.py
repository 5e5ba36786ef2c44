"""Points, golden games and counts: the engine and the plain second referee come to the same."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from engine import STANDARD, Record, Rules, State, breakdown, outcome
from engine.cards import TAKE, cards_of, count, to_text
from engine.notation import parse_cards
from engine.scoring import Piles, deals, majorities, sets
from tests.perft import REFEREES_MOST, engine_counts, entries, referee_counts
from tests.playthrough import FOLDER, playthrough
from tests.positions import DECK, RULE_SETS, dealt, pack, packs, random_game
from tests.referee import Table
from tests.tiers import few


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


def test_the_numbers_of_a_score_are_those_of_the_rules() -> None:
    """Majorities, cities that win, and ties of large totals."""
    rules = Rules(majority_values=(1, 2, 3, 4))
    first, second = breakdown(packs("55667788", "5678"), rules)
    assert first.majorities == (1, 2, 3, 4)
    assert second.majorities == (0, 0, 0, 0)
    rules = Rules(cities_needed=2)
    assert outcome(packs("8", "CC"), rules)[:2] == (1, "city")
    assert outcome(packs("CCC", "88"), rules)[:2] == (0, "city")
    assert outcome(packs("8", "CC"))[:2] == (0, "points")
    rules = Rules(majority_values=(1000, 1000, 0, 0))
    assert outcome(packs("5", "6"), rules) == (1, "tiebreak", (1000, 1000))
    assert outcome(packs("6", "5"), rules) == (0, "tiebreak", (1000, 1000))


GAMES = {"published": 500}
FEWER = 50


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
    for _ in range(GAMES.get(name, FEWER)):
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
    _, record, text = read(path)
    table = Table(record.deal, **record.rules.changes())
    for action in record.actions:
        table.act(action)
    winner, win_type = table.result()
    name = "nobody" if winner is None else winner
    score = f"{table.points(0)} : {table.points(1)}"
    assert f"\nwinner {name}, {win_type}, {score}\n" in text


def test_the_games_cover_every_kind_of_end_and_take() -> None:
    """City wins of both seats, a tie at every depth, a draw, forced and short takes."""
    assert len(FILES) >= 10
    ends = Counter[object]()
    forced = 0
    for path in FILES:
        _, record, text = read(path)
        state = record.replay()
        winner, win_type, _ = outcome(state.piles, record.rules)
        depth = None
        if win_type == "tiebreak":
            first, second = state.piles
            depth = next(k for k in (3, 2, 1, 0, 10) if count(first, k) != count(second, k))
        ends[win_type, winner if win_type == "city" else depth] += 1
        forced += len(re.findall(r"legal T,", text))
    assert {("city", 0), ("city", 1), ("draw", None)} <= set(ends)
    assert {("tiebreak", kind) for kind in (3, 2, 1, 0, 10)} <= set(ends)
    assert forced >= 8
    _, short_take, _ = read(FOLDER / "take_of_two_then_empty_row.txt")
    assert short_take.actions[0] == "T"  # of the opening row's two cards


ENTRIES = entries()
SHORT_FIRST = sorted(ENTRIES, key=lambda entry: sum(entry["sequences"]))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["what"])
def test_the_engine_counts_what_is_recorded(entry: dict[str, Any]) -> None:
    """Sequences and distinct positions, to the recorded depth."""
    record = Record.from_json(json.dumps(entry))
    counts = engine_counts(record, len(entry["sequences"]))
    assert [sequences for sequences, _ in counts] == entry["sequences"]
    assert [positions for _, positions in counts] == entry["positions"]


@pytest.mark.parametrize("entry", few(SHORT_FIRST, 5), ids=lambda entry: entry["what"])
def test_the_second_referee_counts_the_same(entry: dict[str, Any]) -> None:
    """As deep as it gets in about a second."""
    depth = sum(1 for sequences in entry["sequences"] if sequences <= REFEREES_MOST)
    assert depth >= 2
    counts = referee_counts(Record.from_json(json.dumps(entry)), depth)
    assert [sequences for sequences, _ in counts] == entry["sequences"][:depth]
    assert [positions for _, positions in counts] == entry["positions"][:depth]


def test_counts_worked_out_by_hand() -> None:
    """With hands of one kind, the only choice is when to take.

    Seat 0 plays or takes, then seat 1 does; it cannot take from a row just emptied.
    """
    record = Record(dealt("55555", "66666", "77", removed="CCC"), "")
    assert engine_counts(record, 2) == [(2, 2), (3, 3)]
