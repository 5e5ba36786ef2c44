"""Make the section of a report with standings, their intervals and the scores of every two bots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from arena.errors import counted
from arena.insight.findings import Findings, describe_spread
from arena.insight.summary import describe_end
from arena.insight.table_columns import HEAD_TO_HEAD, STANDINGS, TIMINGS
from arena.reports.blocks import Block, Chart, Section, Text, write_cell
from arena.reports.charts import (
    BLUE,
    MOST_BOTS,
    ORANGE,
    STEP,
    Spec,
    chart,
    frame_table,
    interval_layers,
    nominal,
    plain_dicts,
    plain_rows,
    quantity,
    row_of_bots,
    tips,
)
from arena.reports.profiles_section import profile_links
from arena.statistics.intervals import LEVEL

if TYPE_CHECKING:
    import pandas as pd

_FIELDS = {
    "bot": "bot",
    "opponent": "opponent",
    "score": "score",
    "games": "games",
    "city_wins": "city",
    "points_wins": "points",
    "score_low": "low",
    "score_high": "high",
    "residual": "beyond",
    "residual_q": "q",
}
_FEW = 14  # bots whose scores can be printed in the cells
_WIDE, _HIGH, _NARROW = 46, 30, 20  # pixels of a cell, with and without its score
_TIMES = ("cpu_mean", "cpu_p99")
_AFTER_ELO = 5  # columns: rank, bot, Elo and its ends
_CHARTED = ("bot", "elo", "elo_low", "elo_high", "group")
_AXIS_TITLE = "Elo with its 95 % interval"
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
    columns = [*STANDINGS.shown]
    group = next(column for column in columns if column.name == "group")
    columns.remove(group)
    columns.insert(_AFTER_ELO, group)
    if timings is not None:
        columns += [column for column in TIMINGS.shown if column.name in _TIMES]
        standings = standings.merge(timings, on="bot", how="left")
    table = frame_table(STANDINGS, "Standings", standings, columns)
    yield replace(table, links=profile_links(standings["bot"].tolist()))
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
    rows: list[dict[str, Any]] = []
    for bot, elo, low, high, group in plain_rows(shown, _CHARTED):
        ends = {"low": elo if low is None else low, "high": elo if high is None else high}
        row = {"bot": bot, "value": elo, **ends, "interval": _interval(low, high)}
        rows.append({**row, "group": group or "none"})
    spec = chart(
        rows,
        height=STEP * len(rows),
        layer=interval_layers(quantity("value", _AXIS_TITLE, scale={"zero": False}, axis=_AXIS)),
        encoding={
            "y": row_of_bots([row["bot"] for row in rows]),
            "tooltip": [
                *tips(("bot", "Bot")),
                *tips(("value", "Elo"), form=".0f"),
                *tips(("interval", "95 % interval"), ("group", "Group")),
            ],
        },
    )
    best = rows[0]
    description = (
        f"Elo ratings with their 95 % intervals, the strongest bot first: {best['bot']} has "
        f"{write_cell(best['value'], 'elo')} ({best['interval']}). Which bots were told apart is "
        "said by the letters in the column Group, and not by which intervals overlap."
    )
    return Chart("ratings", "Elo with its interval", description, spec, "standings")


def pairings_section(table: pd.DataFrame, labels: Sequence[str], findings: Findings) -> Section:
    """Return the scores of all pairings, as a heat map and as a table.

    `labels` are those of the bots in the order of the standings.
    """
    return Section("pairings", "Head to head", [*_pairing_blocks(table, labels, findings)])


def _pairing_blocks(
    table: pd.DataFrame, labels: Sequence[str], findings: Findings
) -> Iterator[Block]:
    places = {label: place for place, label in enumerate(labels)}
    order = [table[name].map(places) for name in ("bot", "opponent")]
    table = table.assign(_bot=order[0], _opponent=order[1]).sort_values(["_bot", "_opponent"])
    shown = table[(table["_bot"] < MOST_BOTS) & (table["_opponent"] < MOST_BOTS)]
    yield _heat_map(shown, labels[:MOST_BOTS])
    if len(labels) > MOST_BOTS:
        yield Text([f"The map has the first {MOST_BOTS} bots of {len(labels):,}."])
    if findings.misfits:
        count = f"{len(findings.misfits):,} of {counted(findings.tested, 'pairing')}"
        be = "is" if len(findings.misfits) == 1 else "are"
        yield Text(
            [
                f"{count} {be} not as the Elo says. They are marked in the map: a triangle that "
                "points up where the bot of the row scored more, one that points down where it "
                "scored less."
            ]
        )
    yield frame_table(HEAD_TO_HEAD, "Every bot against every other one", table)


def _heat_map(table: pd.DataFrame, labels: Sequence[str]) -> Chart:
    rows = plain_dicts(table, _FIELDS)
    for row in rows:
        _complete(row)
    is_small = len(labels) <= _FEW
    size = (_WIDE, _HIGH) if is_small else (_NARROW, _NARROW)
    cell = {"mark": {"type": "rect", "stroke": "#8c959f", "strokeWidth": 0.3}}
    layers = [cell | {"encoding": {"color": _COLOUR}}]
    if is_small:
        layers.append(_NUMBERS)
    if any("mark" in row for row in rows):
        layers.append(_marks(size))
    spec = chart(
        rows,
        width={"step": size[0]},
        height={"step": size[1]},
        layer=layers,
        encoding={
            "x": _axis("opponent", labels, orient="top", labelAngle=-50),
            "y": _axis("bot", labels),
            "tooltip": _TIPS,
        },
    )
    description = (
        f"The score of each of {len(labels)} bots (rows) against each other one (columns), in the "
        "order of the standings: blue above 50 %, orange below. Point at a cell, or tap it, for "
        "its numbers."
    )
    return Chart("heat-map", "Scores against each opponent", description, spec, "head_to_head")


def _complete(row: dict[str, Any]) -> None:
    """Add the texts that the map shows to the row of a pairing."""
    low, high = (write_cell(row.pop(name), "share") for name in ("low", "high"))
    row["interval"] = f"{low} to {high}"
    q, beyond = row.pop("q"), row.pop("beyond")
    if q is not None and q < LEVEL:
        row["mark"] = "more" if beyond > 0 else "less"
        row["elo"] = f"{100 * abs(beyond):.1f} % {row['mark']} than the Elo says"


def _axis(field: str, labels: Sequence[str], **more: Any) -> Spec:
    axis = {"labelLimit": 130, "domain": False, "ticks": False} | more
    return nominal(field, sort=[*labels], title=None, scale={"domain": [*labels]}, axis=axis)


def _marks(size: tuple[int, int]) -> Spec:
    """Return the layer of triangles in the corners of cells that the Elo does not explain."""
    shape = {"domain": ["more", "less"], "range": ["triangle-up", "triangle-down"]}
    return {
        "transform": [{"filter": "isValid(datum.mark)"}],
        "mark": {
            "type": "point",
            "filled": True,
            "size": 45,
            "color": "#000000",
            "stroke": "#ffffff",
            "strokeWidth": 1,
            "opacity": 1,
            "xOffset": size[0] / 2 - 6,
            "yOffset": 6 - size[1] / 2,
        },
        "encoding": {"shape": {"field": "mark", "type": "nominal", "scale": shape, "legend": None}},
    }


_COLOUR: Spec = {
    "field": "score",
    "type": "quantitative",
    "title": "Score",
    "scale": {"domain": [0, 0.5, 1], "range": [ORANGE, "#f7f7f7", BLUE], "interpolate": "rgb"},
    "legend": {"format": ".0%", "orient": "bottom", "gradientLength": 180},
}
_NUMBERS: Spec = {
    "transform": [{"calculate": "format(100 * datum.score, '.0f')", "as": "text"}],
    "mark": {"type": "text", "fontSize": 12},
    "encoding": {
        "text": {"field": "text", "type": "nominal"},
        "color": {
            "condition": {"test": "abs(datum.score - 0.5) > 0.36", "value": "#ffffff"},
            "value": "#1b1f24",
        },
    },
}
_TIPS: list[Spec] = [
    *tips(("bot", "Bot"), ("opponent", "Opponent")),
    *tips(("score", "Score"), form=".1%"),
    *tips(("interval", "95 % interval")),
    *tips(("games", "Games"), ("city", "City wins"), ("points", "Points wins"), form=","),
    *tips(("elo", "Beyond Elo")),
]
