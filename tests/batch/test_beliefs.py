"""What a seat believes of the opponent's hand, whom a bot plays like, and best responses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations, product
from math import log
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest

import arena
from arena.batch.beliefs import Belief, Mix, Model
from arena.batch.lockstep import Lockstep
from arena.batch.rival import respond
from arena.batch.rollouts import WHOLE
from arena.runs.judge_games import fit_models
from arena.tournament.asking import Recorded
from bots.apprentice import Apprentice, own_network
from bots.grandmaster import Grandmaster
from bots.timing import bot as timing
from engine import STANDARD, Pack, Rules, Setup, State, View, cards_of, hands, outcome, pack_of
from engine.notation import parse_actions, parse_deal
from engine.play import setup
from engine.seeds import stream
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


def test_a_belief_is_the_same_after_any_other_view() -> None:
    """One ply later, earlier, of another hand, course or seat."""
    belief = Belief([Model(APPRENTICE.scores)])
    texts = ("1 5678C xy T", "1 578C xy T65", "1 578C xy 565", "1 5678C xy T", "1 6678C xy T")
    for text in (*texts, "0 5678C xy"):
        seen = View.from_text(text)
        new = Belief(belief.models)
        for each in (belief, new):
            each.update(seen)
        assert belief.hands == new.hands
        assert (belief.weights == new.weights).all()


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


def test_bots_are_known_by_their_moves() -> None:
    """Those that the arena knows, and one that plays at random like none of them."""
    bots = ("journeyman", "timing", "uniform")
    run = arena.run(bots, pairs=3, seed=65, progress=False)
    places = product(combinations(bots, 2), range(3), (0, 1))
    games = [run.game(*two, pair, seat) for two, pair, seat in places]
    recorded = [Recorded("", one.record.deal, one.record.actions) for one in games]
    models = fit_models(recorded, [one.seats for one in games])
    for known in bots[:2]:
        (likeliest, weight), *_ = models[known]
        assert (likeliest, weight > 0.8) == (known, True)
    assert sum(weight for _, weight in models["uniform"]) < 0.3


@pytest.mark.parametrize("plays", [True, False])
def test_hands_are_weighed_by_the_chances_of_an_action(plays: bool) -> None:
    """Of a policy with probability .8, and of any legal action: Bayes' rule."""

    def policy(games: Any) -> Any:
        scores = np.zeros((games.count, 12))
        scores[:, -1] = 1 if plays else -1  # a take
        return scores

    seen = View.from_text("1 5678C xy T")
    belief = Belief([Mix([policy], [0.8])])
    belief.update(seen)
    weights = dict(zip(belief.hands, belief.weights.tolist(), strict=True))
    start = View.from_text("1 5678C xy")
    for hand, ways in hands(start):
        chance = 0.8 * plays + 0.2 / (len({*cards_of(hand)}) + 1)
        assert weights[hand] == pytest.approx(ways * chance)


def test_a_second_judge_that_knows_the_opponent_knows_more_of_its_hand() -> None:
    """The hand that the opponent held is likelier than without a model of it."""
    record = arena.play("uniform", "journeyman", seed=65).record
    state = State(parse_deal(record.deal), STANDARD)
    plain, told = (Grandmaster(Setup(stream(65), 0, STANDARD)) for _ in range(2))
    told.expect({"journeyman": 0.97})
    gained = 0.0
    for action in parse_actions(record.actions):
        if state.to_act == 0:
            held = []
            for judge in (plain, told):
                judge.belief.update(seen := view(state, 0))
                chances = judge.belief.weights / judge.belief.weights.sum()
                held.append(chances[judge.belief.hands.index(state.hands[seen.opponent])])
            gained += log(held[1] / held[0])
        state.apply(action)
    assert gained > 1.0  # nats
