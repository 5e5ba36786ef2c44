"""The key figures of every bot in a report: one row a bot, from tables that the run has."""

from __future__ import annotations

import pandas as pd
import pytest

from arena.differences.run_files import Files, make_files
from arena.reports.standings_section import bots_section
from arena.store.columns import Columns
from arena.tables.losses import JudgedTables
from tests.reports.runs import cup, make_store

CUP = cup(["a", "b", "c"], pairs=10)


@pytest.fixture(scope="module")
def files() -> Files:
    return make_files(CUP, make_store(CUP))


def figures(files: Files, timings: Columns | None = None) -> list[dict[str, object]]:
    """Return the rows of the table by the names of their columns."""
    section = bots_section(files.tables.standings, files.wins().takes, timings, JudgedTables())
    (table,) = section.blocks
    names = [column.name for column in table.columns]  # type: ignore[union-attr]
    return [dict(zip(names, row, strict=True)) for row in table.rows]  # type: ignore[union-attr]


def test_every_bot_has_a_row_in_the_order_of_the_standings(files: Files) -> None:
    """Shares are of its games, and the takes are those of all rounds."""
    standings, takes = files.tables.standings.frame, files.wins().takes.frame
    rows = figures(files)
    assert [row["bot"] for row in rows] == standings["bot"].tolist()
    for row, bot in zip(rows, standings.itertuples(), strict=True):
        assert row["score"] == bot.score
        assert row["won_city"] == bot.city_wins / bot.games
        assert row["lost_forfeit"] == bot.forfeits / bot.games
        (own,) = takes[(takes["bot"] == bot.bot) & takes["round"].isna()].itertuples()
        assert (row["take_cards"], row["take_gain"]) == (own.cards, own.gain)


def test_times_are_there_if_they_are_known(files: Files) -> None:
    """A bot without a measured time has an empty cell."""
    assert "cpu_mean" not in figures(files)[0]
    timings = Columns.of(pd.DataFrame({"bot": ["b"], "cpu_mean": [0.5]}))
    shown = {row["bot"]: row["cpu_mean"] for row in figures(files, timings)}
    assert shown == {"a": None, "b": 0.5, "c": None}
