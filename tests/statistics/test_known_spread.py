"""A fit with a known spread weighs a pairing by what it tells of its bots."""

from __future__ import annotations

import numpy as np
import pytest

from arena.statistics.ratings import ELO, Fit, PairScores


def even(bot: int, opponent: int, pairs: int, share: float = 0.5) -> PairScores:
    """Return pairs in which nobody won both games more often than luck has it."""
    total = 2 * pairs * share
    return PairScores(bot, opponent, pairs, total, total**2 / pairs + pairs * 0.5)


def test_a_misfit_with_many_pairs_does_not_outweigh_the_others() -> None:
    """Bot 0 beats 1 in many pairs, and is even with all others in some."""
    scores = [even(0, 1, 100_000, 0.6), *(even(0, other, 500) for other in range(2, 12))]
    scores += [even(a, b, 500) for a in range(1, 12) for b in range(a + 1, 12)]
    plain = Fit(12, scores).strengths
    known = Fit(12, scores, known_spread=38.0).strengths
    equal = Fit(
        12,
        [score._replace(pairs=500, total=500.0) for score in scores[1:]] + [even(0, 1, 500, 0.6)],
    ).strengths
    gaps = [abs(float((one - equal)[0])) * ELO for one in (plain, known)]
    assert gaps[1] < gaps[0] / 3


def test_without_a_spread_it_is_the_plain_fit() -> None:
    """All pairs weigh the same, whatever pairing they are of."""
    scores = [even(0, 1, 40, 0.6), even(1, 2, 900, 0.45), even(0, 2, 200)]
    plain, known = Fit(3, scores), Fit(3, scores, known_spread=0.0)
    assert np.allclose(plain.strengths, known.strengths, atol=1e-9)
    assert np.allclose(plain.covariance, known.covariance, rtol=1e-6)


def test_the_error_never_falls_below_what_few_opponents_leave_open() -> None:
    """A bot with one opponent of eleven has the spread in its rating, whatever it plays."""
    field = [even(a, b, 500) for a in range(1, 12) for b in range(a + 1, 12)]
    errors = []
    for pairs in (100, 1_000_000):
        fit = Fit(12, [even(0, 1, pairs), *field], known_spread=38.0)
        scale = fit.scale()
        errors.append(ELO * float(scale.errors(fit.full_covariance)[0]))
    assert errors[0] > errors[1] > 30


@pytest.mark.slow
def test_intervals_cover_where_results_spread_about_the_elo() -> None:
    """Bot 0 meets half of twenty bots, in pairings of very different sizes."""
    rng = np.random.default_rng(20261124)
    covered, runs, bots, spread = 0, 200, 20, 60.0
    for _ in range(runs):
        beyond = np.triu(rng.normal(0, spread / ELO, (bots, bots)), 1)
        beyond -= beyond.T
        scores = []
        for bot in range(bots):
            for other in range(bot + 1, bots):
                if bot or other <= bots // 2:
                    pairs = int(rng.choice([100, 1000])) if bot == 0 else 400
                    share = 1 / (1 + np.exp(-beyond[bot, other]))
                    won = rng.binomial(1, share, (2, pairs)).sum(axis=0)
                    scores.append(
                        PairScores(bot, other, pairs, float(won.sum()), float((won**2).sum()))
                    )
        truth = float(beyond[0].sum() / bots)
        fit = Fit(bots, scores, known_spread=spread)
        half = 1.96 * float(np.sqrt(fit.full_covariance[0, 0]))
        covered += abs(float(fit.strengths[0]) - truth) < half
    assert covered >= 0.91 * runs
