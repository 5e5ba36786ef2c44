"""Wins: how games are won: by which win type, from which points, by how many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from arena.insight.tables import LOSS_COLUMNS
from arena.reports.chart_rows import frame_table, plain_rows
from arena.reports.charts import (
    ALL,
    BLUE,
    GREY,
    MOST_BOTS,
    ORANGE,
    STEP,
    WIN_COLOURS,
    Spec,
    chart,
    choice,
    colours,
    nominal,
    quantity,
    row_of_bots,
)
from arena.reports.document import Block, Chart, Column, Section

if TYPE_CHECKING:
    import pandas as pd

_TYPES: Mapping[str, str] = dict(zip(LOSS_COLUMNS, WIN_COLOURS, strict=True))
"""The titles of the win types."""

_COUNTS = [*(f"{name}_wins" for name in _TYPES), *LOSS_COLUMNS.values()]
_PARTS = {
    **{f"{name}_wins": (title, "won", 1) for name, title in _TYPES.items()},
    **{LOSS_COLUMNS[name]: (title, "lost", -1) for name, title in _TYPES.items()},
}

WIN_TYPE_COLUMNS = (
    Column("bot", "Bot"),
    Column("seat", "Seat", "count", "Seat 0 begins rounds 1 and 3, seat 1 rounds 2 and 4."),
    Column("games", "Games", "count"),
    *(
        Column(f"{name}_wins", f"{title}, won", "count", f"Games won by {title}.")
        for name, title in _TYPES.items()
    ),
    Column("draws", "Draws", "count"),
    *(
        Column(LOSS_COLUMNS[name], f"{title}, lost", "count", f"Games lost by {title}.")
        for name, title in _TYPES.items()
    ),
)
_SOURCES = {
    "majority_5": "majority of 5s",
    "majority_6": "majority of 6s",
    "majority_7": "majority of 7s",
    "majority_8": "majority of 8s",
    "sets": "sets",
    "alliances": "alliances",
    "betrayals": "betrayals",
    "total": "total",
}
SOURCE_COLUMNS = (
    Column("bot", "Bot"),
    Column("result", "Result", "text", "Whether the bot won or lost the games of this row."),
    Column("win_type", "Decided by", "text", "By City or by points; points has the tie-breaks."),
    Column("source", "Source", "text", "Where points at the end come from (R12-R14)."),
    Column("games", "Games", "count"),
    Column("points", "Points", "number", "The mean of the bot's own points from this source."),
    Column("points_low", "low", "number", "The 95 % interval of a mean, with the pair as unit."),
    Column("points_high", "high", "number", "The 95 % interval of a mean, with the pair as unit."),
    Column("lead", "Lead", "number", "The mean of own points less the opponent's."),
)


def win_type_blocks(
    win_types: pd.DataFrame, head_to_head: pd.DataFrame, labels: Sequence[str]
) -> Iterator[Block]:
    """Yield what there is of win types: overall, by seat and by opponent."""
    names = labels[:MOST_BOTS]
    own = win_types[win_types["bot"].isin(names)]
    overall = own.groupby("bot")[["games", "draws", *_COUNTS]].sum().reset_index()
    yield Chart(
        "win-types",
        "Win types",
        "The share of its games that each bot won (right) and lost (left), by win type. Draws are "
        "what is missing.",
        _bars(
            _long(overall, ["bot"]),
            {"y": row_of_bots(names)},
            more={"height": STEP * len(names)},
        ),
        "win_types",
    )
    yield Chart(
        "win-types-by-seat",
        "Win types by seat",
        "The same for each seat: of the two bars of a bot, the upper one is seat 0, which begins.",
        _bars(
            _long(own, ["bot", "seat"]),
            {"y": row_of_bots(names), "yOffset": nominal("seat", sort=[0, 1])},
            more={"height": 2 * 16 * len(names)},
        ),
        "win_types",
    )
    yield _by_opponent(head_to_head, names)
    caption = "Win types by seat"
    yield frame_table(
        "win_types", caption, WIN_TYPE_COLUMNS, win_types, "win_types.csv", folded=True
    )


def _by_opponent(table: pd.DataFrame, names: Sequence[str]) -> Chart:
    wins = [f"{name}_wins" for name in _TYPES]
    theirs = table[["bot", "opponent", *wins]].rename(
        columns={"bot": "opponent", "opponent": "bot"} | dict(zip(wins, _COUNTS[4:], strict=True))
    )
    both = table.merge(theirs, on=["bot", "opponent"])
    both = both[both["bot"].isin(names) & both["opponent"].isin(names)]
    columns = ["bot", "opponent", "games", *_COUNTS]
    rows = [
        {"bot": bot, "opponent": opponent, "games": games}
        | {column: value for column, value in zip(_COUNTS, counts, strict=True) if value}
        for bot, opponent, games, *counts in plain_rows(both, columns)
    ]
    signs = " : ".join(f"datum.column == '{name}' ? -1" for name in LOSS_COLUMNS.values())
    titles = " : ".join(f"datum.column == '{name}' ? '{_PARTS[name][0]}'" for name in _COUNTS)
    transform = [
        {"filter": "datum.bot == chosen_bot"},
        {"fold": _COUNTS, "as": ["column", "number"]},
        {"filter": "isValid(datum.number)"},
        {"calculate": f"({signs} : 1) * datum.number / datum.games", "as": "share"},
        {"calculate": f"{titles} : ''", "as": "type"},
        {"calculate": "datum.share < 0 ? 'lost' : 'won'", "as": "result"},
        {"calculate": "abs(datum.share)", "as": "part"},
        {"calculate": "indexof(" + str([*WIN_COLOURS]) + ", datum.type)", "as": "order"},
    ]
    spec = _bars(
        rows,
        {"y": row_of_bots(names, "opponent")},
        more={
            "height": STEP * len(names),
            "transform": transform,
            "params": [choice("chosen_bot", "Bot", names)],
        },
        tips=[{"field": "opponent", "title": "Opponent"}],
    )
    return Chart(
        "win-types-by-opponent",
        "Win types by opponent",
        "How the chosen bot won (right) and lost (left) against each opponent.",
        spec,
        "head_to_head",
    )


def _long(table: pd.DataFrame, keys: Sequence[str]) -> list[dict[str, Any]]:
    """Return a row for each bar's part that there is."""
    rows = []
    for games, *rest in plain_rows(table, ["games", *keys, *_COUNTS]):
        own, counts = rest[: len(keys)], rest[len(keys) :]
        for column, number in zip(_COUNTS, counts, strict=True):
            if number:
                title, result, sign = _PARTS[column]
                part = round(number / games, 4)
                rows.append(
                    dict(zip(keys, own, strict=True))
                    | {"type": title, "result": result, "number": number, "part": part}
                    | {"share": sign * part, "order": [*WIN_COLOURS].index(title)}
                )
    return rows


