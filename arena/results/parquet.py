"""Parquet: games.parquet, the rows of games.csv for programs, where pyarrow is installed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from itertools import islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TextIO

from arena.results.folder import GAMES, GAMES_PARQUET, Writer, part_of

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = 1 << 14  # of a group: with twice as many, the parent needs 20 MB more
_GAPS = ("winner", "fault")  # a cell may be empty


def is_available() -> bool:
    """Return whether pyarrow is installed."""
    return find_spec("pyarrow") is not None


def parquet_writers() -> Mapping[str, Writer]:
    """Return the writer of games.parquet, after games.csv; none where pyarrow is missing."""
    return {GAMES_PARQUET: _write} if is_available() else {}


def _write(file: TextIO) -> None:
    games = part_of(Path(file.name).with_name(GAMES))
    write_parquet(games, file.buffer)


def write_parquet(games: Path, file: BinaryIO) -> None:
    """Write the rows of a games.csv; the same rows give the same bytes with one pyarrow."""
    from pyarrow import parquet

    with parquet.ParquetWriter(file, _schema(), compression="zstd", version="2.6") as writer:
        for table in _read_groups(games):
            writer.write_table(table, row_group_size=_ROWS)


def find_difference(games: Path, path: Path) -> str:
    """Return how a games.parquet differs from a games.csv, nothing if the rows are the same."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            if file.schema_arrow != _schema():
                return "not the columns of games"
            found = (file.read_row_group(number) for number in range(file.num_row_groups))
            for number, (group, wanted) in enumerate(zip_longest(found, _read_groups(games))):
                if group is None or wanted is None or not group.equals(wanted):
                    return f"row group {number} is not what the games add up to"
    except (OSError, pa.ArrowException) as error:
        return f"cannot be read: {error}"
    return ""


def _schema() -> pa.Schema:
    import pyarrow as pa

    text, number = pa.string(), pa.int64()
    types = {"bot": text, "opponent": text, "pair": number, "seat": pa.int8(), "winner": text}
    types |= {"win_type": text, "points": number, "opponent_points": number, "plies": number}
    types["fault"] = text
    return pa.schema([pa.field(name, kind, name in _GAPS) for name, kind in types.items()])


def _read_groups(games: Path) -> Iterator[pa.Table]:
    """Yield the rows in tables of a row group each; an empty cell is a missing value."""
    import pyarrow as pa
    from pyarrow import csv

    schema = _schema()
    cells = csv.ConvertOptions(column_types=schema, null_values=[""], strings_can_be_null=True)
    with games.open("rb") as file:
        file.readline()
        while text := b"".join(islice(file, _ROWS)):  # in a stream of its own it takes 20 MB more
            whole = csv.ReadOptions(
                column_names=schema.names, use_threads=False, block_size=len(text) + 1
            )
            table = csv.read_csv(pa.BufferReader(text), read_options=whole, convert_options=cells)
            yield table.cast(schema)
