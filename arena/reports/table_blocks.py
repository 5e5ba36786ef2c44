"""Make tables of a report from the rows of tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from arena.reports.blocks import Cell, Table
from arena.store.columns import Columns, is_known
from arena.store.folder import home_of
from arena.tables.table_columns import Column, TableColumns

if TYPE_CHECKING:
    import pandas as pd

MOST_BOTS = 40
"""The most bots in a chart, the first of the standings: more rows would be illegible."""

ALL = "all bots "
"""The name of all bots together in tables; no label ends with a space."""

MOST_ROWS, MOST_FOLDED = 100, 50
"""The most rows of a table, open or folded; the file has all of them."""

_SELDOM = {"draws", "forfeit_wins", "forfeits"}


def plain_rows(table: Columns | pd.DataFrame, columns: Iterable[str]) -> list[tuple[Any, ...]]:
    """Return the rows of some columns as plain values; an empty cell is None."""
    return Columns.of(table).rows(columns)


def with_all(table: Columns) -> Columns:
    """Return a table in which the rows of all bots together have their name."""
    return table.put(bot=np.where(is_known(table["bot"]), table["bot"], ALL))


def frame_table(
    table: TableColumns,
    caption: str,
    frame: Columns | pd.DataFrame,
    columns: Sequence[Column] | None = None,
    *,
    folded: bool = False,
) -> Table:
    """Return a table of these rows, named as its file; `columns` are the columns shown.

    Rows beyond the limit are only in the file, as are columns of draws and forfeits where there
    were none. No page has a folded table whose file is a detail.
    """
    whole = Columns.of(frame)
    shown = [
        column
        for column in columns or table.shown
        if column.name not in _SELDOM or whole[column.name].any()
    ]
    most = MOST_FOLDED if folded else MOST_ROWS
    rows = whole.where(slice(most)).rows([column.name for column in shown])
    name, note = table.file.removesuffix(".csv"), _note_of(len(whole), table.file, most)
    is_detail = home_of(Path(), table.file) != Path(table.file)
    return Table(name, caption, shown, rows, (), note, folded, folded and is_detail)


def cut_table(
    name: str, caption: str, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], file: str
) -> Table:
    """Return a table of the first rows; if there are more, a note names the file with all."""
    return Table(name, caption, columns, rows[:MOST_ROWS], note=_note_of(len(rows), file))


def _note_of(rows: int, file: str, most: int = MOST_ROWS) -> str:
    """Return the note below a table that has more rows than a page shows."""
    if rows <= most:
        return ""
    where = home_of(Path(), file).as_posix()
    return f"The first {most} of {rows:,} rows; {where} has all of them."
