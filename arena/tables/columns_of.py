"""Make tables of columns with 95 % intervals, rounded where they are estimated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from arena.batch.replay import Bools, Ints
from arena.statistics.distributions import Floats
from arena.statistics.intervals import Estimates, Moments

_DIGITS = 4
_LABELS = ("bot", "opponent")


def interval(name: str, mean: str, of: Estimates) -> dict[str, Floats]:
    """Return three columns of an interval: the mean, and the bounds by `name`."""
    return {mean: of.value.ravel(), f"{name}_low": of.low.ravel(), f"{name}_high": of.high.ravel()}


def every(**axes: Sequence[Any]) -> dict[str, Any]:
    """Return a column for each axis: together they have every combination, the last axis fastest.

    >>> [column.tolist() for column in every(bot=range(2), after=("led", "behind")).values()]
    [[0, 0, 1, 1], ['led', 'behind', 'led', 'behind']]
    """
    grids = np.meshgrid(*axes.values(), indexing="ij")
    return {name: grid.ravel() for name, grid in zip(axes, grids, strict=True)}


def add_rows(
    moments: Moments,
    group: Ints,
    key: Ints | int,
    pair: Ints,
    totals: Ints,
    counts: Bools | int = 1,
) -> None:
    """Add rows to moments, such as decisions: each is of a group, a key and a pair of games."""
    pairs = int(pair.max(initial=0)) + 1
    units, unit = np.unique(group * pairs + pair, return_inverse=True)
    number, total = np.zeros((2, moments.sums.shape[2], len(units)), np.int64)
    where = np.broadcast_to(key, len(unit)), unit
    np.add.at(number, where, counts)
    np.add.at(total, where, totals)
    moments.add(units // pairs, number, total)


def make_frame(columns: Mapping[str, Any], labels: Sequence[str], shown: Bools) -> pd.DataFrame:
    """Return the rows that are shown; a bot is its place in the run, and past its end all bots.

    All bots are an empty cell, and so is a number that is not known.
    """
    named = [*labels, None]
    rows = {}
    for name, values in columns.items():
        column = np.asarray(values)[shown]
        if name in _LABELS:
            rows[name] = pd.Series([named[place] for place in column.tolist()])
        elif column.dtype.kind == "f":
            rows[name] = pd.Series(column.round(_DIGITS) + 0.0)  # no -0.0
        elif column.dtype.kind == "i":
            rows[name] = _whole(column)
        else:
            rows[name] = pd.Series(column.astype(object), dtype=object)
    return pd.DataFrame(rows)


def _whole(column: Ints) -> pd.Series[Any]:
    """Return whole numbers; one below 0 is an empty cell, in a column that can have some."""
    if (column >= 0).all():
        return pd.Series(column)
    return pd.Series(column, dtype="Int64").mask(pd.Series(column < 0))
