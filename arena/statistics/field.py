"""Rate the bots of a run by their labels, and find the results that misfit.

The fit predicts the score of every pairing. The residual is the observed score minus the predicted
one. Its standard error comes from the luck of the pairing's own pairs, less the part of it to which
the fit has adapted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import compress

import numpy as np
import pandas as pd

from arena.statistics.counts import NO_ANCHORS, Anchors, PairTotals, ScoreCounts
from arena.statistics.distributions import Floats, normal_below
from arena.statistics.intervals import LEVEL, Estimate, correct
from arena.statistics.ratings import ELO, MEAN, Fit, PairScores, Scale
from arena.statistics.verdicts import Verdict, Verdicts

_EXACT = 1e-3  # Elo points: half the interval of an anchor that is given as exact
_UNTESTED = 1e-6  # of a pairing's variance: a smaller residual variance counts as 0
_COLUMNS = ["bot", "opponent", "expected", "residual", "residual_z", "residual_q"]


class Field:
    """The rated bots, by label, in the order of the run; games against others are left out.

    `pairings` are two labels each. Anchors that are not rated are ignored. With `even` every
    pairing weighs the same (`Fit`); with `looks` verdicts are valid at every number of pairs.
    """

    def __init__(
        self,
        pairings: Sequence[tuple[str, str]],
        totals: Iterable[PairTotals],
        labels: Sequence[str],
        unrated: Collection[str] = (),
        anchors: Anchors = NO_ANCHORS,
        *,
        even: bool = False,
        looks: bool = False,
    ) -> None:
        self.looks = looks
        self.labels = [label for label in labels if label not in unrated]
        self.numbers: Mapping[str, int] = {label: n for n, label in enumerate(self.labels)}
        self.scores: list[PairScores] = []
        self.met: dict[tuple[int, int], ScoreCounts] = {}
        for number, pairs, total, squares, by_score in totals:
            bot, opponent = pairings[number]
            if bot in self.numbers and opponent in self.numbers:
                two = self.numbers[bot], self.numbers[opponent]
                self.scores.append(PairScores(*two, pairs, total, squares))
                self.met[two] = by_score
        self.fit = Fit(len(self.labels), self.scores, even=even)
        self.anchors = {self.numbers[one]: anchors[one] for one in anchors if one in self.numbers}

    @cached_property
    def scale(self) -> Scale:
        """The zero of the ratings; anchors are weighted by how precisely their Elo is known."""
        known = self.anchors.items()
        return self.fit.scale({bot: 1 / max(error, _EXACT) ** 2 for bot, (_, error) in known})

    @cached_property
    def verdicts(self) -> Verdicts:
        """The verdicts on every two bots."""
        return Verdicts(self.fit, self.met, looks=self.looks)

    def verdict(self, bot: str, opponent: str) -> Verdict | None:
        """Return the verdict on two bots, the leader first, in Elo; None if no games connect them.

        Its numbers are rounded, so that all that is derived from them agrees.
        """
        found = self.verdicts.of(self.numbers[bot], self.numbers[opponent])
        if found is None:
            return None
        lead = Estimate(*found[:3]).scaled(ELO, 1)
        return Verdict(*lead[:3], round(found.likely, 4), found.word)

    @property
    def groups(self) -> list[list[str]]:
        """The labels of the bots of each connected component of the graph of games."""
        numbers = self.fit.groups
        return [[*compress(self.labels, numbers == one)] for one in np.unique(numbers)]

    @cached_property
    def ratings(self) -> dict[str, Estimate]:
        """The rating of each bot, with simultaneous intervals."""
        elos, errors = np.full(len(self.labels), MEAN), np.zeros(len(self.labels))
        for bot, known in self.anchors.items():
            elos[bot], errors[bot] = known
        weights = self.scale.weights
        error = np.sqrt(weights**2 @ errors**2)
        value, *ends = self.verdicts.ratings(self.scale)
        rows = [weights @ elos + ELO * value]
        for side, end in zip((-1, 1), ends, strict=True):
            rows.append(rows[0] + side * np.hypot(ELO * (end - value), error))
        table = zip(self.labels, *(row.tolist() for row in rows), strict=True)
        return {label: Estimate(*row) for label, *row in table}

    def in_order(self) -> list[str]:
        """Return the labels, the strongest bot first; ties of rounded ratings by label."""
        return sorted(self.labels, key=lambda one: (-round(self.ratings[one].value, 1), one))

    def unbounded(self) -> Iterator[tuple[str, str, float | None, float | None]]:
        """Yield the bots whose interval lacks an end: label, reason, and both ends or None."""
        scale = self.scale
        scored = self.fit.scored
        for bot, (label, rating) in enumerate(self.ratings.items()):
            if scale.no_high[bot]:
                record = "unbeaten" + (" by the rest" if scored[:, bot].any() else "")
            elif scale.no_low[bot]:
                record = "winless" + (" against the rest" if scored[bot].any() else "")
            else:
                continue
            yield label, record, *rating.scaled(1, 1).cells[1:]


def make_residuals(field: Field) -> pd.DataFrame:
    """Return one row for each ordered pair of rated bots that met.

    `expected` is the share that the ratings predict, `residual` the observed share minus it.
    `residual_z` is the residual in standard errors, and `residual_q` its p-value corrected for many
    pairings; both are empty if a bot's rating depends on this pairing only. Source: Benjamini and
    Hochberg 1995 for the correction.
    """
    model, strengths = field.fit.model, field.fit.strengths
    labels = np.array(field.labels, dtype=object)
    bot, opponent = labels[model.first], labels[model.second]
    expected = model.shares(strengths)
    observed = np.array([score.total / (2 * score.pairs) for score in field.scores])
    z = _in_errors(field)
    q = correct(2 * normal_below(-np.abs(z)))
    columns = bot, opponent, expected, observed - expected, z, q
    own = pd.DataFrame(dict(zip(_COLUMNS, columns, strict=True)))
    theirs = own.assign(bot=opponent, opponent=bot, expected=1 - expected)
    theirs[["residual", "residual_z"]] = -own[["residual", "residual_z"]]
    return pd.concat([own, theirs], ignore_index=True)


def _in_errors(field: Field) -> Floats:
    """Return the standardised residual of each pairing; nan if the fit reproduces its score.

    The leverage is the part of a change in a pairing's score that the fitted score follows. So the
    residual's variance is spread x (1 - 2 leverage) + weight squared x the variance of the fitted
    gap.
    """
    model, strengths = field.fit.model, field.fit.strengths
    weights, information = model.weights(strengths), model.information(strengths)
    spreads = model.effects(strengths) * information
    first, second = model.first, model.second
    inverse = model.inverse(strengths)
    own = np.diag(inverse)
    leverage = weights * (own[first] + own[second] - 2 * inverse[first, second])
    variance = spreads * (1 - 2 * leverage)
    variance += (information * field.fit.gap_errors[first, second]) ** 2
    beyond = model.total - 2 * model.pairs * model.shares(strengths)
    tested = variance > _UNTESTED * spreads
    return np.where(tested, beyond / np.sqrt(np.where(tested, variance, 1.0)), np.nan)


def find_misfits(residuals: pd.DataFrame, labels: Sequence[str]) -> pd.DataFrame:
    """Return the pairings whose residual is significant, the worst first.

    Each is given from the side of the bot that `labels` name first.
    """
    places = {label: place for place, label in enumerate(labels)}
    found = residuals[residuals["residual_q"] < LEVEL]
    bot, opponent = found["bot"].map(places), found["opponent"].map(places)
    found = found.assign(_bot=bot, _opponent=opponent, _z=-found["residual_z"].abs())
    found = found[bot < opponent].sort_values(["_z", "_bot", "_opponent"])
    return found[_COLUMNS].reset_index(drop=True)
