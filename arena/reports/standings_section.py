"""Standings: who is stronger, by how much and how surely."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from arena.insight.findings import Findings, describe_spread
from arena.insight.summary import describe_end
from arena.reports.chart_rows import frame_table, plain_rows
from arena.reports.charts import BLUE, MOST_BOTS, STEP, chart, quantity, row_of_bots
from arena.reports.document import Block, Chart, Column, Section, Text, write_cell

if TYPE_CHECKING:
    import pandas as pd

_ELO = (
    "The rating, by a Bradley-Terry fit to all games: 100 points more are a score of 64 % against "
    "each other; the mean is 1500 unless the run has an anchor."
)
_ELO_END = (
    "The 95 % interval of the Elo, from pairs of games: of 100 such intervals, about 95 hold what "
    "endless play of every two bots would show. A bot that has won every game has no upper end, "
    "one that has lost every game no lower: its Elo is a guess, and does not count for the mean."
)
COLUMNS = (
    Column("rank", "Rank", "count", "The place by Elo."),
    Column("bot", "Bot", "text", "The bot's label in this run."),
    Column("elo", "Elo", "elo", _ELO),
    Column("elo_low", "Elo, low", "elo", _ELO_END),
    Column("elo_high", "Elo, high", "elo", _ELO_END),
    Column(
        "group",
        "Group",
        "text",
        "Two bots that share a letter were not told apart by these games. Of two bots that share "
        "none the upper one is the stronger one: in at most 5 of 100 runs is any such order of the "
        "table wrong, however often one looks.",
    ),
    Column("games", "Games", "count", "Finished games; each deal is played twice."),
    Column("score", "Score", "share", "The share of the points: a win is 1, a draw is 1/2."),
    Column("city_wins", "City", "count", "Games won by holding all three cities (R11)."),
    Column("points_wins", "Points", "count", "Games won by the higher total (R16)."),
    Column("tiebreak_wins", "Tie-break", "count", "Games won on equal totals (R17, R18)."),
    Column("forfeit_wins", "Forfeit wins", "count", "Games won by a fault of the opponent."),
    Column("draws", "Draws", "count", "Games that were shared (R18)."),
    Column("losses", "Losses", "count", "Games lost, in whatever way."),
    Column("forfeits", "Forfeits", "count", "Games lost by a fault of the bot's own."),
    Column(
        "mean_margin",
        "Margin",
        "number",
        "The mean of own points less the opponent's, over games that did not end by City or "
        "forfeit.",
    ),
)
TIME_COLUMNS = (
    Column("cpu_mean", "Time", "seconds", "Mean time of the processor for a decision."),
    Column("cpu_p99", "Time, 99 %", "seconds", "99 of 100 decisions took no longer than this."),
)
_AXIS = {"format": "d", "tickCount": 8, "labelOverlap": True}


def standings_section(
    standings: pd.DataFrame, findings: Findings, timings: pd.DataFrame | None
) -> Section:
    """Return the standings as a chart of intervals and as a table."""
    return Section("standings", "Standings", [*_blocks(standings, findings, timings)])


def _blocks(
    standings: pd.DataFrame, findings: Findings, timings: pd.DataFrame | None
) -> Iterator[Block]:
    if warnings := findings.warnings():
        yield Text(warnings, warning=True)
    if standings["elo"].notna().any():
        yield _chart(standings)
    columns: tuple[Column, ...] = COLUMNS
    if timings is not None:
        columns += TIME_COLUMNS
        standings = standings.merge(timings, on="bot", how="left")
    yield frame_table("standings", "Standings", columns, standings, "standings.csv")
    if notes := [*_notes(standings, findings)]:
        yield Text(notes)


def _notes(standings: pd.DataFrame, findings: Findings) -> Iterator[str]:
    if unrated := standings.loc[standings["elo"].isna(), "bot"].tolist():
        yield f"Not rated, because no game of theirs was finished: {', '.join(unrated)}."
    for one in findings.unbounded:
        yield f"{one.describe()}."
    if findings.spread:
        for text in describe_spread(findings.spread, counts=findings.spread_counts):
            yield f"{text[:1].upper()}{text[1:]}."
    if findings.cycle:
        beats = " beats ".join(findings.cycle)
        yield f"A cycle: {beats}. rankings.csv has rankings that allow for cycles."


def _interval(low: float | None, high: float | None) -> str:
    """Return an interval in words, or the one end of it that is known."""
    if low is None or high is None:
        return describe_end(low, high)
    return f"{write_cell(low, 'elo')} to {write_cell(high, 'elo')}"


def _chart(standings: pd.DataFrame) -> Chart:
    shown = standings[standings["elo"].notna()].head(MOST_BOTS)
    names = ("bot", "elo", "elo_low", "elo_high", "group")
    rows = [dict(zip(names, row, strict=True)) for row in plain_rows(shown, names)]
    for row in rows:
        low, high = row["elo_low"], row["elo_high"]
        row["interval"] = _interval(low, high)
        row |= {"elo_low": row["elo"] if low is None else low}
        row |= {"elo_high": row["elo"] if high is None else high}
        row["group"] = row["group"] or "none"
    labels = [row["bot"] for row in rows]
    y = row_of_bots(labels)
    tips = [
        {"field": "bot", "title": "Bot"},
        {"field": "elo", "title": "Elo", "type": "quantitative", "format": ".0f"},
        {"field": "interval", "title": "95 % interval"},
        {"field": "group", "title": "Group"},
    ]
    x = quantity("elo", "Elo with its 95 % interval", scale={"zero": False}, axis=_AXIS)
    layers = [
        {
            "mark": {"type": "rule", "strokeWidth": 3, "opacity": 0.55, "color": BLUE},
            "encoding": {"x": x | {"field": "elo_low"}, "x2": {"field": "elo_high"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1, "color": BLUE},
            "encoding": {"x": x},
        },
    ]
    best = rows[0]
    description = (
        f"Elo ratings with their 95 % intervals, the strongest bot first: {best['bot']} has "
        f"{write_cell(best['elo'], 'elo')} ({best['interval']}). Which bots were told apart is "
        "said by the letters in the column Group, and not by which intervals overlap."
    )
    spec = chart(rows, height=STEP * len(rows), layer=layers, encoding={"y": y, "tooltip": tips})
    return Chart("ratings", "Elo with its interval", description, spec, "standings")
