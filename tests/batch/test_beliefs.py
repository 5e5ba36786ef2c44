"""What a seat believes of the opponent's hand, and best responses to a policy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from math import prod
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest

from arena.batch.beliefs import Belief, Model, packs_of
from arena.batch.lockstep import Lockstep, random_deals
from arena.batch.positions import hands_by_keys
from arena.batch.rival import BestResponse, respond
from arena.batch.rollouts import WHOLE
from bots.apprentice import UNIT, WEIGHT, Apprentice, own_network
from bots.apprentice import Network as PolicyNetwork
from bots.champion import values_after
from bots.timing import bot as timing
from engine import (
    STANDARD,
    Pack,
    Rules,
    State,
    View,
    hands,
    outcome,
    pack_of,
)
from engine.encoding import ACTIONS
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


SCALE = UNIT * WEIGHT
DEALS = np.zeros((0, 0), np.uint8)
COPIES = np.array(STANDARD.copies)[:, None]


def draw_hands(unseen: Any, sizes: Any, rng: np.random.Generator) -> Any:
    """Return a hand (kind, game) of so many unseen cards of each game."""
    keys = rng.random((unseen.shape[1], 1, int(unseen.sum(axis=0).max())))
    return hands_by_keys(unseen, sizes, keys)[..., 0]


def rival(network: Apprentice, seed: int = 1) -> BestResponse:
    """Return the best response to a network."""
    return BestResponse(network.scores, values_after, SCALE, np.random.default_rng(seed))


def walk(games: Lockstep, one: BestResponse, plies: int) -> None:
    """Play so many random legal actions, which the rival follows."""
    rng = np.random.default_rng(7)
    for _ in range(plies):
        odds = np.where(games.legal() > 0, rng.random((games.count, ACTIONS)), -1)
        one.follow(games, odds.argmax(axis=1))
        games.step(odds.argmax(axis=1))


def begun(count: int) -> Lockstep:
    """Return games on deals."""
    games = Lockstep(count)
    games.begin(np.arange(count), random_deals(count, np.random.default_rng(count)))
    return games


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


@pytest.mark.parametrize("plies", [0, 3, 12, 17])
def test_it_does_not_look_at_the_other_hand(plies: int) -> None:
    """Other cards of the other seat change no choice."""
    games = begun(6)
    network = Apprentice(own_network())
    choices = []
    for is_other in (False, True):
        one, twin = rival(network), games.select(np.arange(6))
        seat = (plies + plies // 12) % 2
        one.begin(DEALS, seat)
        walk(twin, one, plies)
        if is_other:
            free = COPIES - twin.hands[0] - twin.hands[1] - twin.piles.sum(axis=0) - twin.in_row
            sizes = twin.hands[1 - seat].sum(axis=0)
            drawn = draw_hands(free.astype(np.uint8), sizes, np.random.default_rng(3))
            assert (drawn != twin.hands[1 - seat]).any()
            twin.hands[1 - seat] = drawn
        choices.append(one.choose(twin).tolist())
    assert choices[0] == choices[1]


def test_a_hand_weighs_as_much_as_what_was_played_is_likely_with_it() -> None:
    """View by view in the engine, the product of the policy's chances."""
    network = own_network()
    deal = random_deals(1, np.random.default_rng(4))
    games = Lockstep(1)
    games.begin(np.zeros(1, np.intp), deal)
    one = rival(Apprentice(network))
    one.begin(DEALS, 1)
    state = State(bytes(deal[0]))
    states = [state.copy()]
    for _ in range(4):
        seen = view(state, state.to_act)
        action = seen.legal[-1 if len(seen.legal) < 5 else 1]
        one.follow(games, np.array([action]))
        games.step(np.array([action]))
        state.apply(action)
        states.append(state.copy())
    theirs = pack_of(played(state.history, 0, 0, STANDARD))
    unseen = (COPIES - games.hands[1] - games.piles.sum(axis=0) - games.in_row).astype(np.uint8)
    sizes = np.repeat(games.hands[0].sum(axis=0), 20)
    hands = draw_hands(unseen.repeat(20, axis=1), sizes, np.random.default_rng(2))
    found = one._chances(np.zeros(20, np.intp), hands)
    for hand, chance in zip(packs_of(hands).tolist(), found.tolist(), strict=True):
        assert chance == pytest.approx(prod(chances(network, states, hand + theirs)), rel=1e-9)


def chances(network: PolicyNetwork, states: list[State], hand: int) -> list[float]:
    """Return the chance of each action of seat 0 with this hand at the beginning."""
    found = []
    world = states[0].copy()
    world.hands = [hand, world.hands[1]]
    for action in states[-1].history:
        if world.to_act == 0:
            seen: View = view(world, 0)
            found.append(network.policy(seen)[action])
        world.apply(action)
    return found
