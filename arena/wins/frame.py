"""Frame: the columns of a table, with intervals, rounded where they are estimated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from arena.wins.moments import Interval

_DIGITS = 4


def interval(name: str, mean: str, of: Interval) -> dict[str, Any]:
    """Return three columns of an interval: the mean, and the bounds by `name`."""
    return {mean: of.mean.ravel(), f"{name}_low": of.low.ravel(), f"{name}_high": of.high.ravel()}


def make_frame(columns: Mapping[str, Any], labels: Sequence[str]) -> pd.DataFrame:
    """Return a table; `bot` and `opponent` are places in the run, and past its end all bots.

    All bots are an empty cell, and so is what is not known.
    """
    named = [*labels, None]
    table = pd.DataFrame(dict(columns))
    for name in {"bot", "opponent"} & {*table.columns}:
        table[name] = pd.Series([named[place] for place in table[name]], dtype=object)
    floats = table.select_dtypes(float).columns
    table[floats] = table[floats].replace([np.inf, -np.inf], np.nan).round(_DIGITS) + 0.0
    return table


def whole(values: Any, empty: Any) -> pd.Series[Any]:
    """Return a column of whole numbers with empty cells."""
    return pd.Series(values, dtype="Int64").mask(pd.Series(empty))
