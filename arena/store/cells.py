"""Cells: the texts of CSV files, of which no spreadsheet makes a formula.

A spreadsheet executes a cell that begins with =, +, - or @, also one in quotes and one of letters
of full width. So a text that begins so, or with white space, has an apostrophe before it; and one
that has apostrophes there has one more, so that each text is read back as it was. Source: OWASP,
"CSV Injection".
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from arena.store.columns import GUARDED

if TYPE_CHECKING:
    import pandas as pd

_READ = re.compile(GUARDED)


def guard(cell: Any) -> Any:
    """Return a cell as it stands in a file; what is no text stays as it is.

    >>> [guard(cell) for cell in ("=1+1", "'=1+1", "greedy", "-12", -12)]
    ["'=1+1", "''=1+1", 'greedy', "'-12", -12]
    """
    if isinstance(cell, str) and not cell[:1].isalnum() and _READ.match(f"'{cell}"):
        return f"'{cell}"
    return cell


def read_back(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table that was read from a file, with the texts that were written there."""
    return table.replace(GUARDED, r"\1", regex=True)


def write_rows(file: TextIO, columns: Sequence[str], rows: Iterable[Iterable[Any]]) -> None:
    """Write a file of these columns and rows."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(map(guard, row) for row in rows)


def csv_writer(table: pd.DataFrame, *, index: bool = False) -> Callable[[TextIO], object]:
    """Return the writer of a table as CSV, with its index if that is asked for."""

    def write(file: TextIO) -> None:
        import pandas as pd

        guarded = table.rename(columns=guard)
        for name, column in guarded.items():
            if column.dtype.kind not in "iufb":
                guarded[name] = pd.Series(map(guard, column), guarded.index, object)
        if index:
            guarded = guarded.rename(index=guard)
        guarded.to_csv(file, index=index, lineterminator="\n")

    return write