def _bars(
    rows: Sequence[Mapping[str, Any]],
    place: Mapping[str, Any],
    *,
    more: Mapping[str, Any],
    tips: Sequence[Spec] = (),
) -> Spec:
    """Return stacked bars to both sides: won to the right, lost to the left."""
    own = [
        {"field": field, "title": title}
        for field, title in (("bot", "Bot"), ("seat", "Seat"))
        if field == "bot" or "yOffset" in place
    ]
    x = quantity(
        "share",
        "lost | won",
        scale={"domain": [-1, 1]},
        axis={"labelExpr": "format(abs(datum.value), '.0%')", "tickCount": 8, "labelOverlap": True},
    )
    return chart(
        rows,
        mark={"type": "bar", "stroke": "#ffffff", "strokeWidth": 0.5},
        encoding={
            **place,
            "x": x,
            "color": nominal(
                "type",
                title=None,
                scale=colours(WIN_COLOURS),
                legend={"orient": "top", "columns": 2},
            ),
            "order": {"field": "order", "type": "quantitative"},
            "tooltip": [
                *own,
                *tips,
                {"field": "type", "title": "Win type"},
                {"field": "result", "title": "Result"},
                {"field": "number", "title": "Games", "type": "quantitative"},
                {"field": "part", "title": "Share", "type": "quantitative", "format": ".1%"},
            ],
        },
        **more,
    )


def source_blocks(sources: pd.DataFrame, labels: Sequence[str]) -> Iterator[Block]:
    """Yield from what winners and losers have their points."""
    sources = sources[sources["result"] != "drawn"]
    if not len(sources):
        return
    sources = sources.assign(bot=sources["bot"].fillna(ALL), source=sources["source"].map(_SOURCES))
    names = [ALL, *labels[:MOST_BOTS]]
    fields = ["bot", "result", "win_type", "source", "points", "points_low", "points_high"]
    shown = sources[sources["bot"].isin(names)]
    rows = [
        {
            "bot": bot,
            "result": result,
            "by": "City" if by == "city" else "points",
            "source": source,
            "points": round(points, 2),
            "low": low,
            "high": high,
        }
        for bot, result, by, source, points, low, high in plain_rows(shown, fields)
    ]
    yield Chart(
        "points-by-source",
        "Points by source",
        "The mean points of winners and of losers from each source at the end of a game, with 95 % "
        "intervals. The piles of a game that was won by City count as they were.",
        _source_spec(rows, names),
        "wins_by_source",
    )
    order = {name: place for place, name in enumerate(names)}
    table = sources.assign(_place=sources["bot"].map(order)).sort_values("_place", kind="stable")
    yield frame_table(
        "wins_by_source",
        "Points by source",
        SOURCE_COLUMNS,
        table,
        "wins_by_source.csv",
        folded=True,
    )


def _source_spec(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Spec:
    tips = [
        {"field": "source", "title": "Source"},
        {"field": "result", "title": "Result"},
        {"field": "points", "title": "Points", "type": "quantitative", "format": ".2f"},
        {"field": "low", "title": "low", "type": "quantitative", "format": ".2f"},
        {"field": "high", "title": "high", "type": "quantitative", "format": ".2f"},
    ]
    place = {
        "y": nominal("source", sort=[*_SOURCES.values()], title=None),
        "yOffset": nominal("result", sort=["won", "lost"]),
    }
    scale = {"domain": ["won", "lost"], "range": [BLUE, ORANGE]}
    x = quantity("points", "points")
    return chart(
        rows,
        height=2 * 13 * len(_SOURCES),
        params=[
            choice("chosen_bot", "Bot", names),
            choice("chosen_type", "Decided by", ["points", "City"]),
        ],
        transform=[
            {"filter": "datum.bot == chosen_bot && datum.by == chosen_type"},
            # a mean of one pair has no interval; a bar without ends has no extent to draw
            {"calculate": "isValid(datum.low) ? datum.low : datum.points", "as": "start"},
            {"calculate": "isValid(datum.high) ? datum.high : datum.points", "as": "end"},
        ],
        layer=[
            {
                "mark": {"type": "bar"},
                "encoding": {
                    "x": x,
                    "color": nominal("result", title=None, scale=scale, legend={"orient": "top"}),
                },
            },
            {
                "mark": {"type": "rule", "strokeWidth": 1.5, "color": GREY},
                "encoding": {"x": x | {"field": "start"}, "x2": {"field": "end"}},
            },
        ],
        encoding={**place, "tooltip": tips},
    )


def wins_section(blocks: Iterable[Block]) -> Section:
    """Return the section about how games are won."""
    return Section("wins", "How games are won", [*blocks])
