"""Make the section of a report with every two bots: scores, verdicts, and heat maps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from arena.errors import counted
from arena.reports.blocks import Block, Chart, Section, Text, write_cell, write_interval
from arena.reports.charts import (
    BLUE,
    GREY,
    MOST_BOTS,
    ORANGE,
    Spec,
    chart,
    frame_table,
    nominal,
    quantity,
    tips,
)
from arena.reports.win_section import with_losses
from arena.statistics.intervals import LEVEL
from arena.statistics.wording import write_whole
from arena.store.columns import Columns, is_in, is_known, place_in
from arena.tables.findings import Findings
from arena.tables.table_columns import HEAD_TO_HEAD, LOSS_COLUMNS, VERDICTS, WIN_TYPE_TABLE, Column

_FEW = 14  # bots whose numbers can be printed in the cells
_WIDE, _HIGH, _NARROW = 46, 30, 20  # pixels of a cell, with and without its number
_PAPER = "#f7f7f7"
_DARKEST = 0.928, 0.964  # of one colour, and of two: beyond it black text lacks contrast
_LEGEND = {"format": ".0%", "orient": "bottom", "gradientLength": 180, "titleLimit": 320}


def heat_map(
    rows: Sequence[Mapping[str, Any]],
    labels: Sequence[str],
    shown: Spec,
    tooltip: Sequence[Spec],
    marks: Sequence[str] = (),
) -> Spec:
    """Return a map with a row and a column for each label; a row of data is a cell.

    The fields are `bot` and `opponent`; the field that `shown` maps to a colour, 0 to 1; `cell`, a
    text that is printed if there is room; and `mark`. If that is the first of `marks`, a triangle
    points up; if the second, it points down.
    """
    is_small = len(labels) <= _FEW
    size = (_WIDE, _HIGH) if is_small else (_NARROW, _NARROW)
    cell = {"type": "rect", "stroke": GREY, "strokeWidth": 0.3}
    layers: list[Spec] = [{"mark": cell, "encoding": {"color": shown}}]
    if is_small:
        is_two_sided = len(shown["scale"]["domain"]) > 2
        layers.append(_texts(shown["field"], _DARKEST[is_two_sided]))
    if any("mark" in row for row in rows):
        layers.append(_marks(size, marks))
    return chart(
        rows,
        width={"step": size[0]},
        height={"step": size[1]},
        usermeta={"picture": True, "colours": "own"},
        layer=layers,
        encoding={
            "x": _axis("opponent", labels, orient="top", labelAngle=-50),
            "y": _axis("bot", labels),
            "tooltip": [*tooltip],
        },
    )


def two_sided(field: str, title: str) -> Spec:
    """Return a diverging colour scale for a share with its middle at 0.5: blue above it."""
    scale = {"domain": [0, 0.5, 1], "range": [ORANGE, _PAPER, BLUE], "interpolate": "rgb"}
    return quantity(field, title, scale=scale, legend=_LEGEND)


def _axis(field: str, labels: Sequence[str], **more: Any) -> Spec:
    axis = {"domain": False, "ticks": False} | more
    return nominal(field, sort=[*labels], title=None, scale={"domain": [*labels]}, axis=axis)


def _marks(size: tuple[int, int], marks: Sequence[str]) -> Spec:
    """Return the layer of triangles in the corners of cells."""
    shape = {"domain": [*marks], "range": ["triangle-up", "triangle-down"]}
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
        "encoding": {"shape": nominal("mark", scale=shape, legend=None)},
    }


def _texts(field: str, darkest: float) -> Spec:
    """Return the layer of the texts in the cells, which are white in cells beyond `darkest`.

    So every text has a contrast of at least 4.5.
    """
    condition = {"test": f"datum.{field} > {darkest}", "value": "#ffffff"}
    return {
        "mark": {"type": "text"},
        "encoding": {
            "text": nominal("cell"),
            "color": {"condition": condition, "value": "#000000"},
        },
    }


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
    *tips(("elo", "More than Elo says")),
]
_CHANCES = {"bot": "bot", "opponent": "opponent", "likely": "chance", "verdict": "verdict"}
_CHANCE_TIPS = [
    *tips(("bot", "Bot"), ("opponent", "Opponent"), ("text", "Probability")),
    *tips(("verdict", "Verdict")),
]


def pairings_section(
    table: Columns, verdicts: Columns, labels: Sequence[str], findings: Findings
) -> Section:
    """Return the scores of all pairings and the stronger bots, as heat maps and tables.

    `labels` are those of the bots in the order of the standings; a table has each pairing once,
    with the bot first that is ranked higher.
    """
    blocks = [*_scores(table, labels, findings), *_verdicts(verdicts, labels)]
    title = short = "Against whom"
    if findings.tested:
        number = len(findings.misfits)
        are = "is" if number == 1 else "are"
        title = f"{number:,} of {counted(findings.tested, 'pairing')} {are} not as the Elo says"
        if not number:
            title = "No pairing is surely other than the Elo says"
    return Section("pairings", title, blocks, short)


def _scores(table: Columns, labels: Sequence[str], findings: Findings) -> Iterator[Block]:
    table = table.ordered(*(place_in(table[name], labels) for name in ("bot", "opponent")))
    bot, opponent = (place_in(table[name], labels) for name in ("bot", "opponent"))
    shown = table.where((bot < MOST_BOTS) & (opponent < MOST_BOTS))
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
    once = with_losses(table).where(bot < opponent)
    yield frame_table(HEAD_TO_HEAD, "Every two bots that met", once, [*_columns()])


def _columns() -> Iterator[Column]:
    """Yield the columns of a pairing, with the wins of both bots."""
    both = {column.name: column for column in WIN_TYPE_TABLE.shown}
    losses = [both[name] for name in LOSS_COLUMNS.values()]
    for column in HEAD_TO_HEAD.shown:
        if column.name == "expected":
            yield from losses
        yield both[column.name] if column.name.endswith("_wins") else column


def _score_map(table: Columns, labels: Sequence[str]) -> Chart:
    rows = table.dicts(_FIELDS)
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
    row["cell"] = write_whole(row["score"])
    q, beyond = row.pop("q"), row.pop("beyond")
    if q is not None and q < LEVEL:
        row["mark"] = _MORE if beyond > 0 else _LESS
        row["elo"] = f"{100 * abs(beyond):.1f} percentage points {row['mark']} than the Elo says"


def _verdicts(verdicts: Columns, labels: Sequence[str]) -> Iterator[Block]:
    """Yield how likely each bot is stronger than each other one, as a map and a table."""
    known = verdicts.where(is_known(verdicts["likely"]))
    if not len(known):
        return
    first = labels[:MOST_BOTS]
    shown = is_in(known["bot"], first) & is_in(known["opponent"], first)
    rows = known.where(shown).dicts(_CHANCES)
    turned = [
        row | {"bot": row["opponent"], "opponent": row["bot"], "chance": 1 - row["chance"]}
        for row in rows
    ]
    for row in (rows := rows + turned):
        row["text"] = write_cell(row["chance"], "chance")
        row["cell"] = write_whole(min(max(row["chance"], 0.01), 0.99))  # never 0 or 100
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
