"""Define how the strengths of a field may be spread, as mixtures of normal distributions.

No field tells its own shape well, so all shapes are averaged over, each with the weight that the
results give it: strengths that are normal; of Student's t with two degrees of freedom, where a few
bots are far from the others; and of two groups with a gap between them. Each is on a grid of
scales, in log odds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.statistics.distributions import Floats
from arena.statistics.ratings import ELO

_NORMAL, _HEAVY, _GROUPS = 0.35, 0.3, 0.35
"""How likely each shape is."""

_SCALES: Final = 3 * 2 ** (np.arange(15) / 2) / ELO
_SELDOM = 30 / ELO  # few fields are closer than this
_GROUP_SCALES: Final = np.array([3, 6, 12, 24, 48]) / ELO
_SHARES = 0.25, 0.5, 0.75  # of the upper group
_STEPS = range(-3, 4)  # of the gap between two groups
_LEAST_GAP = 2.5  # times the scale of the groups
_CUTS: Final = np.array([0, 0.01, 0.04, 0.12, 0.3, 0.6, 1.0])  # of the scale of Student's t
_MANY = 4  # bots, of which two groups can be seen

_Row: TypeAlias = "tuple[float, list[float], list[float], list[float]]"


class FieldPrior(NamedTuple):
    """Priors of a strength: the log weight of each, and its normal parts.

    The logs have one value for each prior. The others have a row for each, with the weights, means
    and variances of its parts.
    """

    logs: Floats
    parts: Floats
    means: Floats
    variances: Floats

    def take(self, kept: npt.NDArray[Any]) -> FieldPrior:
        """Return those whose places are True, or these places."""
        return FieldPrior(*(column[kept] for column in self))


def make_priors(strengths: Floats | None = None, error: float = 0.0) -> FieldPrior:
    """Return the priors of a field; the strengths as fitted, with their error, place two groups.

    >>> make_priors().parts.shape, make_priors(np.array([1.0, 0.9, -1.0, -1.1]), 0.1).parts.shape
    ((30, 6), (135, 6))
    """
    rows = [*_single()]
    if strengths is not None and len(strengths) >= _MANY:
        rows += _two_groups(np.sort(strengths), error)
    weights, *columns = (np.array([row[place] for row in rows]) for place in range(4))
    return FieldPrior(np.log(weights), *columns)


def _single() -> Iterator[_Row]:
    """Yield the priors of one group: normal, and Student's t as a mixture of normals."""
    middle, parts = (_CUTS[1:] + _CUTS[:-1]) / 2, np.diff(_CUTS)
    count = len(parts)
    nothing = count * [0.0]
    often = np.sqrt(np.minimum(_SCALES, _SELDOM))
    for scale, share in zip(_SCALES.tolist(), (often / often.sum()).tolist(), strict=True):
        yield _NORMAL * share, [1.0, *nothing[1:]], nothing, count * [scale**2]
        yield _HEAVY * share, parts.tolist(), nothing, (scale**2 / -np.log(1 - middle)).tolist()


def _two_groups(strengths: Floats, error: float) -> Iterator[_Row]:
    """Yield priors of two groups about where the sorted strengths part best."""
    bots = len(strengths)
    sizes = np.arange(1, bots)  # of the lower group
    below = np.cumsum(strengths)[:-1]
    gaps = (strengths.sum() - below) / (bots - sizes) - below / sizes
    place = int((gaps**2 * sizes * (bots - sizes)).argmax())
    size, gap = int(sizes[place]), float(gaps[place])
    step = max(0.75 * error * math.sqrt(1 / size + 1 / (bots - size)), 0.03 * gap)
    found = [
        (share, gap + number * step, scale)
        for share in sorted({*_SHARES, size / bots})
        for number in _STEPS
        for scale in _GROUP_SCALES.tolist()
        if _LEAST_GAP * scale <= gap + number * step > 3.5 * step
    ]
    rest = 4 * [0.0]
    for share, apart, scale in found:
        weight = _GROUPS * len(_STEPS) * min(1.0, step / apart) / len(found)
        yield weight, [share, 1 - share, *rest], [0.0, *(5 * [apart])], 6 * [scale**2]
