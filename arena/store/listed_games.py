"""Read lists of games: of runs, of exported records, of any CSV file, or of a DataFrame."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

import numpy as np
import pandas as pd

from arena.entries.entry import Identity
from arena.entries.spec import is_label
from arena.errors import InputError, counted, naming
from arena.files import decode, read_file
from arena.lanes.faults import KINDS
from arena.replays.judge_records import read_line, read_lines
from arena.statistics.counts import BY_RULE, RESULTS, WIN_TYPES
from arena.statistics.distributions import Floats
from arena.statistics.intervals import Ints
from arena.store.column_titles import GAMES
from arena.store.csv_files import GUARDED
from arena.store.database import NAME
from arena.store.folder import MANIFEST
from arena.store.manifest import MOST_BYTES, make_tournament, read_manifest
from arena.store.reader import begins_a_record, read_run, why_no_run
from arena.store.store import Store
from arena.tournament.schedule import Fixture, Pairing
from arena.tournament.tournament import Tournament
from engine import EngineError
from engine.cards import to_text
from engine.errors import show

UNKNOWN: Final = -1
"""Stands for a missing value in a column of numbers."""

FAULTS: Final = ("", BY_RULE, *KINDS)
"""The values of a column `fault`, by number."""

_DRAW = RESULTS - 1
_CODES: Final[Mapping[str, Mapping[str, int]]] = {
    "seat": {"": UNKNOWN, "0": 0, "1": 1},
    "win_type": {"": UNKNOWN, **{name: place for place, name in enumerate(WIN_TYPES)}},
    "fault": {name: place for place, name in enumerate(FAULTS)},
}
_POINTS = ("points", "opponent_points")
_RECORDED = ("bot", "opponent", "pair", "seat", "winner", "win_type", *_POINTS, "fault")
_MOST = 1 << 29  # bytes of a file; enough for ten million games of a run
_MOST_POINTS = 10_000
_LABEL = "is no label: 1 to 60 printable characters, no space at the ends"
_WINNER = "is neither of the two bots, nor draw, nor empty"


class GameList(NamedTuple):
    """The games of a file, as a table with a row for each.

    Columns of `games`: the labels `bot` and `opponent`; `result`, 0 if the bot won, 1 if it lost, 2
    in a draw; `win_type` as an index in WIN_TYPES, and `fault` in FAULTS; `seat`; `pair`, a text;
    `margin`, the bot's lead in points; `cards`, the deal of a game of a run or a record, "" if it
    was not asked for; and `row`. `identities` are the known identities of bots, by
    label. Two games with equal source, pair, seat and labels are the same game; `source` is the
    seed and the `rules` of a run, a constant for records, or else the file. `left_out` is the
    number of unfinished games, which are not in the table. `even` is whether the run chose its
    pairings, and `looks` whether its games may be interim ones.
    """

    name: str
    games: pd.DataFrame
    source: str
    identities: Mapping[str, Identity] = {}
    rules: str = ""
    left_out: int = 0
    even: bool = False
    looks: bool = False


def read_games(place: Path, *, cards: bool = False) -> GameList:
    """Return the games of a run's folder, or of a file of games; raises InputError.

    The file is CSV with at least the columns bot, opponent and winner, or has a game record a line.
    With `cards` the deals of a run are found, which takes 10 us each.
    """
    name = str(place)
    if place.is_dir() and (place / NAME).exists():
        run, store = read_run(place)
        with closing(store):
            return list_run(run, store, name, cards=cards)
    if place.is_dir():
        if not (place / GAMES.file).exists():
            raise InputError(f"{place}: {why_no_run(place)}")
        place = place / GAMES.file
    with naming(place):
        content = read_file(place, _MOST)
    if begins_a_record(content):
        return _read_records(name, io.BytesIO(content))
    found = _read_csv(name, content)
    manifest = place.with_name(MANIFEST)
    if place.name != GAMES.file or not manifest.exists():
        return found
    with naming(manifest):
        run = make_tournament(read_manifest(read_file(manifest, MOST_BYTES)))
        return _of_run(found, run, cards=cards)


def list_run(run: Tournament, store: Store, name: str, *, cards: bool = False) -> GameList:
    """Return the finished games of a run, with the deals if the `cards` are wanted."""
    rows = pd.DataFrame(store.named_games(run.pairings), columns=GAMES.names, dtype=object)
    return _of_run(list_games(rows, name), run, cards=cards)


def _of_run(found: GameList, run: Tournament, *, cards: bool) -> GameList:
    """Add to the games of a run its bots' identities, and what its deals come from."""
    if cards:
        found.games["cards"] = _find_cards(found, run)
    rules = json.dumps(run.rules.changes(), sort_keys=True)
    identities = {one.label: one.identity for one in run.entries}
    source, looks = " ".join([str(run.seed), rules, *run.deals]), run.looks_again(len(found.games))
    return GameList(
        found.name, found.games, source, identities, rules, 0, run.chooses_pairings, looks
    )


