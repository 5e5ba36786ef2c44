"""The bare loop of the benchmarks plays the same game as the engine."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import gymnasium
import pytest

from arena.addons.rl.vector import DistrictNoirVectorEnv
from bench import bare
from bench.gym import VECTORS, stepping
from bench.summary import measure
from engine import State
from engine.cards import cards_of
from engine.play import playout
from engine.scoring import outcome
from engine.state import random_deal


def test_the_bare_loop_scores_as_the_engine_does() -> None:
    """Winner, win type and points of 3,000 pairs of piles are equal."""
    rng = Random(2)
    for _ in range(3000):
        state = State(random_deal(rng))
        playout(state, rng)
        expected = outcome(state.piles)
        if expected.win_type != "city":
            piles = [list(cards_of(pile)) for pile in state.piles]
            assert bare.score(*piles) == expected


def test_the_bare_loop_ends_its_games_as_random_play_does() -> None:
    """Win types and winners are as frequent, within four standard errors."""
    games, rng = 6000, Random(3)
    ours, theirs = Counter[object](), Counter[object]()
    for _ in range(games):
        state = State(random_deal(rng))
        playout(state, rng)
        for tally, result in ((ours, outcome(state.piles)), (theirs, bare.play(rng))):
            tally[result.win_type] += 1
            tally[result.winner] += 1
    for what in ("city", "points", 0, 1):
        error = (2 * ours[what] * (games - ours[what]) / games) ** 0.5
        assert theirs[what] == pytest.approx(ours[what], abs=4 * error)


@pytest.mark.parametrize("options", [options for _, options, _ in VECTORS], ids=str)
def test_the_vectors_of_the_benchmark_are_what_make_vec_returns(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are made by Gymnasium, and some of their games end at any time."""
    made = []
    make_vec = gymnasium.make_vec
    monkeypatch.setattr(
        gymnasium,
        "make_vec",
        lambda *args, **named: made.append(make_vec(*args, **named)) or made[-1],
    )
    step = stepping(480, options)
    assert [(type(games), games.num_envs) for games in made] == [(DistrictNoirVectorEnv, 480)]
    ends = [int(step().sum()) for _ in range(48)]
    assert min(ends) > 0
    assert max(ends) < 60
    assert sum(ends) > 400


def test_a_run_that_is_made_up_has_all_its_games() -> None:
    """The summary's benchmark measures a round robin of whole pairs."""
    games, tables, files, busy, memory = measure(4, 3)
    assert games == 4 * 3 // 2 * 3 * 2
    assert 0 < tables < files
    assert busy > 0
    assert memory > 10
