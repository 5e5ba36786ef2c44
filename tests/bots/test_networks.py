"""Networks in whole numbers, and what a bot thinks of many games at once."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from itertools import islice, pairwise
from math import log
from random import Random
from types import ModuleType
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pytest

from arena.batch.lockstep import Lockstep, random_deals
from bots import apprentice, endgame, journeyman
from bots.apprentice import UNIT, WEIGHT, Network, read
from engine import STANDARD, Action, Rules, Setup, State, View, counts, hands, size
from engine.encoding import ACTIONS, VERSION, WORTHS, encoder_of, worths
from engine.play import setup
from engine.view import view
from tests.batch.test_last_round import some_at_each_ply
from tests.batch.test_lockstep import as_games
from tests.positions import RULE_SETS
from tests.positions import choices as some_choices
from tests.tiers import few

INPUTS = encoder_of(STANDARD).size + WORTHS


def views(number: int) -> list[View]:
    """Return views of the seat to act from random games, those with a choice."""
    return [*islice(some_choices(seed=3), number)]


def layers(*sizes: int) -> list[np.ndarray]:
    """Return layers of random whole numbers, with so many numbers between them."""
    rng = np.random.default_rng(1)
    made = []
    for rows, columns in pairwise(sizes):
        made.append(rng.integers(-9 * WEIGHT, 9 * WEIGHT, (rows, columns)))
        made.append(rng.integers(-UNIT * WEIGHT, UNIT * WEIGHT, columns))
    return made


def scored(made: list[np.ndarray], seen: View) -> list[int]:
    """Return the scores of a network by Python's own whole numbers, which never overflow."""
    units = [UNIT * int(n) for n in (*encoder_of(seen.rules).observation(seen), *worths(seen))]
    for place in range(0, len(made), 2):
        weights, offsets = made[place].tolist(), made[place + 1].tolist()
        sums = [
            sum(unit * row[column] for unit, row in zip(units, weights, strict=True)) + offset
            for column, offset in enumerate(offsets)
        ]
        units = [max(0, number) // WEIGHT for number in sums]
    return sums


def test_scores_are_exact_whole_numbers_and_the_policy_their_softmax() -> None:
    """However large the weights; of what is legal only, and UNIT * WEIGHT is 1."""
    made = layers(INPUTS, 40, 20, ACTIONS)
    network = Network(made, VERSION)
    for seen in views(20):
        assert network.scores(seen) == scored(made, seen)
    network = apprentice.own_network()
    for seen in views(30):
        scores, policy = network.scores(seen), network.policy(seen)
        assert policy.keys() == {*seen.legal}
        assert sum(policy.values()) == pytest.approx(1)
        first = seen.legal[0]
        for action in seen.legal:
            gap = (scores[action] - scores[first]) / (UNIT * WEIGHT)
            assert log(policy[action] / policy[first]) == pytest.approx(gap)


@pytest.mark.parametrize(
    ("made", "version", "message"),
    [
        (layers(INPUTS, 8, ACTIONS), 2, "weights for version 2 of the encoding, not 1"),
        (layers(INPUTS - 1, 8, ACTIONS), 1, r"weights of shape \(378, 8\), where 379 numbers"),
        (layers(INPUTS, 8, 11), 1, "scores of 11 actions, not of 12"),
        (layers(INPUTS, 8, ACTIONS)[:2] + layers(7, ACTIONS), 1, r"\(7, 12\), where 8 numbers"),
    ],
)
def test_weights_that_do_not_fit_are_refused(
    made: list[np.ndarray], version: int, message: str
) -> None:
    """One sentence says what does not fit."""
    content = io.BytesIO()
    arrays: dict[str, Any] = {f"layer{n}": layer for n, layer in enumerate(made)}
    np.savez(content, version=version, **arrays)
    with pytest.raises(ValueError, match=message):
        read(content.getvalue())


@pytest.mark.parametrize("module", [apprentice, journeyman])
def test_other_weights_are_another_bot(module: ModuleType) -> None:
    """Its source, which is its identity, has the hash of its weights."""
    with (
        mock.patch.object(module, "SHA256", "0" * 64),
        pytest.raises(ValueError, match="not the file whose sha256"),
    ):
        module.bot(Setup(Random(1), 0, STANDARD))


@pytest.mark.parametrize("number", few([10, 1000]))
def test_its_scores_choose_as_it_does(number: int) -> None:
    """Many games at once, also when both seats have taken; of the other hand the size is used."""
    own = journeyman.bot(setup(1, 0))
    late = sorted(some_at_each_ply(STANDARD, 2, seed=4), key=lambda one: -len(one.history))
    exact = endgame.Exact(STANDARD, size(STANDARD.pack), 10**9)
    seen = [*late, *views(200)][:number]
    games = as_games(seen)
    scores = own.scores(games)
    many = np.where(games.legal(), scores, -np.inf).argmax(axis=1).tolist()
    assert many == [own.choose(one) for one in seen]
    for one, row in zip(late[:number], scores, strict=False):
        values = exact.values if exact.best(one) else {}
        assert [row[action] for action in values] == pytest.approx([*values.values()], abs=1e-3)
    blind = games.select(np.arange(games.count))
    for game, one in enumerate(seen):
        *_, (other, _) = hands(one)
        blind.hands[one.opponent, :, game] = counts(other)
    assert (blind.hands != games.hands).any()
    assert (own.scores(blind) == scores).all()


BOTS = ("greedy", "majority", "city_hunter", "denier", "timing")
OTHERS: dict[str, dict[str, Any]] = {
    "greedy": {"patience": 3},
    "majority": {"patience": 0.1},
    "city_hunter": {"city": 0.7, "patience": 2},
    "denier": {"greed": 0.3, "patience": 1},
    "timing": {"patience": 0.7},
}
"""Other parameters for each bot, also whole numbers."""

ODD = {
    "one card a take": Rules(take_size=1),
    "long takes, dear sets": Rules(
        take_size=8, set_bonus=-7, cities_needed=2, majority_values=(0, 9, 2, 1)
    ),
    "many copies": Rules(copies=(31, 1, 31, 2, 31, 9, 31, 0, 31, 31, 4), removed=160),
    "unreachable cities": Rules(cities_needed=1000, hand_size=4, rounds=5, opening_row=2),
}
QUICK, ALL = 600, 10_000


class Moment(NamedTuple):
    """Some games at one ply, and the views of the seats to act, by game; those over have none."""

    games: Lockstep
    views: dict[int, View]


@cache
def moments(number: int, rules: Rules = STANDARD) -> list[Moment]:
    """Return at least so many views of games between all bots; one action in three is random."""
    count = -(-number // (rules.game_plies // 2))
    deals = random_deals(count, np.random.default_rng(number), rules)
    games = Lockstep(count, rules)
    games.begin(np.arange(count), deals)
    states = [State(deal.tobytes(), rules) for deal in deals]
    return list(_played(games, states))


def _played(games: Lockstep, states: list[State]) -> Iterator[Moment]:
    rng = Random(1)
    players = [strategy(name, games.rules) for name in BOTS]
    while not games.over.all():
        live = {n: state for n, state in enumerate(states) if not state.over}
        moment = Moment(games.select(np.arange(games.count)), {})
        actions = np.zeros(games.count, np.intp)
        for number, state in live.items():
            seen = moment.views[number] = view(state, state.to_act)
            player = players[(number + seen.seat * (1 + number // 5)) % len(players)]
            at_random = rng.random() < 1 / 3
            actions[number] = rng.choice(seen.legal) if at_random else player.choose(seen)
            state.apply(int(actions[number]))
        yield moment
        games.step(actions)


def strategy(name: str, rules: Rules = STANDARD, **params: Any) -> Any:
    return import_module(f"bots.{name}").bot(setup(0, 0, rules), **params)


def choices(strategy: Any, games: Lockstep) -> list[Action]:
    """Return the legal actions with the highest scores, the first among equals."""
    scores = strategy.scores(games)
    assert (scores.shape, scores.dtype) == ((games.count, 12), np.float64)
    actions: list[Action] = np.where(games.legal(), scores, -np.inf).argmax(axis=1).tolist()
    return actions


def differing(strategy: Any, seen: list[Moment]) -> list[View]:
    """Return the views in which the scores lead to another action than `choose`."""
    found = []
    for games, views in seen:
        many = choices(strategy, games)
        found += [one for game, one in views.items() if strategy.choose(one) != many[game]]
    return found


@pytest.mark.parametrize("number", [QUICK, pytest.param(ALL, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", BOTS)
def test_the_scores_choose_as_the_bot_does(name: str, number: int) -> None:
    """In every position, also with other parameters; what the seat cannot see is not used."""
    for games, _ in moments(QUICK):
        blind = games.select(np.arange(games.count))
        blind.hands[1 - blind.to_act, :, np.arange(games.count)] = 0
        blind.dealt[:] = 0
        assert (strategy(name).scores(blind) == strategy(name).scores(games)).all()
    seen = moments(number)
    assert sum(len(moment.views) for moment in seen) >= number
    assert not differing(strategy(name), seen)
    assert not differing(strategy(name, **OTHERS[name]), seen)


@pytest.mark.parametrize("rules", few([RULE_SETS["takes of four"], *ODD.values()], 2), ids=str)
@pytest.mark.parametrize("name", BOTS)
def test_they_do_so_under_other_rules(name: str, rules: Rules) -> None:
    """Also where takes are short or long, sets cost points, and cities are out of reach."""
    assert not differing(strategy(name, rules), moments(60, rules))
