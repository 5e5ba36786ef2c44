"""Apprentice and journeyman: whole numbers, own weights, open hands, and a plain rule elsewhere."""

from __future__ import annotations

import io
from functools import cache
from itertools import pairwise
from math import log
from random import Random
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np
import pytest

from arena.batch.lockstep import Lockstep
from bots import apprentice, endgame, journeyman
from bots.apprentice import UNIT, WEIGHT, Apprentice, Network, read
from engine import STANDARD, Rules, Setup, State, View, counts, hands, size
from engine.encoding import ACTIONS, VERSION, WORTHS, encoder_of, worths
from engine.play import setup
from engine.state import random_deal
from engine.view import view
from tests.batch.test_last_round import some_at_each_ply

INPUTS = encoder_of(STANDARD).size + WORTHS


def views(number: int, rules: Rules = STANDARD) -> list[View]:
    """Return views of the seat to act from random games, those with a choice."""
    rng = Random(3)
    found: list[View] = []
    while len(found) < number:
        state = State(random_deal(rng, rules), rules)
        while not state.over:
            if len(state.legal()) > 1:
                found.append(view(state, state.to_act))
            state.apply(rng.choice(state.legal()))
    return found[:number]


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


def test_scores_are_exact_whole_numbers() -> None:
    """However large the weights: no order of adding can change an action."""
    made = layers(INPUTS, 40, 20, ACTIONS)
    network = Network(made, VERSION)
    for seen in views(20):
        assert network.scores(seen) == scored(made, seen)


def test_the_best_legal_action_is_played() -> None:
    """The highest score among the legal ones, whatever the others have."""
    network = mock.Mock()
    for seen in views(30):
        for best in seen.legal:
            network.scores.return_value = [9.0 * (n not in seen.legal) for n in range(ACTIONS)]
            network.scores.return_value[best] = 1.0
            assert Apprentice(network).choose(seen) == best


def test_the_policy_is_the_softmax_of_the_legal_scores() -> None:
    """A score of UNIT * WEIGHT is 1; what is illegal has no part in it."""
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


@cache
def late() -> list[View]:
    """Return views of last rounds, more of the later plies than of the first two."""
    return some_at_each_ply(STANDARD, 2, seed=4)


@cache
def exact_values() -> list[dict[int, float]]:
    """Return the values that `endgame` finds in the late views, where there is a choice."""
    exact = endgame.Exact(STANDARD, size(STANDARD.pack), 10**9)
    return [exact.values.copy() if exact.best(seen) else {} for seen in late()]


def as_games(seen: list[View]) -> Lockstep:
    """Return a game for each view; the opponent's hand is any that fits."""
    games = [Lockstep.from_view(one, [next(hands(one))[0]]) for one in seen]
    return games[0].join(games[1:])


def test_before_the_last_round_it_plays_by_its_own_network() -> None:
    """At every decision; some are not those of apprentice."""
    own, plain = journeyman.bot(setup(1, 0)), apprentice.bot(setup(1, 0))
    network = Apprentice(journeyman.own_network())
    seen = [one for one in views(100) if one.round < STANDARD.rounds]
    assert len(seen) > 50
    played = [own.choose(one) for one in seen]
    assert played == [network.choose(one) for one in seen]
    assert played != [plain.choose(one) for one in seen]


@pytest.mark.slow
def test_in_it_the_best_action_is_played_and_of_equal_ones_that_of_the_network() -> None:
    """The best ones are those of `endgame`; some choices are not the network's."""
    own, network = journeyman.bot(setup(1, 0)), journeyman.own_network()
    tied = differ = 0
    for seen, values in zip(late(), exact_values(), strict=True):
        top = max(values.values(), default=0)
        best = [action for action in seen.legal if not values or values[action] == top]
        scores = network.scores(seen)
        assert own.choose(seen) == max(best, key=scores.__getitem__)
        tied += 1 < len(best) < len(seen.legal)
        differ += own.choose(seen) != max(seen.legal, key=scores.__getitem__)
    assert tied
    assert differ


@pytest.mark.slow
def test_its_scores_choose_as_it_does() -> None:
    """Many games at once, in all rounds, also when both seats have taken; the values are exact."""
    own = journeyman.bot(setup(1, 0))
    seen = [*late(), *views(200)]
    games = as_games(seen)
    scores = own.scores(games)
    many = np.where(games.legal(), scores, -np.inf).argmax(axis=1).tolist()
    assert many == [own.choose(one) for one in seen]
    for values, row in zip(exact_values(), scores, strict=False):
        assert [row[action] for action in values] == pytest.approx([*values.values()], abs=1e-3)


def test_its_scores_use_what_the_seat_knows() -> None:
    """Without the other seat's hand they are the same as long as its size is known."""
    games = as_games(late())
    blind = games.select(np.arange(games.count))
    for seen, game in zip(late(), range(games.count), strict=True):
        *_, (other, _) = hands(seen)
        blind.hands[seen.opponent, :, game] = counts(other)
    assert (blind.hands != games.hands).any()
    own = journeyman.bot(setup(1, 0))
    assert (own.scores(blind) == own.scores(games)).all()
