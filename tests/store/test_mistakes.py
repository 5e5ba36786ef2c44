"""Mistakes in words: the rules, position by position, and that each decision gets one phrase."""

from __future__ import annotations

import pytest

import arena
from arena.store.mistakes import DISPUTED, MISTAKES, describe_decision, name_mistake
from arena.tournament.judged import Judged
from engine import STANDARD, View
from engine.cards import CHARS
from engine.notation import parse_actions, parse_deal
from engine.state import State
from engine.view import view
from tests.tiers import few

GOLDEN = [
    ("0 5678C xy", "T", "5", "took betrayals"),
    ("0 678 56 5728", "T", "6", "took too early"),
    ("0 678C 56 57", "T", "6", "took one card early"),
    ("0 578C 56 67", "T", "5", "took one card early"),
    ("0 C 6C z7y2y64xTTC288Tx7668y88T8633y825", "C", "T", "left a win by City in reach"),
    ("0 5678C 2C", "C", "5", "left two cities in reach"),
    ("0 5678C 2C", "5", "T", "took too late"),
    ("0 5678C C5", "C", "T", "left two cities in reach"),
    ("0 5678C 52", "6", "T", "took too late"),
    ("0 567xC 52", "x", "7", "laid a betrayal too early"),
    ("0 567xC 52", "7", "C", "kept a city too long"),
    ("0 567xC 52", "C", "7", "gave a city"),
    ("0 567xC 52", "7", "x", "kept a betrayal too long"),
    ("0 567x2 52", "6", "7", "gave the card for a majority"),
    ("0 567x2 52", "2", "7", "gave an alliance"),
    ("0 567x2 52", "5", "7", "laid the wrong card"),
]
"""A view, the action, a better one, and what is wrong by hand."""


@pytest.mark.parametrize(("seen", "action", "better", "mistake"), GOLDEN)
def test_a_position_has_the_phrase_that_a_person_gives_it(
    seen: str, action: str, better: str, mistake: str
) -> None:
    """Both actions are legal; the rules look at the row, the piles and who can take."""
    position = View.from_text(seen)
    one, two = CHARS.index(action), CHARS.index(better)
    assert {one, two} <= {*position.legal}
    assert name_mistake(position, one, two) == mistake


def test_every_phrase_has_a_position() -> None:
    """And no position has a phrase that is not in the list."""
    assert {mistake for *_, mistake in GOLDEN} == {*MISTAKES}


@pytest.mark.parametrize("seed", few(range(4)))
def test_every_decision_of_a_game_has_exactly_one_phrase(seed: int) -> None:
    """For each better action that there may be, also where a game is read from its record."""
    record = arena.play("greedy", "uniform", seed=seed).record
    state, actions = State(parse_deal(record.deal), STANDARD), parse_actions(record.actions)
    for ply, played in enumerate(actions):
        seen = view(state, state.to_act)
        for better in {*seen.legal} - {played}:
            mistake = name_mistake(seen, played, better)
            assert MISTAKES.count(mistake) == 1
            chances = [int(action == better) for action in range(12)]
            one = Judged(ply, played, chances, 200_000, 50_000)
            unsure = one._replace(error=150_000)
            assert describe_decision(record.deal, record.actions, unsure) == DISPUTED
            assert describe_decision(record.deal, record.actions, one) == mistake
            assert name_mistake(View.from_text(seen.to_text()), played, better) == mistake
        state.apply(played)
