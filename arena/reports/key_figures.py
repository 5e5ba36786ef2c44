"""Make the section of a report with the key figures of its bots, one row a bot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from arena.reports.blocks import Block, Section, Table, Text
from arena.reports.charts import cut_table
from arena.store.columns import Columns, is_known, match_rows
from arena.tables.losses import MISTAKES, JudgedTables, choose_opponent, count_mistakes
from arena.tables.table_columns import TIMINGS, Column, interval

_OF_GAMES: Final = "The share of its games that ended so."
_COLUMNS: Final = (
    Column("bot", "Bot"),
    Column("score", "Score", "share", "The share of the points that the bot has scored."),
    Column("won_city", "Won by City", "share", _OF_GAMES),
    Column("won_points", "Won by points", "share", _OF_GAMES),
    Column("lost_city", "Lost by City", "share", _OF_GAMES),
    Column("lost_forfeit", "Forfeited", "share", _OF_GAMES),
    Column("mean_margin", "Margin", "number"),
    Column("take_cards", "Cards of a take", "number", "The mean over all its takes."),
    Column("take_gain", "Points of a take", "number", "The mean that a take adds to its pile."),
)
_SHARES: Final = {
    "won_city": "city_wins",
    "won_points": "points_wins",
    "lost_city": "city_losses",
    "lost_forfeit": "forfeits",
}
_LOSSES: Final = ("loss", "loss_low", "loss_high")


def bots_section(
    standings: Columns, takes: Columns, timings: Columns | None, judged: JudgedTables
) -> Section:
    """Return the section on single bots, the strongest first, and on their kinds of mistakes.

    `takes` are the rows of takes.csv. Times are there with `timings`, and what a decision loses
    with judged decisions.
    """
    return Section("bots", "Bots", [*_blocks(standings, takes, timings, judged)])


def _blocks(
    standings: Columns, takes: Columns, timings: Columns | None, judged: JudgedTables
) -> Iterator[Block]:
    if judged.left_out:
        yield Text([f"Left out: {judged.left_out}."], warning=True)
    of_all = takes.where(~is_known(takes["round"]) & is_known(takes["bot"]))
    table = standings.put(
        **{name: standings[of] / standings["games"] for name, of in _SHARES.items()},
        **_find(standings, of_all, {"take_cards": "cards", "take_gain": "gain"}),
    )
    columns = [*_COLUMNS]
    if timings is not None:
        columns += [column for column in TIMINGS.shown if column.name == "cpu_mean"]
        table = table.put(**_find(table, timings, {"cpu_mean": "cpu_mean"}))
    if judged.decisions is not None and judged.losses is not None:
        opponent = choose_opponent(judged.decisions)
        title = f"Loss against {opponent}"
        meaning = "The mean loss of a decision against this opponent, as arena analyse judged it."
        columns += [Column("loss", title, "share", meaning)]
        columns += interval("loss", title, "share", "The 95 % interval, with the pair as unit.")
        losses = Columns.of(judged.losses[judged.losses["opponent"] == opponent])
        table = table.put(**_find(table, losses, {name: name for name in _LOSSES}))
    rows = table.rows([column.name for column in columns])
    yield cut_table("key-figures", "Key figures of every bot", columns, rows, "standings.csv")
    if judged.decisions is not None and len(kinds := count_mistakes(judged.decisions)):
        caption = "Kinds of mistakes, of the costliest decisions of each bot"
        yield Table("mistakes", caption, MISTAKES.shown, Columns.of(kinds).rows(), folded=True)


def _find(table: Columns, other: Columns, names: dict[str, str]) -> dict[str, np.ndarray]:
    """Return columns of another table by their new names, nan for a bot that has no row there."""
    place = match_rows([table["bot"]], [other["bot"]])
    return {name: np.append(other[of].astype(float), np.nan)[place] for name, of in names.items()}
