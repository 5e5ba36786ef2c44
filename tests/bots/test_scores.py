"""What a bot thinks of the actions of many games at once is what it thinks of each."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest

from arena.batch.lockstep import Lockstep, random_deals
from engine import STANDARD, Action, Rules, State, View
from engine.play import setup
from engine.view import view
from tests.positions import RULE_SETS
from tests.tiers import few

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
    """Return a new strategy of a bot."""
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
    """In every position of games between all bots, with their own parameters and with others."""
    seen = moments(number)
    assert sum(len(moment.views) for moment in seen) >= number
    assert not differing(strategy(name), seen)
    assert not differing(strategy(name, **OTHERS[name]), seen)


@pytest.mark.parametrize("rules", few([RULE_SETS["takes of four"], *ODD.values()], 2), ids=str)
@pytest.mark.parametrize("name", BOTS)
def test_they_do_so_under_other_rules(name: str, rules: Rules) -> None:
    """Also where takes are short or long, sets cost points, and cities are out of reach."""
    assert not differing(strategy(name, rules), moments(60, rules))


@pytest.mark.parametrize("name", BOTS)
def test_the_scores_use_what_the_seat_knows(name: str) -> None:
    """Without the other seat's hand and the cards to come they are the same."""
    for games, _ in moments(QUICK):
        before = strategy(name).scores(games)
        blind = games.select(np.arange(games.count))
        blind.hands[1 - blind.to_act, :, np.arange(games.count)] = 0
        blind.dealt[:] = 0
        assert (strategy(name).scores(blind) == before).all()
