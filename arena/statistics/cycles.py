"""Rate the bots of a run, find results that misfit, and cycles of bots that beat each other.

In a cycle each bot beats the next one, and the last beats the first, so no ratings agree with all
results.

The fit predicts the score of every pairing. The residual is the observed score minus the predicted
one. Its standard error comes from the luck of the pairing's own pairs, less the part of it to which
the fit has adapted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from arena.statistics.bradley_terry import Flags, find_reach
from arena.statistics.counts import NO_ANCHORS, Anchors, PairTotals, ScoreCounts
from arena.statistics.distributions import Floats, normal_below
from arena.statistics.intervals import LEVEL, Estimate, Ints, correct, find_dependence
from arena.statistics.ratings import ELO, MEAN, Fit, PairScores, Scale
from arena.statistics.verdicts import Verdict, Verdicts

_EXACT = 1e-3  # Elo points: half the interval of an anchor that is given as exact
_UNTESTED = 1e-6  # of a pairing's variance: a smaller residual variance counts as 0
_COLUMNS = ["bot", "opponent", "expected", "residual", "residual_z", "residual_q"]


class Residuals(NamedTuple):
    """What the ratings say of each pairing, from the side of its first bot, as arrays.

    `expected` is the share that they predict, `residual` the observed share minus it. `z` is the
    residual in standard errors, and `q` its p-value corrected for many pairings; both are nan if a
    bot's rating depends on this pairing only. Source: Benjamini and Hochberg 1995 for the
    correction.
    """

    expected: Floats
    residual: Floats
    z: Floats
    q: Floats

    @property
    def tested(self) -> int:
        """The number of pairings that other games test."""
        return int(np.isfinite(self.q).sum())


class Field:
    """The rated bots, by label, in the order of the run; games against others are left out.

    `pairings` are two labels each. Anchors that are not rated are ignored. With `even` every
    pairing weighs the same (`Fit`), if `informed` by its information about the bots; with `looks`
    verdicts are valid at every number of pairs. With the `sequence` of the pairs, their pairings
    and scores, errors allow for its `dependence`.
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
        informed: bool = False,
        looks: bool = False,
        sequence: tuple[Ints, Ints] | None = None,
    ) -> None:
        self.looks = looks
        self.labels = [label for label in labels if label not in unrated]
        self.numbers: Mapping[str, int] = {label: n for n, label in enumerate(self.labels)}
        self.scores: list[PairScores] = []
        self.met: dict[tuple[int, int], ScoreCounts] = {}
        self.pairings: dict[int, tuple[int, int]] = {}
        for number, pairs, total, squares, by_score in totals:
            bot, opponent = pairings[number]
            if bot in self.numbers and opponent in self.numbers:
                two = self.numbers[bot], self.numbers[opponent]
                self.scores.append(PairScores(*two, pairs, total, squares))
                self.met[two] = by_score
                self.pairings[number] = two
        self.dependence = find_dependence(self.pairings, *sequence) if sequence else None
        of_pairing = self.dependence.growth if self.dependence else {}
        growth = np.array([of_pairing.get(two, 1.0) for two in self.met])
        self.fit = Fit(len(self.labels), self.scores, even=even, growth=growth)
        if informed and self.scores:
            self.fit = Fit(len(self.labels), self.scores, known_spread=self.fit.spread.elo)
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
        return self.verdicts_on(bot, [opponent])[0]

    def verdicts_on(self, bot: str, others: Sequence[str]) -> list[Verdict | None]:
        """Return the verdicts on a bot and each of others, as `verdict` does."""
        places = [self.numbers[other] for other in others]
        return [*map(_in_elo, self.verdicts.on(self.numbers[bot], places))]

    @property
    def apart(self) -> Flags:
        """Which of every two bots, by number, are significantly different (n, n)."""
        if len(self.labels) < 2:
            return np.zeros((len(self.labels),) * 2, np.bool_)
        return self.verdicts.apart | self.verdicts.apart.T

    @cached_property
    def residuals(self) -> Residuals:
        """How far the score of each pairing is from what the ratings say."""
        expected = self.fit.model.shares(self.fit.strengths)
        observed = np.array([score.total / (2 * score.pairs) for score in self.scores])
        z = _in_errors(self)
        return Residuals(expected, observed - expected, z, correct(2 * normal_below(-np.abs(z))))

    @property
    def groups(self) -> list[list[str]]:
        """The labels of the bots of each connected component of the graph of games."""
        numbers = self.fit.groups
        return [[*compress(self.labels, numbers == one)] for one in sorted({*numbers.tolist()})]

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
        """Return the labels, the strongest bot first; ties by label."""
        value = {label: rating.value for label, rating in self.ratings.items()}
        return sorted(value, key=lambda one: (-round(value[one], 1), -round(value[one], 6), one))

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


