"""Rollouts: worlds of a view, played on by policies, and what they come to."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from arena.batch.lockstep import Lockstep
from arena.batch.rollouts import WHOLE, action_values, best_legal, pick
from arena.errors import InputError
from bots.apprentice import Apprentice, own_network
from bots.champion import Champion, values_after
from engine import STANDARD, Rules, Setup, State, View, hands, outcome, pack_of
from engine.state import random_deal
from engine.view import view
from tests.batch.test_lockstep import check_same, check_seen, counted
from tests.positions import RULE_SETS
from tests.tiers import few

APPRENTICE = Apprentice(own_network())


def states(count: int, seed: int, plies: int | None = None, rules: Rules = STANDARD) -> list[State]:
    """Return states of random games, at a random ply or after so many."""
    rng = Random(seed)
    found: list[State] = []
    while len(found) < count:
        state = State(random_deal(rng, rules), rules)
        for _ in range(rng.randrange(rules.game_plies) if plies is None else plies):
            if not state.over:
                state.apply(rng.choice(state.legal()))
        if not state.over:
            found.append(state)
    return found


def views(count: int, seed: int, rules: Rules = STANDARD) -> list[tuple[State, View]]:
    """Return positions with what the seat to act sees."""
    return [(state, view(state, state.to_act)) for state in states(count, seed, rules=rules)]


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=RULE_SETS)
def test_the_world_with_the_true_hand_is_the_truth(rules: Rules) -> None:
    """It shows the same, and goes on as the game does to the end of the round."""
    rng = Random(3)
    for state, seen in views(40, seed=4, rules=rules):
        games = Lockstep.from_view(seen, [state.hands[seen.opponent]] * 2)
        while not games.over.all():
            check_same(games, [state, state])
            check_seen(games, [state, state], rules)
            action = rng.choice(state.legal())
            games.step(np.array([action, action]))
            state.apply(action)
        assert counted(games.piles[0, :, 0]) == state.piles[0]
        assert state.over or len(state.history) % rules.round_plies == 0


@pytest.mark.slow
def test_with_luck_the_rest_is_dealt_and_the_game_goes_to_its_end() -> None:
    """Every card is in one place, no place is always the same, and equal luck deals alike."""
    copies = np.array(STANDARD.copies)
    for _, seen in views(20, seed=5):
        held = [hand for hand, _ in hands(seen)][:50]
        games, again = (Lockstep.from_view(seen, held, np.random.default_rng(1)) for _ in "ab")
        assert (games.dealt == again.dealt).all()
        to_come = games.dealt[seen.round :].sum(axis=(0, 1))
        known = games.hands.sum(axis=0) + games.piles.sum(axis=0) + games.in_row + to_come
        assert (known <= copies[:, None]).all()
        assert (known.sum(axis=0) == 45 - STANDARD.removed).all()
        while not games.over.all():
            games.step(pick(games, APPRENTICE.scores))
        assert ((games.round == 3) | (games.piles[:, 10].max(axis=0) == 3)).all()
    first = Lockstep.from_view(seen_first(), [next(hands(seen_first()))[0]] * 400, luck(2))
    assert 20 < (first.dealt[3, 1, 3] == 0).sum() < 380


def luck(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def seen_first() -> View:
    return View.from_text("0 5678C xy")


def test_cards_are_dealt_as_often_as_they_are_left() -> None:
    """Of 38 unseen cards and a hand of five 8s, seven 7s are left among 33."""
    games = Lockstep.from_view(seen_first(), [pack_of(bytes([3] * 5))] * 4000, luck(3))
    share = games.dealt[1:, :, 2].sum() / games.dealt[1:].sum()
    assert share == pytest.approx(6 / 33, abs=0.005)


def test_a_hand_that_the_opponent_cannot_hold_is_told() -> None:
    """Too many cards, too few, or cards that are seen elsewhere."""
    for hand in ([3] * 4, [3] * 6, [10, 10, 10, 3, 3]):
        with pytest.raises(InputError, match="the opponent cannot hold it in 0 5678C xy"):
            Lockstep.from_view(seen_first(), [pack_of(bytes(hand))])


@pytest.mark.parametrize("count", few([300, 10_000], 1, 0))
def test_the_scores_of_apprentice_are_the_same_in_many_games(count: int) -> None:
    """All twelve, as whole numbers: so its actions are, on every machine."""
    found = views(count, seed=7)
    parts = [Lockstep.from_view(seen, [state.hands[seen.opponent]]) for state, seen in found]
    scores = APPRENTICE.scores(parts[0].join(parts[1:]))
    for row, (_, seen) in zip(scores.tolist(), found, strict=True):
        assert row == APPRENTICE.network.scores(seen)


def test_values_are_those_of_champion() -> None:
    """After a round by its table, after the game by the outcome, for seat 0."""
    champion = Champion(Setup(Random(1), 0, STANDARD))
    for plies in (12, 24, 36):
        for state in states(20, seed=8, plies=plies):
            state.round -= 1  # the round that has ended
            games = Lockstep.from_view(view(state, 0), [state.hands[1]])
            games.round -= 1
            assert values_after(games)[0] == pytest.approx(champion.value(state), abs=1e-12)
    games = Lockstep.from_view(seen_first(), [h for h, _ in hands(seen_first())][:64], luck(1))
    while not games.over.all():
        games.step(games.legal().argmax(axis=1))
    for number, value in enumerate(values_after(games)):
        winner = outcome((counted(games.piles[0, :, number]), counted(games.piles[1, :, number])))
        assert value == (0.5 if winner.winner is None else 1 - winner.winner)


@pytest.mark.slow
def test_the_value_of_an_action_is_that_of_the_round_played_on() -> None:
    """Ply by ply in the engine, with the strategy in both seats."""
    champion = Champion(Setup(Random(1), 0, STANDARD))
    for state, seen in views(12, seed=9):
        held = [state.hands[seen.opponent], next(hands(seen))[0]]
        found = action_values(seen, held, [APPRENTICE.scores] * 2, values_after)
        for row, action in zip(found.tolist(), seen.legal, strict=True):
            chances = [finish(state, hand, action, champion) for hand in held]
            own = [chance if seen.seat == 0 else 1 - chance for chance in chances]
            assert row == pytest.approx([WHOLE * chance for chance in own], abs=1)


def finish(state: State, hand: int, action: int, champion: Champion) -> float:
    """Return the value for seat 0 after an action and the rest of the round."""
    world = state.copy()
    world.hands = [*world.hands]
    world.hands[1 - state.to_act] = hand
    world.apply(action)
    while not world.over and len(world.history) % STANDARD.round_plies:
        world.apply(APPRENTICE.choose(view(world, world.to_act)))
    if not world.over:
        world.round -= 1
    return champion.value(world)


def test_the_first_of_equals_is_best_and_illegal_actions_are_not() -> None:
    """As a strategy's `max` over the legal actions."""
    scores = np.array([[9.0, 1.0, 2.0, 2.0], [0.0, 0.0, 0.0, 0.0]])
    assert best_legal(scores, np.array([[0, 1, 1, 1], [0, 0, 1, 1]])).tolist() == [2, 2]
