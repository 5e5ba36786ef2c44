"""Estimate differences between two runs, or two bots, by their pairs.

The pair (one deal played twice, seats swapped) is the statistical unit. Where both runs have
played a deal, most of its luck is in both of its pairs and cancels out: the estimate is the mean of
the differences by deal, and its standard error is theirs.

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

import numpy as np

from arena.statistics.distributions import Floats
from arena.statistics.intervals import Z95, Estimate, Ints

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
