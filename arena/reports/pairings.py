"""Pairings: how every two bots did against each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from arena.errors import counted
from arena.insight.findings import Findings
from arena.reports.chart_rows import frame_table, plain_dicts
from arena.reports.charts import BLUE, MOST_BOTS, ORANGE, Spec, chart, nominal
from arena.reports.document import Block, Chart, Column, Section, Text, write_cell

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.05
"""Pairings with a smaller `residual_q` are marked: the Elo does not explain them."""

_SCORE_END = (
    "The 95 % interval of the score, by pairs of games: where it leaves out 50 %, one bot is "
    "better in this pairing."
)
COLUMNS = (
    Column("bot", "Bot"),
    Column("opponent", "Opponent", "text", "The other bot of the pairing."),
    Column("games", "Games", "count"),
    Column("score", "Score", "share"),
    Column("score_low", "Score, low", "share", _SCORE_END),
    Column("score_high", "Score, high", "share", _SCORE_END),
    Column("city_wins", "City", "count"),
    Column("points_wins", "Points", "count"),
    Column("tiebreak_wins", "Tie-break", "count"),
    Column("forfeit_wins", "Forfeit wins", "count"),
    Column("expected", "By Elo", "share", "The score that the ratings of both bots say."),
    Column("residual", "Beyond Elo", "share", "The score less what the ratings say."),
    Column(
        "residual_q",
        "q",
        "number",
        "How easily chance explains what is beyond the Elo, corrected for the number of pairings: "
        "below 0.05 the Elo does not explain this pairing.",
    ),
)
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


def pairings_section(table: pd.DataFrame, labels: Sequence[str], findings: Findings) -> Section:
    """Return the scores of all pairings, as a heat map and as a table.

    `labels` are those of the bots in the order of the standings.
    """
    return Section("pairings", "Head to head", [*_blocks(table, labels, findings)])


def _blocks(table: pd.DataFrame, labels: Sequence[str], findings: Findings) -> Iterator[Block]:
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
    yield frame_table(
        "head_to_head", "Every bot against every other one", COLUMNS, table, "head_to_head.csv"
    )


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
    {"field": "bot", "title": "Bot"},
    {"field": "opponent", "title": "Opponent"},
    {"field": "score", "title": "Score", "type": "quantitative", "format": ".1%"},
    {"field": "interval", "title": "95 % interval"},
    {"field": "games", "title": "Games", "type": "quantitative"},
    {"field": "city", "title": "City wins", "type": "quantitative"},
    {"field": "points", "title": "Points wins", "type": "quantitative"},
    {"field": "elo", "title": "Beyond Elo"},
]
