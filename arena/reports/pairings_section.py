"""Make the section on every two bots: their scores, and which of them is the stronger one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from arena.errors import counted
from arena.insight.findings import Findings
from arena.insight.table_columns import (
    HEAD_TO_HEAD,
    LOSS_COLUMNS,
    VERDICTS,
    WIN_TYPE_TABLE,
    Column,
)
from arena.reports.blocks import Block, Chart, Section, Text, write_cell, write_interval
from arena.reports.charts import MOST_BOTS, frame_table, plain_dicts, tips
from arena.reports.heat_maps import heat_map, two_sided
from arena.reports.win_section import with_losses
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
_MORE, _LESS = "more", "less"
_TIPS = [
    *tips(("bot", "Bot"), ("opponent", "Opponent")),
    *tips(("score", "Score"), form=".1%"),
    *tips(("interval", "95 % interval")),
    *tips(("games", "Games"), ("city", "City wins"), ("points", "Points wins"), form=","),
    *tips(("elo", "Beyond Elo")),
]
_CHANCES = {"bot": "bot", "opponent": "opponent", "likely": "chance", "verdict": "verdict"}
_CHANCE_TIPS = [
    *tips(("bot", "Bot"), ("opponent", "Opponent"), ("text", "Probability")),
    *tips(("verdict", "Verdict")),
]


def pairings_section(
    table: pd.DataFrame, verdicts: pd.DataFrame, labels: Sequence[str], findings: Findings
) -> Section:
    """Return the scores of all pairings and the stronger bots, as heat maps and tables.

    `labels` are those of the bots in the order of the standings; a table has each pairing once,
    with the bot first that is ranked higher.
    """
    blocks = [*_scores(table, labels, findings), *_verdicts(verdicts, labels)]
    return Section("pairings", "Head to head", blocks)


def _scores(table: pd.DataFrame, labels: Sequence[str], findings: Findings) -> Iterator[Block]:
    places = {label: place for place, label in enumerate(labels)}
    order = [table[name].map(places) for name in ("bot", "opponent")]
    table = table.assign(_bot=order[0], _opponent=order[1]).sort_values(["_bot", "_opponent"])
    shown = table[(table["_bot"] < MOST_BOTS) & (table["_opponent"] < MOST_BOTS)]
    yield _score_map(shown, labels[:MOST_BOTS])
    if len(labels) > MOST_BOTS:
        yield Text([f"The maps have the first {MOST_BOTS} bots of {len(labels):,}."])
    if findings.misfits:
        count = f"{len(findings.misfits):,} of {counted(findings.tested, 'pairing')}"
        verbs = ("is", "It is") if len(findings.misfits) == 1 else ("are", "They are")
        yield Text(
            [
                f"{count} {verbs[0]} not as the Elo says. {verbs[1]} marked in the map: a triangle "
                "that points up where the bot of the row scored more, one that points down where "
                "it scored less."
            ]
        )
    both = with_losses(table)
    once = both[both["_bot"] < both["_opponent"]]
    yield frame_table(HEAD_TO_HEAD, "Every two bots that met", once, [*_columns()])


def _columns() -> Iterator[Column]:
    """Yield the columns of a pairing, with the wins of both bots."""
    both = {column.name: column for column in WIN_TYPE_TABLE.shown}
    losses = [both[name] for name in LOSS_COLUMNS.values()]
    for column in HEAD_TO_HEAD.shown:
        if column.name == "expected":
            yield from losses
        yield both[column.name] if column.name.endswith("_wins") else column


def _score_map(table: pd.DataFrame, labels: Sequence[str]) -> Chart:
    rows = plain_dicts(table, _FIELDS)
    for row in rows:
        _complete(row)
    spec = heat_map(rows, labels, two_sided("score", "Score"), _TIPS, (_MORE, _LESS))
    description = (
        f"The score of each of {len(labels)} bots (rows) against each other one (columns), in the "
        "order of the standings: blue above 50 %, orange below."
    )
    hint = "Point at a cell, or tap it, for its numbers."
    title = "Scores against each opponent"
    return Chart("heat-map", title, description, spec, "head_to_head", hint)


def _complete(row: dict[str, Any]) -> None:
    """Add the texts of the heat map to the row of a pairing."""
    row["interval"] = write_interval(row.pop("low"), row.pop("high"), "share")
    row["cell"] = f"{100 * row['score']:.0f}"
    q, beyond = row.pop("q"), row.pop("beyond")
    if q is not None and q < LEVEL:
        row["mark"] = _MORE if beyond > 0 else _LESS
        row["elo"] = f"{100 * abs(beyond):.1f} percentage points {row['mark']} than the Elo says"


def _verdicts(verdicts: pd.DataFrame, labels: Sequence[str]) -> Iterator[Block]:
    """Yield how likely each bot is stronger than each other one, as a map and a table."""
    known = verdicts[verdicts["likely"].notna()]
    if not len(known):
        return
    first = {*labels[:MOST_BOTS]}
    rows = plain_dicts(known[known["bot"].isin(first) & known["opponent"].isin(first)], _CHANCES)
    turned = [
        row | {"bot": row["opponent"], "opponent": row["bot"], "chance": 1 - row["chance"]}
        for row in rows
    ]
    for row in (rows := rows + turned):
        row["text"] = write_cell(row["chance"], "chance")
        row["cell"] = f"{100 * min(max(row['chance'], 0.01), 0.99):.0f}"  # never 0 or 100
    colours = two_sided("chance", "Probability that the bot of the row is stronger")
    description = (
        f"How likely each of {len(labels[:MOST_BOTS])} bots (rows) is stronger than each other one "
        "(columns) in an equal round robin: blue where it is, orange where the other one is. Each "
        "cell is for itself: of many, some are wrong; of verdicts that say apart, hardly any."
    )
    spec = heat_map(rows, labels[:MOST_BOTS], colours, _CHANCE_TIPS)
    title = "Who is the stronger one"
    yield Chart("verdict-map", title, description, spec, "verdicts")
    yield frame_table(VERDICTS, title, verdicts, folded=True)
