"""The engine and the plain second referee agree, ply by ply, on thousands of games."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from engine import STANDARD, Rules, State, breakdown, outcome
from engine.cards import TAKE, cards_of, to_text
from engine.notation import parse_cards
from engine.scoring import Piles
from tests.positions import DECK, RULE_SETS, packs, random_game
from tests.referee import Table
from tests.tiers import few

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
