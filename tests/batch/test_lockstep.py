"""Lockstep: the games of the engine, all at once."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from arena.addons.rl import DRAW, Encoding, Lockstep, find_worths, mask, random_deals
from engine import STANDARD, Rules, State, outcome
from engine.encoding import NEWEST, worths
from engine.view import view
from tests.addons.rl.ground_truth import VARIANTS
from tests.addons.rl.small_decks import SMALL_DECKS
from tests.positions import RULE_SETS
from tests.tiers import few

ALL_RULES = RULE_SETS | {f"few cards: {name}": rules for name, rules in SMALL_DECKS.items()}


def begin(count: int, rules: Rules = STANDARD, seed: int = 5) -> tuple[Lockstep, list[State]]:
    """Return games in lockstep, and the same ones in the engine."""
    deals = random_deals(count, np.random.default_rng(seed), rules)
    games = Lockstep(count, rules)
    games.begin(np.arange(count), deals)
    return games, [State(deal.tobytes(), rules) for deal in deals]


def check_same(games: Lockstep, states: list[State]) -> None:
    """Assert that all games stand as the engine's do, hidden hands included."""
    assert games.over.tolist() == [state.over for state in states]
    assert games.round.tolist() == [state.round - 1 for state in states]
    for number, state in enumerate(states):
        row = games.row[: games.length[number], number]
        assert row.tobytes() == state.row
        for seat in (0, 1):
            assert counted(games.hands[seat, :, number]) == state.hands[seat]
            assert counted(games.piles[seat, :, number]) == state.piles[seat]
        if not state.over:
            assert games.to_act[number] == state.to_act
            assert games.taken[:, number].tolist() == [*state.taken]


def counted(counts: np.ndarray) -> int:
    """Return the pack with these counts."""
    return sum(int(n) << 5 * kind for kind, n in enumerate(counts))


def check_seen(games: Lockstep, states: list[State], rules: Rules) -> None:
    """Assert that observations, masks and worths are those of the views."""
    encoding = Encoding(rules)
    observations, masks = games.observe()
    leads = find_worths(games)
    for number, state in enumerate(states):
        if state.over:
            assert not masks[number].any()
            continue
        seen = view(state, state.to_act)
        assert (observations[number] == encoding.observation(seen)).all()
        assert (masks[number] == mask(seen)).all()
        assert leads[number].tolist() == worths(seen)


def check_play(rules: Rules, count: int, seed: int) -> None:
    """Play random games in both, and compare them after every action."""
    games, states = begin(count, rules, seed)
    rng = Random(seed)
    while not games.over.all():
        check_seen(games, states, rules)
        actions = np.zeros(count, np.int64)
        for number, state in enumerate(states):
            if not state.over:
                actions[number] = rng.choice(state.legal())
                state.apply(int(actions[number]))
        games.step(actions)
        check_same(games, states)
    ended = [outcome(state.piles, rules).winner for state in states]
    winners = games.winners(np.arange(count))
    assert winners.tolist() == [DRAW if winner is None else winner for winner in ended]


@pytest.mark.parametrize("rules", few(ALL_RULES.values(), 1), ids=ALL_RULES)
def test_games_are_those_of_the_engine(rules: Rules) -> None:
    """Action by action: hands, rows, piles, what the seats know, and who wins."""
    check_play(rules, count=40, seed=6)


def test_decks_are_shorter_than_the_newest_cards_and_as_long() -> None:
    """Ten decks, the four games that docs/openspiel.md solves among them."""
    sizes = sorted(len(rules.deck) for rules in SMALL_DECKS.values())
    assert len(sizes) == 10
    assert sizes[0] < NEWEST - 5
    assert {NEWEST - 1, NEWEST, NEWEST + 1} <= {*sizes}
    assert SMALL_DECKS.items() >= VARIANTS.items()


def test_a_game_can_begin_anew_beside_the_others() -> None:
    """Its column only, whatever was in it."""
    games, states = begin(6)
    rng = Random(2)
    for ply in range(70):
        for number in np.flatnonzero(games.over):
            deal = random_deals(1, np.random.default_rng(100 + ply))
            games.begin(np.array([number]), deal)
            states[number] = State(deal.tobytes())
        actions = np.array([rng.choice(state.legal()) for state in states])
        for action, state in zip(actions, states, strict=True):
            state.apply(int(action))
        games.step(actions)
        check_same(games, states)
    assert len({state.round for state in states}) > 1


def test_a_game_that_is_over_is_left_as_it_is() -> None:
    """Whatever action stands in its place."""
    games, states = begin(2)
    rng = Random(3)
    while not games.over[0]:
        actions = [rng.choice(state.legal()) if not state.over else 0 for state in states]
        for action, state in zip(actions, states, strict=True):
            if not state.over:
                state.apply(action)
        games.step(np.array(actions))
    piles = games.piles[:, :, 0].copy()
    seat = games.to_act[0]
    for action in (0, 11):
        games.step(np.array([action, action])) if games.over[1] else None
    assert (games.piles[:, :, 0] == piles).all()
    assert games.to_act[0] == seat


def test_deals_are_shuffles_of_the_deck_by_the_generator() -> None:
    """Each holds every card; equal seeds give equal deals, and other seeds other ones."""
    deals = random_deals(50, np.random.default_rng(1))
    assert (np.sort(deals, axis=1) == np.frombuffer(STANDARD.deck, np.uint8)).all()
    assert (deals == random_deals(50, np.random.default_rng(1))).all()
    assert (deals != random_deals(50, np.random.default_rng(2))).any()
    assert len(np.unique(deals, axis=0)) == 50
