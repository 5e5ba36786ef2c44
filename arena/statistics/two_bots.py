"""Compare two bots, or two runs, by their pairs: exactly, at every number of pairs, or by deal.

A 95 % interval misses the truth in one run of twenty if it is read once, but far more often if it
is read repeatedly until it shows the desired result. A confidence sequence misses the truth at any
time in at most one run of twenty.

Where two bots or two runs have played the same deals, most of the luck of a deal is in both of its
pairs and cancels out: the estimate is the mean of the differences by deal, and its standard error
is theirs.

A score or the share of a win type has one value for each pair. So that a few equal values give no
error of 0, one deal more goes into the error: half of it with the lowest possible difference and
half with the highest. A ratio, such as the mean lead in the games that points decided, has for each
pair a sum and the number of games that it is of; each pairing is a stratum.
Source: Cochran, Sampling Techniques, 1977, chapter 6 (ratios, also in strata).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from arena.statistics.bradley_terry import PairScores
from arena.statistics.counts import ScoreCounts
from arena.statistics.distributions import Floats, fair_binomial
from arena.statistics.intervals import Z95, Estimate, Ints
from arena.statistics.posterior import make_priors

ALPHA = 0.05
"""The probability, for a whole run, that any two bots are told apart in the wrong order."""

_EXPECTED = 0.2  # the typical difference between neighbours, in log odds: 35 Elo points


def pair_scores(bot: int, opponent: int, by_score: ScoreCounts) -> PairScores:
    """Return the sums over the pairs of two bots that the fit needs.

    >>> pair_scores(0, 1, (0, 0, 5, 2, 3))
    PairScores(bot=0, opponent=1, pairs=10, total=14.0, squares=21.5)
    """
    _, lost, even, won, both = by_score
    total = lost + 2 * even + 3 * won + 4 * both
    squares = lost + 4 * even + 9 * won + 16 * both
    return PairScores(bot, opponent, sum(by_score), total / 2, squares / 4)


def boundary(information: Floats | float, alpha: float) -> Floats:
    """Return the bound on an estimate's squared z value from which it differs from 0.

    `information` is 1 / variance. If the truth is 0, the square exceeds the bound at any time in at
    most `alpha` of all runs (two-sided), for an estimate that is nearly normal. Sources: Robbins
    1970 for the mixture; Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2021 for estimates.

    >>> round(float(boundary(100.0, 0.05)) ** 0.5, 2)
    3.08
    """
    relative = information * _EXPECTED**2
    return np.asarray((1 + 1 / relative) * (np.log1p(relative) + 2 * math.log(1 / alpha)))


SHARES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
"""The score per game, 0 to 1, for each of the five scores of a pair."""

_STAKES = 0.95 * 2.0 ** (-np.arange(19) / 2)
"""The parts of the capital that bets risk, down to 1/540, which suits a million pairs."""


def log_capital(counts: npt.ArrayLike, mean: float) -> Floats:
    """Return the log capital of a bettor, from 1, after bets on a mean share above `mean`.

    `counts` are the five counts of pairs by score, or rows of them, each with its own capital. The
    bettor divides the capital evenly between fixed bets. If the mean is `mean` or less, the capital
    exceeds x at any time in at most one run of x (Ville 1939). It does not depend on the order of
    the pairs. Sources: Waudby-Smith and Ramdas 2023; the mixture of bets is that of Cover 1991.

    >>> [round(float(log_capital((0, 0, 0, 0, wins), 0.5)), 1) for wins in (1, 10)]
    [0.2, 4.0]
    """
    gains = (SHARES - mean) / mean  # of a bet whose stake is lost at a share of 0
    growth = np.log1p(np.outer(_STAKES, gains))
    totals = np.asarray(counts, dtype=float) @ growth.T
    return np.asarray(np.logaddexp.reduce(totals, axis=-1) - math.log(len(_STAKES)))


GRID = np.linspace(-14, 14, 2801)
"""The grid of differences of two bots, in log odds."""

_LENT = 10.0  # added pairs with the variance of two independent games
_MOST_COUNTED = 4000  # uneven pairs; for more the normal approximation is as good


class Duel(NamedTuple):
    """The evidence of two bots' pairs on their difference, in log odds, and its sign.

    `chance` is the two-sided p-value of the result if both bots are equal.
    """

    low: float
    high: float
    likely: float
    chance: float


def weigh_duel(counts: ScoreCounts, level: float) -> Duel:
    """Return the evidence of two bots' pairs; `level` is the error rate of the interval.

    >>> ten, four = (weigh_duel((0, 0, 0, 0, pairs), 0.05) for pairs in (10, 4))
    >>> round(ten.likely, 3), round(ten.chance, 3), round(four.likely, 3), round(four.chance, 3)
    (1.0, 0.002, 0.989, 0.125)
    """
    _, _, pairs, total, squares = pair_scores(0, 1, counts)
    share = (total + 1) / (2 * pairs + 2)
    rest, one = max(0.0, squares - 4 * share * (total - share * pairs)), 2 * share * (1 - share)
    effect = (rest + _LENT * one) / (pairs * one + _LENT * one)
    if sum(map(bool, counts)) == 1:  # all pairs have the same score
        effect = 1.0
    logs = (total * GRID - 2 * pairs * np.logaddexp(0, GRID)) / effect
    likely = _prior() * np.exp(logs - logs.max())
    likely /= likely.sum()
    below = np.cumsum(likely) - likely / 2
    low, high = np.interp([level / 2, 1 - level / 2], below, GRID)
    first_ahead = 1 - float(np.interp(0, GRID, below))
    return Duel(float(low), float(high), first_ahead, sign_chance(counts))


@cache
def _prior() -> Floats:
    """Return the prior probability of each difference of the grid."""
    prior = make_priors()
    rows, columns = np.triu_indices(prior.parts.shape[1])
    shares = np.exp(prior.logs)[:, None] * prior.parts[:, rows] * prior.parts[:, columns]
    shares *= np.where(rows == columns, 1, 2)
    variances = prior.variances[:, rows] + prior.variances[:, columns]
    said = shares > 0
    squares = GRID[len(GRID) // 2 :] ** 2  # of the upper half: the lower one is its mirror image
    parts = np.exp(-squares / (2 * variances[said][:, None]))
    upper = (shares[said] / np.sqrt(variances[said])) @ parts
    return np.concatenate([upper[:0:-1], upper])


def sign_chance(counts: ScoreCounts) -> float:
    """Return the two-sided p-value of a sign-flip test that two bots are equal.

    If they are, each pair could equally have had the opposite result. Source: Fisher 1935.

    >>> all_won, even, some = (0, 0, 0, 0, 6), (1, 0, 5, 0, 1), (0, 0, 9, 2, 4)
    >>> [round(sign_chance(counts), 5) for counts in (all_won, even, some)]
    [0.03125, 1.0, 0.03125]
    """
    lost, less, _, more, won = counts
    ones, twos = less + more, lost + won
    seen = abs(more - less + 2 * (won - lost))
    if ones + twos > _MOST_COUNTED:
        return math.erfc((seen - 0.5) / math.sqrt(2 * (ones + 4 * twos)))
    of_ones, of_twos = fair_binomial(ones), fair_binomial(twos)
    sums = np.abs(2 * (2 * np.arange(twos + 1) - twos)[:, None] + 2 * np.arange(ones + 1) - ones)
    return min(1.0, float((np.outer(of_twos, of_ones) * (sums >= seen)).sum()))


_FEWEST_GAMES = 10  # of fewer, intervals held the truth in 80 % (bench/STUDIES.md has the rest)
RULE_OF_THREE = 3  # Hanley and Lippman-Hand 1983: never seen in n, so less often than 3 / n


def mean_by_deal(strata: Sequence[Floats]) -> Estimate:
    """Return the mean of differences by deal, -1 to 1, over pairings that weigh the same.

    Each pairing has one deal more, half of it as small as can be and half as large. The interval is
    not cut off at -1 and 1.

    >>> round(mean_by_deal([np.zeros(4)]).error, 4)
    0.2236
    """
    weight = 1 / len(strata)
    value = weight * math.fsum(float(one.mean()) for one in strata)
    error = weight * math.sqrt(math.fsum(variance(one, -1, 1) / len(one) for one in strata))
    low, high = (value + side * Z95 * error for side in (-1, 1))
    return Estimate(value, low, high, error)


def variance(values: Floats, least: float, most: float) -> float:
    """Return the variance of values and of one more, half of it `least` and half `most`.

    >>> variance(np.zeros(3), -1, 1)
    0.25
    """
    number = len(values) + 1
    total = float(values.sum()) + (least + most) / 2
    square = float((values**2).sum()) + (least**2 + most**2) / 2
    return square / number - (total / number) ** 2


def estimate_ratio(sums: Ints, whole: int | None, alike: Ints) -> Estimate:
    """Return the sum of the counts over the sum of the weights of all pairs.

    `sums` are pairings x pairs x 2: count and weight; a pair stands for `alike` equal ones. `whole`
    is the weight of a pair that counts in full, where the ratio is a share (0 to 1), and None if it
    is not. The interval of a share is at least 3/n, n being the pairs that count: what was never
    seen may still be so frequent. Of other ratios nothing is known from fewer than ten games, or
    where no pair differs from another one. With one pair nothing is known of any.

    >>> sums = np.array([[[1, 2], [0, 2], [2, 2]]])
    >>> estimate_ratio(sums, 2, np.array([2, 1, 1])).value
    0.5
    """
    ratio = _ratio(sums, alike)
    return _estimate(sums, [ratio], whole, alike, least=0) if ratio else Estimate()


def compare_ratios(base: Ints, other: Ints, whole: int | None, alike: Ints) -> Estimate:
    """Return by how much a ratio is larger in the other run; the pairs of both are the same.

    The error comes from the differences by pair, so that the luck of a deal that is common to both
    does not count. This holds however strongly two games with the same number depend on each
    other, hence also where they have different deals. A pair stands for `alike` equal pairs.
    """
    first, second = _ratio(other, alike), _ratio(base, alike)
    if not (first and second):
        return Estimate()
    both = np.concatenate([other, base], axis=2)
    return _estimate(both, [first, second], whole, alike, least=-1)


def _ratio(sums: Ints, alike: Ints) -> tuple[Fraction, int] | None:
    """Return the ratio of the sums, and the sum of the weights; None if nothing has a weight."""
    count, weight = (sums * alike[:, None]).sum(axis=(0, 1)).tolist()
    return (Fraction(count, weight), weight) if weight else None


def _estimate(
    sums: Ints,
    ratios: Sequence[tuple[Fraction, int]],
    whole: int | None,
    alike: Ints,
    least: int,
) -> Estimate:
    """Return a ratio, or the first less the second; a share ends at 1, and at `least`."""
    signed = [*zip((1, -1), ratios, strict=False)]
    value = float(sum(sign * ratio for sign, (ratio, _) in signed))
    contrast: list[Fraction] = []
    for sign, (ratio, weight) in signed:
        contrast += [Fraction(sign, weight), -sign * ratio / weight]
    variance = _stratified_variance(sums, contrast, alike)
    fewest = min(weight for _, weight in ratios)
    if variance is None or (whole is None and not (variance and fewest >= _FEWEST_GAMES)):
        return Estimate(value)
    half = Z95 * math.sqrt(variance)
    if whole is None:
        return Estimate(value, value - half, value + half, half / Z95)
    half = max(half, RULE_OF_THREE * whole / fewest)
    low, high = max(float(least), value - half), min(1.0, value + half)
    return Estimate(value, low, high, half / Z95)


def _stratified_variance(sums: Ints, contrast: Sequence[Fraction], alike: Ints) -> Fraction | None:
    """Return the variance of a weighted sum over all pairs, stratified by pairing.

    The moments are whole numbers, so that no bit depends on the order of the pairs.
    """
    pairs = int(alike.sum())
    if pairs < 2:
        return None
    weights, total = np.array(contrast, object), Fraction(0)
    for stratum in sums:
        each = stratum * alike[:, None]
        sides, products = each.sum(axis=0).astype(object), (each.T @ stratum).astype(object)
        total += weights @ (pairs * products - np.outer(sides, sides)) @ weights
    return total / (pairs - 1)
