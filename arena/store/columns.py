"""Convert a games.csv to a games.parquet, as a program of its own.

Usage: `python columns.py CSV PARQUET`. It needs pyarrow, and imports nothing of the arena. It ends
when its standard input is closed, so that it does not outlive the run that started it.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = 1 << 14  # rows of a row group
_GAPS = ("winner", "fault")  # columns that may have empty cells
GUARDED = "^'('*[ \t\r\n=+\\-@\uff1d\uff0b\uff0d\uff20])"
"""Matches a text with an added apostrophe, which reading removes (arena.store.csv_files)."""

FAILURES = (OSError, ValueError, MemoryError)
"""The exceptions that writing may raise; pyarrow's are subclasses of ValueError."""


def write_parquet(games: Path, path: Path) -> None:
    """Write the rows of a games.csv; with one version of pyarrow, equal rows give equal bytes."""
    from pyarrow import parquet

    with parquet.ParquetWriter(path, schema(), compression="zstd", version="2.6") as writer:
        for table in read_groups(games):
            writer.write_table(table, row_group_size=_ROWS)


def schema() -> pa.Schema:
    """Return the schema of games.parquet."""
    import pyarrow as pa

    text, number = pa.string(), pa.int64()
    types = {"bot": text, "opponent": text, "pair": number, "seat": pa.int8(), "winner": text}
    types |= {"win_type": text, "points": number, "opponent_points": number, "plies": number}
    types["fault"] = text
    return pa.schema([pa.field(name, kind, name in _GAPS) for name, kind in types.items()])


def read_groups(games: Path) -> Iterator[pa.Table]:
    """Yield the rows in tables of one row group each; an empty cell is a missing value."""
    import pyarrow as pa
    from pyarrow import csv

    columns = schema()
    cells = csv.ConvertOptions(column_types=columns, null_values=[""], strings_can_be_null=True)
    with games.open("rb") as file:
        file.readline()
        while text := b"".join(islice(file, _ROWS)):  # pyarrow's streaming reader takes 20 MB more
            whole = csv.ReadOptions(
                column_names=columns.names, use_threads=False, block_size=len(text) + 1
            )
            table = csv.read_csv(pa.BufferReader(text), read_options=whole, convert_options=cells)
            yield _read_back(table, columns) if b"'" in text else table.cast(columns)


def _read_back(table: pa.Table, columns: pa.Schema) -> pa.Table:
    """Return rows with the original texts, without the guarding apostrophes of CSV."""
    from pyarrow import compute

    for number, field in enumerate(columns):
        if field.type == "string":
            texts = compute.replace_substring_regex(table[number], GUARDED, r"\1")
            table = table.set_column(number, field, texts)
    return table.cast(columns)


def _end_with_input() -> None:
    os.read(0, 1)
    os._exit(1)


def main() -> None:
    """Write the file named by the second argument from the file named by the first."""
    threading.Thread(target=_end_with_input, daemon=True).start()
    try:
        write_parquet(*map(Path, sys.argv[1:]))
    except FAILURES as error:
        sys.exit(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
