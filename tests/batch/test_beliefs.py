"""What a seat believes of the opponent's hand, and best responses to a policy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest

from arena.batch.beliefs import Belief, Model
from arena.batch.lockstep import Lockstep
from arena.batch.positions import hands_by_keys
from arena.batch.rival import respond
from arena.batch.rollouts import WHOLE
from bots.apprentice import Apprentice, own_network
from bots.timing import bot as timing
from engine import STANDARD, Pack, Rules, State, View, hands, outcome, pack_of
from engine.play import setup
from engine.state import played, random_deal
from engine.view import view

APPRENTICE = Apprentice(own_network())
SMALL = Rules((2, 2, 1, 0, 0, 1, 0, 0, 0, 0, 1), 1, 2, 2, 2, 1)
LARGER = Rules((2, 2, 2, 1, 1, 1, 0, 1, 0, 0, 2), 4, 3, 2, 2, 1)


class Moment(NamedTuple):
    """A position of seat 0, what it sees, and the state at the beginning of the round."""

    state: State
    seen: View
    start: State


def moments(seed: int, other: Any, rules: Rules = STANDARD) -> Iterator[Moment]:
    """Yield the positions of seat 0 in a game of random actions against a strategy."""
    rng = Random(seed)
    state = State(random_deal(rng, rules), rules)
    while not state.over:
        if len(state.history) % rules.round_plies == 0:
            start = state.copy()
        seen = view(state, state.to_act)
        if state.to_act == 0:
            yield Moment(state, seen, start)
            state.apply(rng.choice(seen.legal))
        else:
            state.apply(other.choose(seen))


def by_hand(moment: Moment, strategy: Any, doubt: float) -> dict[Pack, float]:
    """Return the weights by Bayes' rule, hand by hand and ply by ply in the engine."""
    _, seen, start = moment
    theirs = pack_of(played(seen.history, seen.round - 1, 1, seen.rules))
    deals = dict(hands(view(start, 0)))
    weights = {}
    for hand, _ in hands(seen):
        world = start.copy()
        world.hands = [start.hands[0], hand + theirs]
        weight = float(deals[hand + theirs])
        for action in seen.history[len(start.history) :]:
            others = len(world.legal()) - 1
            if world.to_act == 1 and others:
                is_said = strategy.choose(view(world, 1)) == action
                weight *= 1 - doubt if is_said else doubt / others
            world.apply(action)
        weights[hand] = weight
    return weights


@pytest.mark.slow
@pytest.mark.parametrize("rules", [SMALL, STANDARD], ids=["small", "published"])
def test_a_belief_is_bayes_rule(rules: Rules) -> None:
    """Hand by hand in the engine, late in a round of the published game and always in a small."""
    strategy = timing(setup(0, 1, rules))
    checked = 0
    belief = Belief([Model(strategy.scores, 0.25)])
    for moment in moments(3, strategy, rules):
        belief.update(moment.seen)
        if len(belief.weights) > 400:
            continue  # it takes long, one by one
        expected = by_hand(moment, strategy, 0.25)
        found = dict(zip(belief.hands, belief.weights.tolist(), strict=True))
        assert found == pytest.approx(expected, rel=1e-12)
        checked += 1
    assert checked >= rules.rounds


def test_a_sample_has_the_weights_of_all() -> None:
    """Each hand as often as its weight says, a fraction up or down; few hands are all there."""
    belief = Belief([Model(APPRENTICE.scores)])
    belief.update(View.from_text("1 5678C xy T"))
    some, times = belief.sample(100)
    assert times.sum() == 100
    assert len(some) <= 100
    wanted = 100 * belief.weights / belief.weights.sum()
    drawn = np.zeros(len(wanted))
    drawn[some] = times
    assert (abs(drawn - wanted) < 1).all()
    every, weights = belief.sample(len(wanted))
    assert (every == np.arange(len(wanted))).all()
    assert weights / weights.sum() == pytest.approx(wanted / 100, abs=1e-6)


@pytest.mark.parametrize("rules", [SMALL, LARGER], ids=["small", "larger"])
def test_a_response_is_that_of_a_plain_search(rules: Rules) -> None:
    """In a round under small rules, where every action is tried: decision by decision."""
    strategy = timing(setup(0, 1, rules))
    for moment in moments(1, strategy, rules):
        belief = Belief([Model(strategy.scores)])
        belief.update(moment.seen)
        _, weights = belief.sample(10_000)
        policies = [not_asked, strategy.scores]  # the own one is not asked
        found = respond(belief.games, weights, 0, policies, Lockstep.results, 1 << 20)
        worlds = []
        for hand, weight in zip(belief.hands, weights.tolist(), strict=True):
            world = moment.state.copy()
            world.hands = [moment.state.hands[0], hand]
            worlds.append((world, weight))
        for action in moment.seen.legal:
            assert found[action] == search([(w.copy(), n) for w, n in worlds], action, strategy)


def not_asked(_games: Lockstep) -> Any:
    """Stand for the policy of a seat that tries every action."""
    raise AssertionError


def search(worlds: list[tuple[State, int]], action: int, strategy: Any) -> int:
    """Return what an action of seat 0 comes to, with the best ones afterwards."""
    after: dict[bytes, list[tuple[State, int]]] = defaultdict(list)
    total = 0
    for world, weight in worlds:
        world.apply(action)
        while not world.over and world.to_act == 1:
            world.apply(strategy.choose(view(world, 1)))
        if world.over:
            winner = outcome(world.piles, world.rules).winner
            total += weight * (WHOLE // 2 if winner is None else WHOLE * (winner == 0))
        else:
            after[world.history].append((world, weight))
    for some in after.values():
        total += max(
            search([(world.copy(), n) for world, n in some], each, strategy)
            for each in some[0][0].legal()
        )
    return total


def draw_hands(unseen: Any, sizes: Any, rng: np.random.Generator) -> Any:
    """Return a hand (kind, game) of so many unseen cards of each game."""
    keys = rng.random((unseen.shape[1], 1, int(unseen.sum(axis=0).max())))
    return hands_by_keys(unseen, sizes, keys)[..., 0]


def test_hands_are_drawn_from_unseen_cards_as_often_as_they_are_dealt() -> None:
    """Each card is in as many hands as its share of the unseen cards says."""
    unseen = np.zeros((11, 20_000), np.uint8)
    unseen[0], unseen[4], unseen[10] = 6, 3, 1
    sizes = np.full(20_000, 4)
    sizes[:10] = 0
    drawn = draw_hands(unseen, sizes, np.random.default_rng(1))
    assert (drawn.sum(axis=0) == sizes).all()
    assert (drawn <= unseen).all()
    wanted = 4 * unseen[:, 0] / 10
    assert drawn[:, 10:].mean(axis=1) == pytest.approx(wanted, abs=0.02)
