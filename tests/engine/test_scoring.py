"""Points, and the plain second referee, which agrees with the engine on thousands of games."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from engine import STANDARD, Rules, State, breakdown, outcome
from engine.cards import TAKE, cards_of, to_text
from engine.notation import parse_cards
from engine.scoring import Piles, deals, majorities, sets
from tests.positions import DECK, RULE_SETS, pack, packs, random_game
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


def test_equal_totals_are_a_tie_however_large_they_are() -> None:
    """1000 points for the 5s against 1000 for the 6s: the 6 breaks the tie."""
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
