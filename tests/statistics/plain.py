"""Ratings with plain intervals, each for itself, as they are worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arena.statistics.intervals import Z95, Estimate
from arena.statistics.ratings import ELO, Fit, PairScores


def fit(
    bots: int, scores: Sequence[PairScores], anchor: tuple[int, float] | None = None
) -> list[Estimate]:
    """Return the rating of every bot, with 1.96 errors on each side."""
    fitted = Fit(bots, scores)
    scale = fitted.scale(anchor[0] if anchor else None)
    elo = fitted.zero(anchor) + ELO * scale.move(fitted.strengths)
    half = Z95 * ELO * scale.errors(fitted.full_covariance)
    low = np.where(scale.no_low, -np.inf, elo - half)
    high = np.where(scale.no_high, np.inf, elo + half)
    return list(map(Estimate, elo.tolist(), low.tolist(), high.tolist()))