def _find_cards(found: GameList, run: Tournament) -> list[str]:
    """Return the deal of each game of a run as text; raises InputError for an unknown pair."""
    dealt: dict[tuple[str, ...], str] = {}
    rows = found.games[["bot", "opponent", "pair", "row"]].itertuples(index=False, name=None)
    keys = []
    for bot, opponent, pair, row in rows:
        keys.append((bot, opponent, pair))
        if keys[-1] not in dealt:
            if Pairing(bot, opponent) not in run.pairings or not pair.isdecimal():
                raise InputError(f"{found.name}: row {row}: not a game of this run")
            fixture = Fixture(Pairing(bot, opponent), int(pair), 0)
            dealt[keys[-1]] = to_text(run.draw(fixture).deal)
    return [dealt[key] for key in keys]


def _read_csv(name: str, content: bytes) -> GameList:
    """Return the games of a CSV file; blank rows are skipped."""
    rows = {}
    try:
        with naming(name):
            text = decode(content)
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        header = next(reader, [])
        for number, row in enumerate(reader, 2):
            if len(row) != len(header) and row:
                found = f"{counted(len(row), 'cell')}, and {counted(len(header), 'column')}"
                raise InputError(f"{name}: row {number}: {found}")
            if row:
                rows[number] = row
    except csv.Error as error:
        raise InputError(f"{name}: line {reader.line_num}: {error}") from None
    table = pd.DataFrame([*rows.values()], [*rows], header, object)
    return list_games(table, name, partial(re.sub, GUARDED, r"\1"))


def _read_records(name: str, file: BinaryIO) -> GameList:
    """Return the games of a file of records, replaying each record."""
    rows: dict[int, tuple[Any, ...]] = {}
    left_out = 0
    for number, line in enumerate(read_lines(file), 1):
        if not line.strip():
            continue
        with naming(f"{name}: line {number}", EngineError):
            game = read_line(line)
            if "bots" not in json.loads(line):
                raise InputError("the record does not name its bots")
        if game is None:
            left_out += 1
            continue
        end = game.winner, game.win_type, *game.points, game.fault.kind if game.fault else ""
        rows[number] = *game.seats, game.record.deal, 0, *end
    found = list_games(pd.DataFrame([*rows.values()], [*rows], _RECORDED, object), name)
    found.games["cards"] = found.games["pair"]
    return found._replace(source="records", left_out=left_out)


