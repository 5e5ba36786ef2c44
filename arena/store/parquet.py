"""Write games.parquet, the rows of games.csv for programs, where pyarrow is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from itertools import islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from arena.errors import ArenaError
from arena.store.folder import GAMES, GAMES_PARQUET, Writer, part_of

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


_SMALL = 1 << 20  # bytes of a games.csv that is converted in this process


def is_available() -> bool:
    """Return whether pyarrow is installed."""
    return find_spec("pyarrow") is not None


def parquet_writers() -> Mapping[str, Writer]:
    """Return the writer of games.parquet, to run after games.csv; empty without pyarrow."""
    return {GAMES_PARQUET: _write} if is_available() else {}


def _write(file: TextIO) -> None:
    path = Path(file.name).absolute()  # pyarrow takes a folder ~ for the home
    games = part_of(path.parent.parent / GAMES)
    write = write_here if games.stat().st_size <= _SMALL else write_apart
    write(games, path)


def write_here(games: Path, path: Path) -> None:
    """Convert a small games.csv in this process: another process takes 0.2 s more.

    Raises ArenaError if the file cannot be written.
    """
    try:
        write_parquet(games, path)
    except FAILURES as error:
        raise ArenaError(f"{GAMES_PARQUET}: {type(error).__name__}: {error}") from None


def write_apart(games: Path, path: Path) -> None:
    """Convert a games.csv in a process of its own.

    pyarrow takes 60 MB, which would remain in the process of a long run. Raises ArenaError if the
    file cannot be written.
    """
    words = [sys.executable, "-P", __file__, str(games), str(path)]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stderr is not None
        lines = process.stderr.read().decode(errors="replace").splitlines()
    if process.returncode:
        reason = lines[-1] if lines else f"its writer ended with {process.returncode}"
        raise ArenaError(f"{GAMES_PARQUET}: {reason}")


def find_difference(games: Path, path: Path) -> str:
    """Describe how a games.parquet differs from a games.csv, empty if the rows are equal."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            if file.schema_arrow != schema():
                return "not the columns of games"
            found = (file.read_row_group(number) for number in range(file.num_row_groups))
            both = zip_longest(found, read_groups(games))
            for number, (group, wanted) in enumerate(both):
                if group is None or wanted is None or not group.equals(wanted):
                    return f"row group {number} is not what the games add up to"
    except (OSError, pa.ArrowException) as error:
        return f"cannot be read: {error}"
    return ""
