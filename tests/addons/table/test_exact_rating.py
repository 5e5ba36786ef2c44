"""The rating of one player by few games: numbers by hand, and how often the interval is right."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from arena.addons.table.own_games import Met, rate_exactly
from arena.entries.catalogue import STRENGTHS
from arena.statistics.sprt import share_of
from tests.tiers import few

ELOS = [strength.elo for strength in STRENGTHS]
COVERED = 0.95


def elo_of_share(share: float, opponent: float) -> float:
    """Return the Elo with which a player wins this share against an opponent."""
    return opponent + 400 * math.log10(share / (1 - share))


def test_one_opponent_gives_the_interval_of_clopper_and_pearson() -> None:
    """6 of 10: a share of 0.262 to 0.878, as tables of the exact interval have it."""
    value, low, high = rate_exactly([Met(1400, 6, 0, 4)])[:3]
    assert value == pytest.approx(elo_of_share(0.6, 1400))
    assert low == pytest.approx(elo_of_share(0.26238, 1400), abs=0.1)
    assert high == pytest.approx(elo_of_share(0.87845, 1400), abs=0.1)


def test_who_has_won_all_is_rated_at_least() -> None:
    """Three wins are as unlikely as 2.5 % where one has a chance of 0.025 ** (1/3)."""
    value, low, high = rate_exactly([Met(1400, 3, 0, 0)])[:3]
    assert math.isnan(value)
    assert low == pytest.approx(elo_of_share(0.025 ** (1 / 3), 1400))
    assert high == math.inf
    value, low, high = rate_exactly([Met(1400, 0, 0, 3)])[:3]
    assert (math.isnan(value), low) == (True, -math.inf)
    assert high == pytest.approx(elo_of_share(1 - 0.025 ** (1 / 3), 1400))


def test_no_game_says_nothing() -> None:
    """Also with opponents that were not met, and a single draw gives no end."""
    for met in ([], [Met(1400, 0, 0, 0)]):
        assert [*map(math.isfinite, rate_exactly(met)[:3])] == [False] * 3
    assert rate_exactly([Met(1400, 0, 1, 0)])[:3] == pytest.approx((1400, -math.inf, math.inf))


def test_a_draw_is_worth_half_and_makes_no_end_nearer() -> None:
    """The likeliest Elo is between those with a win and with a loss; the ends hold for both."""
    lost, drawn, won = (
        rate_exactly([Met(1400, 4 + (one == 2), one == 1, 3 + (one == 0)), Met(1600, 1, 0, 2)])
        for one in range(3)
    )
    assert lost.value < drawn.value < won.value
    assert (drawn.low, drawn.high) == (lost.low, won.high)


def test_strong_opponents_count_for_more() -> None:
    """The same points against stronger ones, each 100 Elo points, are 100 Elo points more."""
    weak, strong = (
        rate_exactly([Met(1200 + more, 3, 0, 2), Met(1300 + more, 1, 0, 4)]) for more in (0, 100)
    )
    assert strong[:3] == pytest.approx([end + 100 for end in weak[:3]])


@pytest.mark.parametrize("games", few([1, 3, 5], 2, 0))
@pytest.mark.parametrize("elo", [1000, 1450, 1900])
def test_the_interval_is_right_in_95_of_100_cases(games: int, elo: float) -> None:
    """Counted over all results of so many games against three strengths, without any luck."""
    opponents = ELOS[1::3]
    covered = 0.0
    for wins in np.ndindex(*[games + 1] * len(opponents)):
        likely = 1.0
        for opponent, won in zip(opponents, wins, strict=True):
            share = share_of(elo - opponent)
            likely *= math.comb(games, won) * share**won * (1 - share) ** (games - won)
        found = rate_exactly(
            [Met(one, won, 0, games - won) for one, won in zip(opponents, wins, strict=True)]
        )
        covered += likely * (found.low <= elo <= found.high)
    assert COVERED <= covered <= 1


Choice = Callable[[int, list[int], Random], int]
CHOICES: dict[str, Choice] = {
    "up after a win, down after a loss": lambda now, _, __: now,
    "the weakest not yet beaten": lambda _, won, __: next(
        (place for place, wins in enumerate(won) if not wins), len(won) - 1
    ),
    "any": lambda _, won, rng: rng.randrange(len(won)),
}


def rate_by(choice: Choice, elo: float, games: int, rng: Random, spread: float = 0.0) -> bool:
    """Play games against the strengths that a player chooses; return whether the Elo is covered.

    Against each of them the player is stronger or weaker than its Elo says, by `spread` points.
    """
    own = [elo + rng.gauss(0, spread) for _ in ELOS]
    won, lost, now = [0] * len(ELOS), [0] * len(ELOS), 0
    for _ in range(games):
        now = choice(now, won, rng)
        wins = rng.random() < share_of(own[now] - ELOS[now])
        (won if wins else lost)[now] += 1
        now = min(max(now + (1 if wins else -1), 0), len(ELOS) - 1)
    met = [Met(one, *of_one) for one, *of_one in zip(ELOS, won, [0] * len(ELOS), lost, strict=True)]
    found = rate_exactly(met)
    return found.low <= elo <= found.high


@pytest.mark.study
@pytest.mark.parametrize("games", [3, 10, 40])
@pytest.mark.parametrize("choice", CHOICES)
def test_it_is_right_whoever_chooses_the_opponents(choice: str, games: int) -> None:
    """People play a stronger bot after a win: 2,000 players of each kind, at most 5.5 % wrong."""
    rng, players = Random(games), 2000
    elos = [rng.uniform(1000, 1900) for _ in range(players)]
    right = sum(rate_by(CHOICES[choice], elo, games, rng) for elo in elos)
    assert right / players >= COVERED - 0.005


@pytest.mark.study
def test_it_is_nearly_right_where_results_are_not_what_the_elo_says() -> None:
    """With the 19 points of docs/ladder.md, after 160 games: 1,000 players, at most 7 % wrong."""
    rng, players = Random(1), 1000
    choice = CHOICES["up after a win, down after a loss"]
    right = sum(rate_by(choice, rng.uniform(1000, 1900), 160, rng, 19) for _ in range(players))
    assert right / players >= COVERED - 0.02
