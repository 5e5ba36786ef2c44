"""Frames: tables of a report, and rows of its charts, from DataFrames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from arena.reports.document import Column, Table

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 1_600
"""Rows of a table on the page: those of 40 bots against each other. A file has all of them."""


def plain_rows(frame: pd.DataFrame, columns: Iterable[str]) -> list[tuple[Any, ...]]:
    """Return the rows of some columns as plain values; an empty cell is None."""
    return list(zip(*(_values(frame[name]) for name in columns), strict=True))


def _values(column: pd.Series[Any]) -> list[Any]:
    """Return the values of a column; `isna` would take as long as all else of a small report."""
    values, kind = column.tolist(), column.dtype.kind
    if kind in "iub" and isinstance(column.dtype, np.dtype):
        return values
    if kind == "f":
        return [None if value != value else value for value in values]
    return [None if no else value for value, no in zip(values, column.isna(), strict=True)]


def plain_dicts(frame: pd.DataFrame, columns: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the rows as plain data for a chart; `columns` are the new names by the old ones."""
    names = [*columns.values()]
    return [dict(zip(names, row, strict=True)) for row in plain_rows(frame, columns)]


MOST_FOLDED = 300
"""Rows of a folded table, which a chart shows, too: with more a page of 40 bots has over 3 MB."""


def frame_table(
    name: str,
    caption: str,
    columns: Sequence[Column],
    frame: pd.DataFrame,
    file: str,
    *,
    folded: bool = False,
) -> Table:
    """Return a table of the named columns of a frame; `file` has the rows that are too many."""
    most = MOST_FOLDED if folded else MOST_ROWS
    rows = plain_rows(frame.iloc[:most], [column.name for column in columns])
    note = note_of(len(frame), file, most)
    return Table(name, caption, columns, rows, note=note, folded=folded)


def note_of(rows: int, file: str, most: int = MOST_ROWS) -> str:
    """Return what is said below a table that has more rows than a page shows."""
    return f"The first {most:,} of {rows:,} rows; {file} has all of them." if rows > most else ""
