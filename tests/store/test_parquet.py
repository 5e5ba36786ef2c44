"""games.parquet has the rows of games.csv, and none of other games."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet as pq

from arena.entries.resolve import resolve
from arena.errors import ArenaError
from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET
from arena.lanes.faults import Fault
from arena.runs.run import run
from arena.store import parquet
from arena.store import parquet as columns
from arena.store.csv_files import GAME_COLUMNS, write_games
from arena.store.folder import RunFolder
from arena.store.store import Store
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Played
from arena.tournament.schedule import Pairing
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.tiers import few

ENDINGS = [(0, "city"), (1, "points"), (None, "draw"), (0, "tiebreak"), (1, "forfeit")]
LABEL = 'a, "quoted" NA'


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """Return a games.csv with every win type; a label has what CSV quotes."""
    store = Store(None)
    for pair in range(20):
        winner, win_type = ENDINGS[pair % len(ENDINGS)]
        fault = Fault("illegal", "no") if win_type == "forfeit" else None
        results = [
            GameResult(pair, seat, winner, win_type, pair - 9, 2**31, 40, fault, "")
            for seat in (0, 1)
        ]
        store.add(Played(Chunk(0, pair, 1), results, {}, 0.0))
    path = tmp_path / "games.csv"
    with path.open("w", newline="") as file:
        write_games(file, store.game_lines([Pairing(LABEL, "b")]))
    store.close()
    return path


def write(games: Path, name: str = "games.parquet") -> Path:
    path = games.with_name(name)
    columns.write_parquet(games, path)
    return path


def rows(games: Path) -> list[dict[str, Any]]:
    """Return the rows of a games.csv with numbers; an empty cell is None."""
    texts = ("bot", "opponent", "winner", "win_type", "fault")
    with games.open(newline="") as file:
        return [
            {name: (cell or None) if name in texts else int(cell) for name, cell in row.items()}
            for row in csv.DictReader(file)
        ]


@pytest.mark.parametrize("group", [1, 7, 40, 1 << 14])
def test_it_has_the_rows_and_columns_of_the_csv(
    games: Path, group: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers are numbers, and what is empty is missing, in groups of any size."""
    monkeypatch.setattr(columns, "_ROWS", group)
    path = write(games)
    table = pq.read_table(path)
    assert table.column_names == GAME_COLUMNS
    assert table.to_pylist() == rows(games)
    assert {row["winner"] for row in table.to_pylist()} == {LABEL, "b", None}
    assert pq.ParquetFile(path).num_row_groups == -(-40 // group)
    assert parquet.find_difference(games, path) == ""


def test_the_same_rows_give_the_same_bytes(games: Path) -> None:
    """Nothing of the clock or of the machine is in the file."""
    assert write(games).read_bytes() == write(games, "again").read_bytes()


@pytest.mark.slow
def test_the_process_apart_writes_the_same_file(games: Path) -> None:
    """With the same bytes."""
    path = games.with_name("apart.parquet")
    parquet.write_apart(games, path)
    assert path.read_bytes() == write(games).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("write", [parquet.write_here, parquet.write_apart])
def test_a_failure_is_one_line(games: Path, write: Callable[[Path, Path], None]) -> None:
    """It names the file and the reason."""
    games.write_text(games.read_text() + "no,row\n")
    with pytest.raises(ArenaError, match=r"^games.parquet: ArrowInvalid: .*Expected 10 columns"):
        write(games, games.with_name("failed.parquet"))


@pytest.mark.slow
@pytest.mark.parametrize("small", few([0, 1 << 20]))
def test_a_short_run_needs_no_process_apart(
    tmp_path: Path, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long one has one; both write the same bytes."""
    apart: list[object] = []
    write_apart = parquet.write_apart
    monkeypatch.setattr(parquet, "_SMALL", small)
    monkeypatch.setattr(parquet, "write_apart", lambda *paths: apart.append(write_apart(*paths)))
    play(tmp_path, 2)
    assert len(apart) == (small == 0)
    games = tmp_path / "games.csv"
    written = tmp_path / "details" / "games.parquet"
    assert written.read_bytes() == write(games, "again").read_bytes()


@pytest.mark.slow
def test_the_process_apart_ends_with_its_starter(games: Path) -> None:
    """It waits for the games of a pipe, and ends when its own input does."""
    pipe = games.with_name("pipe")
    os.mkfifo(pipe)
    words = [sys.executable, "-P", columns.__file__, str(pipe), str(games.with_name("none"))]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        with pipe.open("w"):  # it has opened it too, and reads
            process.stdin.close()
            assert process.wait(60) == 1


def test_a_run_without_games_has_the_columns(games: Path) -> None:
    """Of no row."""
    games.write_text(games.read_text().splitlines(keepends=True)[0])
    assert pq.read_table(write(games)).column_names == GAME_COLUMNS
    assert parquet.find_difference(games, games.with_name("games.parquet")) == ""


@pytest.mark.parametrize(
    ("before", "after"), [("city", "points"), (",40,", ",41,"), ("illegal", "timeout")]
)
def test_a_difference_is_found(
    games: Path, before: str, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the group that has it; also a row too many, too few, and a file of another kind."""
    monkeypatch.setattr(columns, "_ROWS", 8)
    path = write(games)
    text = games.read_text()
    lines = text.splitlines(keepends=True)
    place = next(n for n, line in enumerate(lines) if n > 16 and before in line)
    lines[place] = lines[place].replace(before, after, 1)
    games.write_text("".join(lines))
    found = parquet.find_difference(games, path)
    assert found == f"row group {(place - 1) // 8} is not what the games add up to"
    for other in (text + lines[-1], "".join(text.splitlines(keepends=True)[:-1])):
        games.write_text(other)
        assert parquet.find_difference(games, path).startswith("row group ")
    path.write_bytes(b"PAR1")
    assert parquet.find_difference(games, path).startswith("cannot be read: ")


def play(folder: Path, pairs: int) -> None:
    bots = [resolve("uniform"), resolve("greedy")]
    run(Tournament("cup", 0, pairs, bots, STANDARD), LocalExecutor(1), RunFolder(folder), QUIET)


@pytest.mark.slow
def test_a_run_that_goes_on_without_pyarrow_keeps_none_of_fewer_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And with pyarrow there is one of all games; --fresh removes it."""
    path = tmp_path / "details" / "games.parquet"
    play(tmp_path, 1)
    assert pq.read_table(path).to_pylist() == rows(tmp_path / "games.csv")
    with monkeypatch.context() as without:
        without.setattr(parquet, "is_available", lambda: False)
        play(tmp_path, 2)
    assert not path.exists()
    play(tmp_path, 3)
    assert pq.read_table(path).to_pylist() == rows(tmp_path / "games.csv")
    assert f"details/{path.name}" in RunFolder(tmp_path).clear()
