"""What arena analyse has left in a folder is read back; a file of other columns is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

from arena.replays.timeline import DISPUTED
from arena.store.csv_files import csv_writer
from arena.store.folder import ANALYSIS
from arena.store.store import Store
from arena.tables.losses import (
    AGAIN,
    DECISIONS,
    count_mistakes,
    find_worst,
    make_losses,
    read_judged,
)
from engine import STANDARD
from tests.reports.runs import cup, make_store

CUP = cup(["a", "b", "=c"], 2)


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    made = make_store(CUP)
    yield made
    made.close()


@pytest.fixture(scope="module")
def decisions(store: Store) -> pd.DataFrame:
    """Return decisions of all games, as the analysis writes them, with made up numbers."""
    rows = []
    for number, game in store.results():
        fixture = CUP.fixture(number, game.pair, game.seat)
        seats = [*fixture.pairing][:: 1 if game.seat == 0 else -1]
        for ply, action in enumerate(game.actions[:40]):
            seat = STANDARD.seat_at(ply)
            row = {"game": fixture.name, "bot": seats[seat], "opponent": seats[1 - seat]}
            row |= {"pair": game.pair, "seat": seat, "ply": ply, "round": ply // 12 + 1}
            row |= {"action": action, "loss": ply % 7 / 100, "error": 0.01, "worlds": 8}
            rows.append(row)
    return pd.DataFrame(rows).reindex(columns=DECISIONS.names)


def write(folder: Path, table: pd.DataFrame) -> None:
    with (folder / ANALYSIS).open("w", encoding="utf-8") as file:
        csv_writer(table)(file)


def test_the_file_is_read_back(tmp_path: Path, decisions: pd.DataFrame) -> None:
    """With a label that a file keeps behind an apostrophe; without a file there are no rows."""
    assert read_judged(None).decisions is None
    nothing = read_judged(tmp_path)
    assert (nothing.decisions, nothing.left_out) == (None, "")
    write(tmp_path, decisions)
    found = read_judged(tmp_path)
    assert not found.left_out
    assert len(found.decisions) == len(decisions)
    assert {*make_losses(found.decisions)["bot"]} == {"a", "b", "=c"}


def first(table: pd.DataFrame, **cells: object) -> pd.DataFrame:
    """Return a table with other cells in its first row."""
    changed = table.astype(object)
    for name, cell in cells.items():
        changed.loc[0, name] = cell
    return changed


@pytest.mark.slow
def test_what_both_judges_call_a_mistake_is_listed(tmp_path: Path, decisions: pd.DataFrame) -> None:
    """With the numbers of the second one."""
    twice = decisions.astype(object)
    twice.loc[:2, "better"] = ["T", "5", "6"]
    twice.loc[:2, "again"] = [0.3, 0.04, 0.2]
    twice.loc[:2, "again_error"] = [0.1, 0.06, 0.05]
    twice.loc[:2, "mistake"] = ["took too late", DISPUTED, "gave a city"]
    write(tmp_path, twice)
    found = read_judged(tmp_path).decisions
    worst = find_worst(found, 5)
    columns = ["ply", "best", "loss", "error", "mistake"]
    listed = [(0, "T", 0.3, 0.1, "took too late"), (2, "6", 0.2, 0.05, "gave a city")]
    assert sorted(worst[columns].itertuples(index=False, name=None)) == listed
    assert count_mistakes(found)["decisions"].tolist() == [1, 1]


SPOILT: dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], str]] = {
    "columns": (lambda table: table.drop(columns="loss"), "not the columns of analysis"),
    "older columns": (lambda table: table.drop(columns=[*AGAIN]), "not the columns of analysis"),
    "no number": (lambda table: first(table, ply="T"), "invalid literal for int"),
    "a word": (lambda table: first(table, loss="<b>"), "could not convert string to float"),
}


def test_a_file_with_other_columns_or_types_is_left_out(
    tmp_path: Path, decisions: pd.DataFrame
) -> None:
    for change, why in SPOILT.values():
        write(tmp_path, change(decisions))
        found = read_judged(tmp_path)
        assert found.decisions is None
        assert found.left_out.startswith(f"{ANALYSIS}: ")
        assert why in found.left_out
