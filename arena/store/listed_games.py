"""Read lists of games: of runs, of exported records, of any CSV file, or of a DataFrame."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

import numpy as np

from arena.entries.entry import Identity
from arena.entries.file import open_file, read_file
from arena.entries.spec import is_label
from arena.errors import InputError, counted, naming
from arena.lanes.faults import BY_RULE, KINDS
from arena.records.judge import read_lines
from arena.statistics.counts import WIN_TYPES
from arena.store.columns import GUARDED
from arena.store.counting import Ints
from arena.store.csv_files import GAME_COLUMNS
from arena.store.database import NAME
from arena.store.finished import read_line
from arena.store.folder import GAMES, MANIFEST
from arena.store.manifest import MOST_BYTES, make_tournament, read_manifest
from arena.store.reader import read_run, why_no_run
from arena.tournament.tournament import Tournament
from engine import EngineError
from engine.errors import show

if TYPE_CHECKING:
    import pandas as pd

NEEDED: Final = ("bot", "opponent", "winner")
UNKNOWN: Final = -1
"""Stands in a column of a list of games for what it does not say, and for no winner."""

_CHUNK = 10_000  # rows
_MOST_GAMES = 20_000_000
_MOST_POINTS = 10_000
_SEATS = {"": UNKNOWN, "0": 0, "1": 1}
_DRAWS = ("", "draw")
_ENDS = {"": UNKNOWN, **{name: place for place, name in enumerate(WIN_TYPES)}}
FAULTS: Final = ("", BY_RULE, *KINDS)
"""What a column `fault` may say, by its number."""

_Chunk = tuple[Sequence[int], Sequence[Sequence[Any]]]  # of rows: their numbers, their columns


class GameList(NamedTuple):
    """The games of a file: for each column a number for each game.

    `bot`, `opponent` and `winner` are places in `labels`, `pair` is one in `pairs`, `win_type` in
    WIN_TYPES, `fault` in FAULTS. `margin` is the lead of `bot` in points, `scored` whether it is
    known, and `row` where the game stands. `identities` are those of the bots, by label, where they
    are known. Games of the same `source`, pair, seat and labels are the same one: it is the seed
    and the rules of a run, a word for all records, or else the file. So many games were `left_out`,
    because they were not finished. The `rules` are those of a run.
    """

    name: str
    columns: Mapping[str, Ints]
    labels: Sequence[str]
    pairs: Sequence[str]
    source: str
    identities: Mapping[str, Identity] = {}
    rules: str = ""
    left_out: int = 0


def read_games(place: Path) -> GameList:
    """Return the games of a run's folder, or of a file of games; raises InputError.

    A file is CSV with the columns bot, opponent and winner, or has a game record a line.
    """
    if place.is_dir() and (place / NAME).exists():
        tournament, store = read_run(place)
        with closing(store):
            rows = store.named_games(tournament.pairings)
            return _of_run(
                _list(str(place), GAME_COLUMNS, _chunk(rows, 1, str(place), len(GAME_COLUMNS))),
                tournament,
            )
    if place.is_dir() and not (place / GAMES).exists():
        raise InputError(f"{place}: {why_no_run(place)}")
    if place.is_dir():
        place = place / GAMES
    with naming(place):
        file = open_file(place)
    with file:
        if file.peek(1)[:1] == b"{":  # type: ignore[attr-defined]
            return _read_records(str(place), file)
        text = io.TextIOWrapper(file, "utf-8-sig", "surrogateescape", newline="")
        found = _read_csv(str(place), csv.reader(text, strict=True))
    manifest = place.with_name(MANIFEST)
    if place.name != GAMES or not manifest.exists():
        return found
    with naming(manifest):
        return _of_run(found, make_tournament(read_manifest(read_file(manifest, MOST_BYTES))))


def list_games(frame: pd.DataFrame, name: str) -> GameList:
    """Return the games of a table, whose rows are counted from 0; raises InputError."""
    cells = frame.astype(object).where(frame.notna(), None)
    columns = [cells.iloc[:, place].tolist() for place in range(cells.shape[1])]
    return _list(name, [*map(str, frame.columns)], [(range(len(frame)), columns)])


def _of_run(games: GameList, run: Tournament) -> GameList:
    """Return the games of a run, with the identities of its bots and what decides its deals."""
    rules = json.dumps(run.rules.changes(), sort_keys=True)
    identities = {one.label: one.identity for one in run.entries}
    return games._replace(identities=identities, source=f"{run.seed} {rules}", rules=rules)


def _read_csv(name: str, reader: Any) -> GameList:
    """Return the games of a CSV file."""
    try:
        header: list[str] = next(reader, [])
        chunks = _chunk(reader, 2, name, len(header))
        return _list(name, header, chunks, lambda text: re.sub(GUARDED, r"\1", text))
    except csv.Error as error:
        raise InputError(f"{name}: line {reader.line_num}: {error}") from None


def _chunk(rows: Iterable[Sequence[Any]], first: int, name: str, width: int) -> Iterator[_Chunk]:
    """Yield rows in chunks, numbered from `first`, without those that have no cell.

    Raises InputError, which names the row, for one with another number of cells than `width`.
    """
    waiting = iter(rows)
    while chunk := [*islice(waiting, _CHUNK)]:
        numbers: Sequence[int] = range(first, first := first + len(chunk))
        if {*map(len, chunk)} != {width}:
            kept = [(number, row) for number, row in zip(numbers, chunk, strict=True) if row]
            for number, row in kept:
                if len(row) != width:
                    cells = f"{counted(len(row), 'cell')}, and {counted(width, 'column')}"
                    raise InputError(f"{name}: row {number}: {cells}")
            numbers, chunk = [number for number, _ in kept], [row for _, row in kept]
        yield numbers, [*zip(*chunk, strict=True)]


def _read_records(name: str, file: BinaryIO) -> GameList:
    """Return the games of a file of records, each of which is played again."""
    left_out = count()

    def rows() -> Iterator[Sequence[Any]]:
        for number, line in enumerate(read_lines(file), 1):
            if not line.strip():
                yield ()
                continue
            try:
                game = read_line(line)
            except EngineError as error:
                raise InputError(f"{name}: row {number}: {error}") from None
            if "bots" not in json.loads(line):
                raise InputError(f"{name}: row {number}: the record does not name its bots")
            if game is None:
                next(left_out)
                yield ()
                continue
            fault = game.fault.kind if game.fault else ""
            end = game.winner, game.win_type, *game.points, fault
            yield (*game.seats, game.record.deal, 0, *end)

    columns = [column for column in GAME_COLUMNS if column != "plies"]
    found = _list(name, columns, _chunk(rows(), 1, name, len(columns)))
    return found._replace(source="records", left_out=next(left_out))


class _Sheet:
    """The columns of some rows that have a meaning, by codes: in `texts` is what a code says."""

    def __init__(self, name: str, header: Sequence[str], chunks: Iterable[_Chunk]) -> None:
        self.name = name
        self.rows: list[int] = []
        places = {column: header.index(column) for column in GAME_COLUMNS if column in header}
        known = {column: defaultdict[Any, int](count().__next__) for column in places}
        parts: dict[str, list[Ints]] = {column: [] for column in GAME_COLUMNS}
        for numbers, columns in chunks:
            self.rows += numbers
            if len(self.rows) > _MOST_GAMES:
                raise InputError(f"{name}: more than {_MOST_GAMES:,} games")
            for column, place in places.items() if columns else ():
                try:
                    codes = map(known[column].__getitem__, columns[place])
                    parts[column].append(np.fromiter(codes, np.int64, len(numbers)))
                except TypeError as error:  # no cell of a table, such as a list
                    raise InputError(f"{name}: {column}: {error}") from None
        self.texts = {column: [*map(_write, known.get(column, [""]))] for column in GAME_COLUMNS}
        none = np.zeros(len(self.rows), np.int64)
        self.codes = {name: np.concatenate(own) if own else none for name, own in parts.items()}

    def parse(self, column: str, parse: Callable[[str], int], why: str = "") -> Ints:
        """Return what the cells of a column say; raises InputError for one that `parse` refuses."""
        found = []
        for code, text in enumerate(self.texts[column]):
            try:
                found.append(parse(text))
            except (KeyError, ValueError) as error:
                self.refuse(column, self.codes[column] == code, why or str(error))
        return np.array(found, np.int64)[self.codes[column]]

    def refuse(self, column: str, wrong: Any, why: str) -> None:
        """Raise InputError if cells of a column are wrong; it names the first one."""
        for place in np.flatnonzero(wrong)[:1].tolist():
            cell = show(self.texts[column][self.codes[column][place]])
            raise InputError(f"{self.name}: row {self.rows[place]}: {column} {cell} {why}")


def _write(cell: object) -> str:
    """Return a cell as text: a missing one is empty, and a whole number has no point."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, float) and cell.is_integer():
        return f"{cell:.0f}"
    return "" if cell is None else str(cell)