def list_games(table: pd.DataFrame, name: str, read: Callable[[str], str] = str) -> GameList:
    """Return the games of a table with the columns of games.csv; `read` converts its labels.

    Raises InputError, which names the column and the row, by its value in the index.
    """
    cells = _Cells(table, name)
    bot, opponent = (
        cells.parse(column, partial(_label, read), _LABEL) for column in ("bot", "opponent")
    )
    cells.refuse("opponent", bot == opponent, "plays against itself")
    winner = cells.parse("winner", read)
    drawn = np.isin(winner.astype(object), ["", "draw"])
    result = np.select([winner == bot, winner == opponent, drawn], range(RESULTS), UNKNOWN)
    cells.refuse("winner", result == UNKNOWN, _WINNER)
    coded = {
        column: cells.parse(
            column, codes.__getitem__, f"is none of {', '.join(filter(None, codes))}"
        )
        for column, codes in _CODES.items()
    }
    own, theirs = (cells.parse(column, _points, "is no number of points") for column in _POINTS)
    _refuse_contradictions(cells, result, coded["win_type"], coded["fault"], own - theirs)
    columns = {"bot": bot, "opponent": opponent, "result": result, "pair": cells.parse("pair", str)}
    more = {"margin": own - theirs, "cards": "", "row": table.index}
    return GameList(name, pd.DataFrame({**columns, **coded, **more}), name)


def _refuse_contradictions(
    cells: _Cells, result: Ints, win_type: Ints, fault: Ints, margin: Floats
) -> None:
    """Raise InputError for a game whose columns contradict each other."""
    wrong = (win_type == WIN_TYPES.index("draw")) != (result == _DRAW)
    cells.refuse("win_type", wrong & (win_type != UNKNOWN), "is not how this game can end")
    lead = np.select([result == 0, result == 1], [margin, -margin], np.nan)
    by_points = win_type == WIN_TYPES.index("points")
    cells.refuse("points", by_points & (lead <= 0), "is not more than the loser has")
    level = (result == _DRAW) | (win_type == WIN_TYPES.index("tiebreak"))
    uneven = (np.abs(margin) > 0) & (fault == 0)
    cells.refuse("points", level & uneven, "is not what the other bot has")


class _Cells:
    """The cells of a table with the columns of games.csv; raises InputError for a wrong one."""

    def __init__(self, table: pd.DataFrame, name: str) -> None:
        self.table, self.name = table, name
        header = [*map(str, table.columns)]
        for column in GAMES.names:
            if header.count(column) > 1:
                raise InputError(f"{name}: column {column} is there twice")
            if column in ("bot", "opponent", "winner") and column not in header:
                found = f"there are {', '.join(header)}" if any(header) else "the table is empty"
                raise InputError(f"{name}: column {column} is missing; {found}")

    def refuse(self, column: str, wrong: Any, why: str) -> None:
        """Raise InputError for the first row that is wrong, if there is one."""
        for place in np.flatnonzero(wrong)[:1].tolist():
            cell = show(_write(self.table[column].iloc[place]))
            raise InputError(f"{self.name}: row {self.table.index[place]}: {column} {cell} {why}")

    def parse(self, column: str, read_cell: Callable[[str], Any], why: str = "") -> Any:
        """Return what is read of each cell; a column that is missing is empty."""
        empty = pd.Series("", self.table.index, object)
        with naming(f"{self.name}: column {column}", TypeError):  # such as a list in a cell
            codes, cells = pd.factorize(self.table.get(column, empty), use_na_sentinel=False)
        found = []
        for code, cell in enumerate(cells):
            try:
                found.append(read_cell(_write(cell)))
            except (KeyError, ValueError):
                self.refuse(column, codes == code, why)
        return pd.Series(found, dtype=None if found else int).to_numpy()[codes]


def _label(read: Callable[[str], str], text: str) -> str:
    """Convert a cell to the original label; raises ValueError for an invalid label."""
    if not is_label(label := read(text)):
        raise ValueError
    return label


def _points(text: str) -> float:
    """Convert a cell to points, nan if empty; raises ValueError."""
    if text and abs(int(text)) > _MOST_POINTS:
        raise ValueError
    return int(text) if text else np.nan


def _write(cell: object) -> str:
    """Convert a cell to text: "" for a missing value, no decimal point for a whole number."""
    if isinstance(cell, float) and cell.is_integer():
        return f"{cell:.0f}"
    return cell if isinstance(cell, str) else "" if pd.isna(cell) else str(cell)  # type: ignore[call-overload]
