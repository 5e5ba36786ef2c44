"""Write and read CSV files (games, faults, timings, tables) that are safe from CSV injection.

A spreadsheet executes a cell that begins with =, +, - or @, also in quotes or in full-width
letters. So an apostrophe is put before a text that begins with one of these or with white space.
A text that begins with apostrophes and then one of these gets one more, so that every text can be
read back unchanged. Source: OWASP, "CSV Injection"."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO, TypeAlias

from arena.errors import InputError, naming
from arena.files import read_file, replacing
from arena.statistics.counts import BY_RULE
from arena.store.column_titles import GAMES, TIMINGS
from arena.store.folder import part_of
from arena.store.store import Store
from arena.tournament.match import GameResult
from arena.tournament.schedule import Fixture, Pairing
from arena.tournament.timing import Distribution, Timing

if TYPE_CHECKING:
    import pandas as pd

    from arena.store.columns import Cells, Columns

GUARDED: Final = "^'('*[ \t\r\n=+\\-@\uff1d\uff0b\uff0d\uff20])"
"""Matches a text with an added apostrophe, which reading removes."""
_READ = re.compile(GUARDED)


def guard(cell: Any) -> Any:
    """Return a cell as it is written to a file; only strings are changed.

    >>> [guard(cell) for cell in ("=1+1", "'=1+1", "greedy", "-12", -12)]
    ["'=1+1", "''=1+1", 'greedy', "'-12", -12]
    """
    if isinstance(cell, str) and not cell[:1].isalnum() and _READ.match(f"'{cell}"):
        return f"'{cell}"
    return cell


def read_back(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table read from a file with its original texts: the inverse of `guard`."""
    return table.replace(GUARDED, r"\1", regex=True)


def replace_table(path: Path, table: Columns | pd.DataFrame) -> None:
    """Write a table to a file, replacing an earlier one atomically."""
    with (
        replacing(path, part_of(path)) as part,
        part.open("w", encoding="utf-8", newline="") as file,
    ):
        csv_writer(table)(file)


_AT_ONCE = 10_000  # rows: their cells as texts have a few megabytes


def csv_writer(table: Columns | pd.DataFrame) -> Callable[[TextIO], object]:
    """Return a function that writes a table as CSV.

    A column has few different cells, so each of these is formatted once: for the five million cells
    of 300 bots that takes a sixth of the time of `csv.writer`.
    """

    def write(file: TextIO) -> None:
        from arena.store.columns import Columns

        columns = Columns.of(table)
        file.write(",".join(map(_cell, columns.cells)) + "\n")
        for start in range(0, len(columns), _AT_ONCE):
            some = columns.where(slice(start, start + _AT_ONCE))
            texts = [*map(_format_cells, some.cells.values(), some.lists())]
            file.write("\n".join([*map(",".join, zip(*texts, strict=True)), ""]))

    return write


def _format_cells(cells: Cells, values: list[Any]) -> list[str]:
    """Return the values of a column as CSV; they are the cells, with None in empty ones."""
    import numpy as np

    if cells.dtype.kind == "f" and np.signbit(cells[cells == 0]).any():  # -0.0 equals 0.0
        return [*map(_format_value, values)]
    written = {value: _format_value(value) for value in {*values}}
    return [*map(written.__getitem__, values)]


def _format_value(value: Any) -> str:
    if value is None or value == "":
        return ""
    return _cell(value) if isinstance(value, str) else str(value)


_TRACEBACK_LINES = 4
_OUTPUT_LINES = 10


def fault_rows(
    forfeits: Iterable[tuple[Fixture, GameResult]], command: Callable[[Fixture], str]
) -> Iterator[list[Any]]:
    """Yield the rows of faults.csv."""
    for fixture, result in forfeits:
        fault = result.fault
        assert fault is not None
        guilty = fixture.pairing[result.winner == 0]
        yield [
            fixture.name,
            guilty,
            fault.kind,
            result.plies,
            fault.message,
            _last_lines(fault.traceback, _TRACEBACK_LINES),
            _last_lines(fault.output, _OUTPUT_LINES),
            "" if fault.kind == BY_RULE else command(fixture),
        ]


def _last_lines(text: str, lines: int) -> str:
    """Return the last lines of a text, joined into one line."""
    return " | ".join(line.strip() for line in text.strip().splitlines()[-lines:])