def _list(
    name: str,
    header: Sequence[str],
    chunks: Iterable[_Chunk],
    read: Callable[[str], str] = str,
) -> GameList:
    """Return the games of some rows; `read` returns a label as it was written.

    Raises InputError, which names the row and the column.
    """
    for column in NEEDED:
        if header.count(column) != 1:
            why = "twice" if column in header else f"missing; there are {', '.join(header)}"
            raise InputError(f"{name}: column {column} is {why}")
    sheet = _Sheet(name, header, chunks)
    labels: dict[str, int] = defaultdict(count().__next__)

    def label(text: str) -> int:
        if not is_label(text := read(text)):
            raise ValueError("is no label: 1 to 60 printable characters, no space at the ends")
        return labels[text]

    bot, opponent = (sheet.parse(column, label) for column in NEEDED[:2])
    ends = sheet.parse("win_type", _ENDS.__getitem__, f"is none of {', '.join(WIN_TYPES)}")
    winner = sheet.parse("winner", lambda text: labels.get(read(text), -1 - (text in _DRAWS)))
    plays = (winner == bot) | (winner == opponent)
    no_winner = np.isin(winner, (-2, labels.get("draw", -2)))  # a bot may be called so
    winner = np.where(plays, winner, np.where(no_winner, UNKNOWN, -2))
    sheet.refuse("opponent", bot == opponent, "plays against itself")
    sheet.refuse("winner", winner == -2, "is neither of the two bots, nor draw, nor empty")
    drawn = ends == WIN_TYPES.index("draw")
    wrong = (ends != UNKNOWN) & (drawn != (winner == UNKNOWN))
    sheet.refuse("win_type", wrong, "is not how a game with this winner ends")
    points = [sheet.parse(f"{whose}points", _points, "is no number") for whose in ("", "opponent_")]
    known = {"points", "opponent_points"} <= {*header}
    columns = {
        **{"bot": bot, "opponent": opponent, "winner": winner, "win_type": ends},
        **{"pair": sheet.codes["pair"], "seat": sheet.parse("seat", _SEATS.__getitem__, _SEAT)},
        **{"margin": points[0] - points[1], "scored": np.full(len(bot), known)},
        **{
            "fault": sheet.parse("fault", FAULTS.index, "is no kind of fault"),
            "row": np.array(sheet.rows),
        },
    }
    return GameList(name, columns, [*labels], sheet.texts["pair"], name)


_SEAT = "is neither 0 nor 1"


def _points(text: str) -> int:
    if text and abs(int(text)) > _MOST_POINTS:
        raise ValueError(f"is beyond {_MOST_POINTS:,}")
    return int(text or 0)
