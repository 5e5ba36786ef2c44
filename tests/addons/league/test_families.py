"""What the bots of a panel have in common widens intervals, and only then."""

from __future__ import annotations

import numpy as np
import pytest

from arena.addons.league.league_ratings import shared_covariance
from arena.statistics.distributions import expit
from arena.statistics.ratings import ELO, Fit
from arena.statistics.two_bots import pair_scores
from bench.studies.fields import score_shares

PANEL = range(4)
BOTS = 24


def fitted(deviation: float, newcomer: range = PANEL) -> Fit:
    """Return the fit of a round robin in which each bot does so much better against the panel.

    For half of them it is worse; the last bot met only those of `newcomer`.
    """
    rng = np.random.default_rng(3)
    counts = {}
    for one in range(BOTS):
        for two in range(one + 1, BOTS):
            if two < BOTS - 1 or one in newcomer:
                lead = deviation * (-1) ** two if one in PANEL and two not in PANEL else 0.0
                shares = np.array(score_shares(float(expit(lead / ELO))))
                counts[one, two] = rng.multinomial(200, shares / shares.sum())
    scores = [pair_scores(*two, tuple(by.tolist())) for two, by in counts.items()]
    return Fit(BOTS, scores, known_spread=10.0)


def added(fit: Fit) -> np.ndarray:
    """Return the errors that are added, in Elo points."""
    return ELO * np.sqrt(np.diag(shared_covariance(fit, PANEL)))


def test_a_bot_that_met_the_panel_alone_has_the_error_of_a_family() -> None:
    """It is by how much bots deviate there, less what an equal round robin has of it."""
    apart, alike = added(fitted(0.0)), added(fitted(60.0))
    assert alike[-1] == pytest.approx(60 * (1 - len(PANEL) / (BOTS - 1)), rel=0.25)
    assert apart[-1] < alike[-1] / 4
    assert (alike[:-1] < alike[-1] / 4).all()


def test_nothing_is_added_where_all_met_equally() -> None:
    """Then what the panel has in common is a part of the truth."""
    everybody = added(fitted(60.0, range(BOTS)))
    assert (everybody < 2.0).all()


def test_a_league_without_others_adds_nothing() -> None:
    """A panel by itself, and one with a single bot beside it, have met equally."""
    for bots in (4, 5):
        scores = [
            pair_scores(one, two, (9, 0, 22, 0, 9)) for one in range(bots) for two in range(one)
        ]
        assert np.abs(shared_covariance(Fit(bots, scores, known_spread=10.0), PANEL)).max() < 1e-9