_GAMES = 4000  # games in one text: 200 KB
_FROM = "WHERE (pairing, pair, seat) >= (?1, ?2, ?3) ORDER BY pairing, pair, seat LIMIT"
_NEXT = f"SELECT pairing, pair, seat FROM games {_FROM} 1 OFFSET {_GAMES}"
_FAULT = "CASE WHEN fault GLOB '*[^a-z_]*' THEN cell(fault) ELSE fault END"
_LINES = f"""
SELECT group_concat(line, '') FROM (
    SELECT printf('%s,%s,%d,%d,%s,%s,%d,%d,%d,', bot, opponent, pair, seat,
        CASE winner WHEN 0 THEN bot WHEN 1 THEN opponent ELSE '' END, win_type, points,
        opponent_points, plies) || {_FAULT} || char(10) AS line
    FROM games CROSS JOIN named USING (pairing) {_FROM} {_GAMES}
)
"""


def write_games(file: TextIO, store: Store, pairings: Iterable[Pairing]) -> None:
    """Write games.csv, one row a game: `bot` sat in `seat` and its opponent in the other one.

    `winner` is a label, empty for a draw; `fault` is the kind of fault, empty without a forfeit.
    SQLite formats the lines (1.7 us a game), in less than half the time of the module `csv`.
    """
    file.write(",".join(GAMES.names) + "\n")
    with store.errors():
        store.connection.create_function("cell", 1, _cell, deterministic=True)
    cell = cache(_cell)  # each label stands in many pairings
    store.name_pairings(map(cell, pairing) for pairing in pairings)
    place: tuple[Any, ...] | None = (0, 0, 0)
    while place:
        file.writelines(text or "" for (text,) in store.rows(_LINES, *place))
        place = next(store.rows(_NEXT, *place), None)


def _cell(text: str) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerow([guard(text)])
    return file.getvalue()[:-1]


Timings: TypeAlias = Mapping[str, Timing]
"""Time taken by the decisions of each bot, by label."""

_MOST = 1 << 20  # bytes; the timings of a thousand bots have 150 KB


def read_timings(folder: Path) -> bytes | None:
    """Return the content of a run's timings.csv, None if it does not exist; raises InputError."""
    file = folder / TIMINGS.file
    if not file.exists():
        return None
    with naming(file):
        return read_file(file, _MOST)


def parse_timings(content: bytes) -> Columns:
    """Parse the content of a timings.csv; raises InputError if it is invalid.

    It does without pandas, whose import takes a fifth of the time of a report.
    """
    try:
        rows = csv.reader(io.StringIO(content.decode(), newline=""), strict=True)
        if next(rows, None) != [*TIMINGS.names]:
            raise ValueError("not the columns of timings")
        told = []
        for row in rows:
            if len(row) != len(TIMINGS.names):
                raise ValueError(f"line {rows.line_num}: {len(TIMINGS.names)} cells are needed")
            told.append((_READ.sub(r"\1", row[0]), int(row[1]), *map(float, row[2:])))
        return TIMINGS.make(told)
    except (ValueError, OverflowError, csv.Error) as error:
        raise InputError(f"{TIMINGS.file}: {error}") from None


def parse_table(
    content: bytes, name: str, columns: Sequence[str], types: Mapping[str, type] | None = None
) -> pd.DataFrame:
    """Parse the content of a CSV file that must have these columns.

    With `types`, only the columns in it are read, as these types; an empty float is NaN. Raises
    InputError, which names the file, for invalid content.
    """
    import numpy as np
    import pandas as pd

    how: dict[str, Any] = {}
    if types:
        empty = {name: [""] for name, kind in types.items() if kind is float}
        how = {"usecols": [*types], "dtype": dict(types), "na_values": empty}
    try:
        named = pd.read_csv(BytesIO(content), nrows=0).columns
        if [*named] != [*columns]:
            raise InputError(f"{name}: not the columns of {name.partition('.')[0]}")
        with np.errstate(invalid="ignore"):  # for a float in a column of integers
            return read_back(pd.read_csv(BytesIO(content), keep_default_na=False, **how))
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"{name}: {error}") from None


def make_timings(by_label: Timings, labels: Iterable[str]) -> Columns:
    """Return a table of the seconds per decision of each bot, over its timed decisions.

    It has processor time and wall-clock time.
    """
    rows = [
        (label, timing.decisions, *_seconds(timing.cpu), *_seconds(timing.wall))
        for label in labels
        if (timing := by_label.get(label))
    ]
    table = TIMINGS.make(rows)
    return table.put(**{name: table[name].round(9) for name in TIMINGS.names[2:]})


def _seconds(times: Distribution) -> tuple[float, float, float]:
    return times.mean, times.quantile(0.99), times.longest
