"""Scale: the bots whose mean is the zero of a rating scale, and those that it does not bound.

A bot that wins every game is stronger than the others by an unknown amount: likelihood has no
largest value there. So it is left out of the mean, and its rating has no upper end. The same holds
for a bot that loses all, and for several bots of which none has ever scored against the others. One
that loses one game of a thousand has a rating, with an error that would be in the mean, and so in
the rating of every other bot: it is left out, too (bench/STUDIES.md).
Sources: Zermelo 1929; Ford 1957, for when ratings are finite.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from arena.statistics.distributions import Floats
from arena.statistics.model import Numbers, PairScores

Flags = npt.NDArray[np.bool_]


class Scale(NamedTuple):
    """What the ratings of a fit are counted from.

    A row of `weights` has the weights of the strengths in the zero of a bot's scale. `no_high` says
    of which bots nothing says how strong they are at most, and `no_low` at least.
    """

    weights: Floats
    no_high: Flags
    no_low: Flags

    def move(self, strengths: Floats) -> Floats:
        """Return the strengths, counted from the zero of each bot's scale."""
        return np.asarray(strengths - self.weights @ strengths)

    def variances(self, covariance: Floats) -> Floats:
        """Return the variance of each bot's strength, counted from there."""
        moved = covariance - self.weights @ covariance
        return np.asarray(np.diag(moved - moved @ self.weights.T))


_LEAST = 3  # bots of which one can be left out
_FAR = 3.0  # times the error of most bots, with which one is left out of the mean


def find_scale(
    scores: Sequence[PairScores], groups: Numbers, errors: Floats, anchor: int | None = None
) -> Scale:
    """Return the scale of each group of bots that games connect, by the number of its group.

    It is the mean of the most bots of which each has scored against each other one, itself or
    through others; of all bots of the group where these are not more than any others; and in the
    group of the `anchor`, this bot. `errors` are those of the gaps between every two bots: one
    whose gaps have three times the error of those of most bots is left out of the mean.
    """
    bots = len(groups)
    scored = np.zeros((bots, bots), dtype=bool)
    for score in scores:
        scored[score.bot, score.opponent] = score.total > 0
        scored[score.opponent, score.bot] = score.total < 2 * score.pairs
    weights = np.zeros((bots, bots))
    no_high, no_low = np.zeros(bots, dtype=bool), np.zeros(bots, dtype=bool)
    for group in range(int(groups.max(initial=-1)) + 1):
        own = groups == group
        parts = [*_find_parts(scored, own)]
        part = _choose(parts, anchor)
        zero = _well_known(own if part is None else part, errors)
        if anchor is not None and own[anchor]:
            zero = np.arange(bots) == anchor
        weights[np.ix_(own, zero)] = 1 / zero.sum()
        no_high |= own & ~_reach(scored, part) if part is not None else _ends(scored, parts)
        no_low |= own & ~_reach(scored.T, part) if part is not None else _ends(scored.T, parts)
    return Scale(weights, no_high, no_low)


def _well_known(zero: Flags, errors: Floats) -> Flags:
    """Return the bots whose gap to most others is not known far less well than that of most."""
    places = np.flatnonzero(zero)
    if len(places) < _LEAST:
        return zero
    gaps = np.sort(errors[np.ix_(places, places)])  # a bot's gap to itself, 0, comes first
    typical = gaps[:, len(places) // 2]
    known = zero.copy()
    known[places] = typical <= _FAR * np.sort(typical)[(len(places) - 1) // 2]
    return known


def _choose(parts: Sequence[Flags], anchor: int | None) -> Flags | None:
    """Return the part with the anchor, or with the most bots; None if that is not one alone."""
    for part in parts:
        if anchor is not None and part[anchor]:
            return part
    sizes = [int(part.sum()) for part in parts]
    return parts[sizes.index(max(sizes))] if sizes.count(max(sizes)) == 1 else None


def _ends(scored: Flags, parts: Sequence[Flags]) -> Flags:
    """Return the bots of the parts, of several, against which no bot of another part has scored."""
    ends = np.zeros(len(scored), dtype=bool)
    for part in parts:
        if len(parts) > 1 and not scored[np.ix_(~part, part)].any():
            ends |= part
    return ends


def _find_parts(scored: Flags, own: Flags) -> Iterator[Flags]:
    """Yield the parts of a group: bots of which each has scored against each, also through others.

    They are those of the first bot, of the first one that is left, and so on.
    """
    left = own.copy()
    while left.any():
        start = np.arange(len(own)) == int(left.argmax())
        part = _reach(scored, start) & _reach(scored.T, start)
        yield part
        left &= ~part


def _reach(scored: Flags, start: Flags) -> Flags:
    """Return the bots against which those of `start` have scored, also through others, and them."""
    found, last = start.copy(), start
    while last.any():
        last = scored[last].any(axis=0) & ~found
        found |= last
    return found