def _in_elo(found: Verdict | None) -> Verdict | None:
    if found is None:
        return None
    lead, low, high = (round(ELO * end, 1) + 0.0 for end in found[:3])
    return Verdict(lead, low, high, round(found.likely, 4), found.word)


def make_residuals(field: Field) -> dict[str, npt.NDArray[Any]]:
    """Return the residuals of each ordered pair of rated bots that met, as columns by name."""
    labels = np.array(field.labels, dtype=object)
    bot, opponent = labels[field.fit.model.first], labels[field.fit.model.second]
    expected, residual, z, q = field.residuals
    own = bot, opponent, expected, residual, z, q
    turned = opponent, bot, 1 - expected, -residual, -z, q
    return {name: np.concatenate(both) for name, *both in zip(_COLUMNS, own, turned, strict=True)}


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


def find_misfits(field: Field) -> list[tuple[str, str, float, float]]:
    """Return the pairings whose residual is significant, the worst first.

    Each has two labels, first that of the bot that comes first in the field, and the expected and
    the residual share of this bot.
    """
    model, found, misfits = field.fit.model, field.residuals, []
    for place in np.flatnonzero(found.q < LEVEL).tolist():
        bot, opponent = int(model.first[place]), int(model.second[place])
        expected, residual = float(found.expected[place]), float(found.residual[place])
        if bot > opponent:
            bot, opponent, expected, residual = opponent, bot, 1 - expected, -residual
        misfits.append((-abs(float(found.z[place])), bot, opponent, expected, residual))
    named = field.labels
    return [
        (named[bot], named[opponent], expected, residual)
        for _, bot, opponent, expected, residual in sorted(misfits)
    ]


def find_beats(field: Field) -> Flags:
    """Return which bot (row) beats which one (column) significantly.

    The probability that any of these claims is wrong is at most 5 %. Source: Holm 1979.
    """
    model = field.fit.model
    beyond = model.total - model.pairs  # the score of the first bot above one half
    spread = model.squares - 2 * model.total + model.pairs
    p_values = 2 * normal_below(-np.abs(beyond) / np.sqrt(spread))
    order = np.argsort(p_values, kind="stable")
    bounds = LEVEL / np.arange(len(order), 0, -1)
    sure = order[np.logical_and.accumulate(p_values[order] <= bounds)]
    beats = np.zeros((model.bots, model.bots), dtype=bool)
    two = np.where(beyond > 0, (model.first, model.second), (model.second, model.first))
    beats[tuple(two[:, sure])] = True
    return beats


def find_cyclic(beats: Flags) -> Flags:
    """Return which bots are in a cycle: each beats a chain of others that leads back to it.

    >>> beats = np.zeros((4, 4), dtype=bool)
    >>> beats[0, 1] = beats[1, 2] = beats[2, 3] = beats[3, 1] = True
    >>> find_cyclic(beats).tolist()
    [False, True, True, True]
    """
    reach = find_reach(beats)
    return np.asarray((reach & reach.T).sum(axis=1) > 1)


def shortest_cycle(beats: Flags, start: int) -> list[int]:
    """Return a shortest cycle through a bot: the bot, one that it beats, and so on."""
    before, reached = {start: start}, [start]
    for bot in reached:  # the list grows meanwhile
        new = [one for one in np.flatnonzero(beats[bot]).tolist() if one not in before]
        before |= dict.fromkeys(new, bot)
        reached += new
    cycle = [next(bot for bot in reached if beats[bot, start])]
    while cycle[-1] != start:
        cycle.append(before[cycle[-1]])
    return cycle[::-1]


def describe_cycle(field: Field) -> list[str]:
    """Return a cycle as labels, with the first repeated at the end; [] without a cycle."""
    beats = find_beats(field)
    cyclic = np.flatnonzero(find_cyclic(beats)).tolist()
    if not cyclic:
        return []
    cycle = shortest_cycle(beats, cyclic[0])
    return [field.labels[bot] for bot in [*cycle, cycle[0]]]
