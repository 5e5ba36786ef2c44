"""What a card adds is told apart from who was winning anyway."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from arena.statistics.distributions import Floats
from arena.tables.cards import Sample, _fit, _Takes, cross, dot, weigh
from arena.tables.run_games import read_batches
from engine import CITY, KINDS, STANDARD, TAKE, counts, points
from tests.tables.games import play, rows_of, tournament

EIGHT, BETRAYAL, SEVEN = 3, 9, 2
STATE = 16  # numbers of the state
PAIRS = 3_000


def sample(effects: dict[int, float], seed: int = 1, pairs: int = PAIRS) -> Sample:
    """Return takes of five cards, four in each game; the lead and the cards decide who wins.

    Who leads takes more 7s, and a 7 adds nothing.
    """
    rng = np.random.default_rng(seed)
    takes = 4 * PAIRS
    lead = rng.normal(0, 12, takes).round().astype(int)
    weights = np.ones((takes, 11))
    weights[:, SEVEN] += 4 * (lead > 0)
    below = weights.cumsum(axis=1) / weights.sum(axis=1, keepdims=True)
    chosen = (rng.random((takes, 5, 1)) > below[:, None]).sum(axis=2)
    cards = np.stack([(chosen == kind).sum(1) for kind in range(11)], axis=1)
    chance = 1 / (1 + np.exp(-lead / 10))
    for kind, effect in effects.items():
        chance = chance + effect * (cards[:, kind] - 5 / 11)
    won = rng.random(takes) < chance
    state = np.zeros((takes, STATE), np.int64)
    state[:, CITY] = lead
    made = Sample(np.array([PAIRS]), STANDARD)
    zeros = np.zeros(takes, np.int64)
    takes_of = _Takes(np.arange(takes) // 4, zeros, zeros, zeros, 2 * won, state, cards)
    made.keep(takes_of.choose(np.arange(pairs * 4)))
    made.games[0] = takes, takes
    return made


def adds(effects: dict[int, float], seed: int = 1) -> tuple[Floats, Floats, Floats]:
    found = worth_of_all(sample(effects, seed))
    return found["adds"], found["adds_low"], found["adds_high"]


def worth_of_all(takes: Sample) -> dict[str, Floats]:
    """Return the columns for all bots together, by kind."""
    found = takes.worth(2)
    assert {len(column) for column in found.values()} == {2 * len(KINDS)}
    return {name: column[-len(KINDS) :] for name, column in found.items()}


def test_a_card_adds_what_it_was_given() -> None:
    """An 8 adds 0.06 and a betrayal takes 0.06; others add about nothing."""
    mean, low, high = adds({EIGHT: 0.06, BETRAYAL: -0.06})
    assert mean[EIGHT] == pytest.approx(0.06, abs=0.02)
    assert mean[BETRAYAL] == pytest.approx(-0.06, abs=0.02)
    assert low[EIGHT] > 0.03
    assert high[BETRAYAL] < -0.03


def test_a_card_that_winners_take_adds_nothing_by_that() -> None:
    """Who takes a 7 wins more often, as the state before said; the 7 adds nothing."""
    worth = worth_of_all(sample({}))
    assert worth["won"][SEVEN] > 0.6
    assert worth["won"][SEVEN] == pytest.approx(worth["expected"][SEVEN], abs=0.02)
    assert worth["more_low"][SEVEN] < 0 < worth["more_high"][SEVEN]


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Of 8 samples and 11 cards each, about 5 % miss: at most 11 of 88 (chance 0.002)."""
    missed = 0
    for seed in range(8):
        _, low, high = adds({}, seed)
        missed += int(((low > 0) | (high < 0)).sum())
    assert missed <= 11


def test_with_few_pairs_nothing_is_said_of_single_cards() -> None:
    """Eleven kinds cannot be told apart in twenty pairs."""
    takes = sample({}, pairs=20)
    assert np.isnan(takes.worth(2)["adds"]).all()
    assert np.isfinite(worth_of_all(takes)["won"]).all()


def test_the_state_is_that_before_the_take() -> None:
    """Both piles as the taker sees them, the cities, and whether the other seat had taken."""
    cup = tournament(bots=2, pairs=4)
    games = [*play(cup)]
    (batch,) = read_batches(cup, rows_of(games))
    made = Sample(np.array([PAIRS]), STANDARD)
    made.add(batch)
    wanted = []
    for game in games:
        for before, after in pairwise(game.states):
            if after.history[-1] != TAKE:
                continue
            seat = before.to_act
            own, other = (counts(before.piles[place]) for place in (seat, 1 - seat))
            score, cities = points(before.piles), (own[CITY], other[CITY])
            wanted.append(
                [
                    *(mine - theirs for mine, theirs in zip(own[:CITY], other[:CITY], strict=True)),
                    score[seat] - score[1 - seat],
                    *cities,
                    *(held == 2 for held in cities),
                    before.taken[1 - seat],
                ]
            )
    (takes,) = made.takes()
    assert takes.state.tolist() == wanted
    assert sorted(set(takes.stage.tolist())) == [0, 1, 2, 3]


def test_the_model_is_the_likeliest() -> None:
    """The slope of the penalised likelihood is 0, also where a part of the rows comes first."""
    rng = np.random.default_rng(2)
    for rows in (50, 9_000):
        table = rng.normal(size=(rows, 5))
        results = (rng.random(rows) < 1 / (1 + np.exp(-table @ [2, -1, 0, 0.5, 0.1]))) * 1.0
        parts = [*zip(np.array_split(table, 7), np.array_split(results, 7), strict=True)]
        weights = _fit(partial(iter, parts), rows)
        share = 1 / (1 + np.exp(-table @ weights))
        assert table.T @ (results - share) == pytest.approx(weights, abs=1e-3)


@pytest.mark.slow
def test_products_in_parts_are_products() -> None:
    """With one part, with many, and with no row."""
    rng = np.random.default_rng(2)
    for rows in (0, 3, 256, 70_000):
        one, other = rng.normal(size=(2, rows, 4))
        assert cross(one, other) == pytest.approx(one.T @ other, abs=1e-8)
        assert weigh(one, other[:, 0]) == pytest.approx(one.T @ other[:, 0], abs=1e-8)
        assert dot(one, np.arange(4.0)) == pytest.approx(one @ np.arange(4.0))


@pytest.mark.slow
def test_memory_does_not_grow_with_the_games() -> None:
    """Of a game about 300 bytes are kept, not its takes of 600; the sample ends at its quota."""
    cup = tournament(bots=2, pairs=60)
    (batch,) = read_batches(cup, rows_of([*play(cup)]))
    made = Sample(np.array([PAIRS]), STANDARD)
    for first in range(0, 2 * PAIRS, cup.pairs):
        made.add(replace(batch, number=batch.number + first))
    assert made.games[0, 0] == 2 * PAIRS
    assert len(pickle.dumps(made)) < 400 * 2 * PAIRS


def test_the_order_in_which_pairs_come_changes_no_bit() -> None:
    """Whole, in pieces, and from the last piece to the first."""
    (takes,) = sample({EIGHT: 0.06}, pairs=1_000).takes()
    numbers = np.arange(4_000)
    found = []
    for pieces in ([numbers], np.split(numbers, 5), np.split(numbers, 5)[::-1]):
        made = Sample(np.array([PAIRS]), STANDARD)
        made.games[0] = 8 * PAIRS // 2
        for rows in pieces:
            made.keep(takes.choose(rows))
        found.append(pickle.dumps(made.worth(2)))
    assert found[0] == found[1] == found[2]
