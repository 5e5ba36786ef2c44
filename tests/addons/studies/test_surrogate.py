"""What is expected of a score between the settings that were played, and how sure it is."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from arena.addons.studies.surrogate import CommonLuck, Deals, Surrogate
from arena.statistics.distributions import Floats

GRID = np.linspace(0, 1, 21)[:, None]


def smooth(luck: np.random.Generator) -> tuple[float, float, float]:
    """Return a random parabola."""
    return luck.uniform(-0.5, -0.1), luck.uniform(0.2, 0.8), luck.uniform(0.4, 0.6)


def value(parabola: tuple[float, float, float], points: Floats) -> Floats:
    """Return its values."""
    bend, peak, height = parabola
    return np.asarray(height + bend * (points[:, 0] - peak) ** 2)


@pytest.mark.slow
def test_intervals_cover_smooth_functions() -> None:
    """Of values, and of differences from one point: at least 93 % of 95 %, and not wide for it."""
    luck = np.random.default_rng(11)
    covered: list[bool] = []
    apart: list[bool] = []
    widths = []
    for _ in range(60):
        truth = smooth(luck)
        points = luck.random((12, 1))
        covariance = np.full((12, 12), 0.02**2) + 0.01**2 * np.eye(12)
        scores = value(truth, points) + luck.multivariate_normal(np.zeros(12), covariance)
        fitted = Surrogate(points, scores, covariance, [[0]])
        means, errors = fitted.predict(GRID)
        covered += [*(np.abs(means - value(truth, GRID)) < 1.96 * errors)]
        leads, lead_errors = fitted.compare(GRID, GRID[5])
        real = value(truth, GRID) - value(truth, GRID)[5]
        apart += [*(np.abs(leads - real) <= 1.96 * lead_errors + 1e-9)]
        widths.append(float(lead_errors.mean()))
    assert np.mean(covered) > 0.93
    assert np.mean(apart) > 0.93
    assert np.mean(widths) < 0.02


def test_errors_in_common_do_not_hide_a_difference() -> None:
    """Points that share their luck are told apart where as much luck of their own would not."""
    points, scores = np.array([[0.2], [0.8]]), np.array([0.5, 0.55])
    alone, together = (
        Surrogate(points, scores, covariance, [[0]]).compare(points[1:], points[0])
        for covariance in (0.05**2 * np.eye(2), 0.05**2 * np.array([[1, 0.99], [0.99, 1]]))
    )
    assert together[1][0] < 0.7 * alone[1][0]
    assert together[0][0] == pytest.approx(0.05, abs=0.005)  # what was seen
    assert alone[0][0] < 0.04  # what was seen may be luck


def test_draws_have_the_moments_of_the_posterior() -> None:
    """Means and spreads of many draws are those that are predicted."""
    luck = np.random.default_rng(4)
    points = luck.random((8, 1))
    fitted = Surrogate(points, value((-0.4, 0.5, 0.5), points), 0.02**2 * np.eye(8), [[0]])
    draws = fitted.draw(GRID, Random(5))
    values = np.array([next(draws) for _ in range(2000)])
    means, errors = fitted.predict(GRID)
    assert values.mean(axis=0) == pytest.approx(means, abs=0.004)
    assert values.std(axis=0) == pytest.approx(errors, rel=0.15, abs=2e-4)


def test_looking_ahead_prefers_what_can_change_the_choice() -> None:
    """More deals gain more, and a point that is surely worse gains nothing."""
    points = np.array([[0.0], [0.5], [1.0]])
    covariance = np.diag([0.001**2, 0.02**2, 0.02**2])
    fitted = Surrogate(points, np.array([0.2, 0.5, 0.5]), covariance, [[0]])
    ahead = fitted.look_ahead(points, Random(6), 400)
    few, many = (ahead.gain([1, 2], 0.1 / deals * np.eye(2)) for deals in (10, 1000))
    assert many > few > 0
    assert ahead.gain([0], 0.0001 * np.eye(1)) < few / 20


@pytest.mark.slow
def test_the_covariance_of_scores_on_common_deals_is_that_of_their_errors() -> None:
    """Simulated many times; the nearer two settings are, the more of their luck they share."""
    luck = np.random.default_rng(9)
    points = np.array([[0.0], [0.1], [0.5], [1.0]])
    distances = np.abs(points - points.T)
    true = 0.3**2 * (0.3 + 0.7 * np.exp(-distances / 0.2))
    means, claimed = [], []
    for _ in range(150):
        drawn = luck.multivariate_normal(np.full(4, 0.5), true, (2, 40)).transpose(2, 0, 1)
        one = Deals(points, drawn)
        means.append(one.means())
        claimed.append(CommonLuck([one]).of_round(one))
    seen = np.cov(np.array(means).T)
    assert np.mean(claimed, axis=0) == pytest.approx(seen, rel=0.3)
    assert np.mean(claimed, axis=0) == pytest.approx(true / 80, rel=0.12)
