"""Make the section on how games are won: win type, source of points, margin."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from arena.reports.blocks import Block, Chart, Section, Text
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
    cut_table,
    frame_table,
    interval_layers,
    nominal,
    quantity,
    row_of_bots,
    tips,
    with_all,
)
from arena.store.columns import Columns, is_in, map_cells, match_rows, place_in
from arena.tables.table_columns import LOSS_COLUMNS, WIN_TYPE_TABLE, WIN_TYPES, WINS, Column

_COUNTS = [*(f"{name}_wins" for name in WIN_TYPES), *LOSS_COLUMNS.values()]
_TITLES = dict(zip(_COUNTS, 2 * [*WIN_TYPES.values()], strict=True))
_SIGNS = " : ".join(f"datum.column == '{name}' ? -1" for name in LOSS_COLUMNS.values())
_NAMES = " : ".join(f"datum.column == '{name}' ? '{title}'" for name, title in _TITLES.items())
_BARS: list[Spec] = [
    {"fold": _COUNTS, "as": ["column", "number"]},
    {"filter": "isValid(datum.number)"},
    {"calculate": f"({_SIGNS} : 1) * datum.number / datum.games", "as": "share"},
    {"calculate": f"{_NAMES} : ''", "as": "type"},
    {"calculate": "datum.share < 0 ? 'lost' : 'won'", "as": "result"},
    {"calculate": "abs(datum.share)", "as": "part"},
    {"calculate": "indexof(" + str([*WIN_COLOURS]) + ", datum.type)", "as": "order"},
]
"""The transforms that make the parts of the bars from a row of counts."""

SOURCE_NAMES: Final = {
    "majority_5": "majority of 5s",
    "majority_6": "majority of 6s",
    "majority_7": "majority of 7s",
    "majority_8": "majority of 8s",
    "sets": "sets",
    "alliances": "alliances",
    "betrayals": "betrayals",
    "total": "total",
    "cities": "cities",
}


MARGIN_COLUMNS = (
    Column("bot", "Bot"),
    Column("from", "Ahead, from", "count", "The least lead in points of the games of this row."),
    Column("to", "to", "count", "The greatest lead in points of the games of this row."),
    Column("games", "Games", "count"),
)
_BIN = 2  # points


def win_type_blocks(
    win_types: Columns, head_to_head: Columns, labels: Sequence[str]
) -> Iterator[Block]:
    """Yield the blocks on win types: overall, by seat and by opponent."""
    names = labels[:MOST_BOTS]
    own = win_types.where(is_in(win_types["bot"], names))
    overall = _add_up(own)
    rows = row_of_bots(names)
    yield Chart(
        "win-types",
        "Win types",
        "The share of its games that each bot won (right, filled) and lost (left, pale), by win "
        "type. Draws are what is missing.",
        _bars(overall, ["bot"], {"y": rows}, STEP * len(names)),
        "win_types",
    )
    by_seat = {"y": rows, "yOffset": nominal("seat", sort=[0, 1])}
    yield Chart(
        "win-types-by-seat",
        "Win types by seat",
        "The same for each seat: of the two bars of a bot, the upper one is seat 0, which begins.",
        _bars(own, ["bot", "seat"], by_seat, 2 * 16 * len(names)),
        "win_types",
    )
    shown = is_in(head_to_head["bot"], names) & is_in(head_to_head["opponent"], names)
    yield Chart(
        "win-types-by-opponent",
        "Win types by opponent",
        "How the chosen bot won (right) and lost (left) against each opponent.",
        _bars(
            with_losses(head_to_head.where(shown)),
            ["bot", "opponent"],
            {"y": row_of_bots(names, "opponent")},
            STEP * len(names),
            chosen=names,
        ),
        "head_to_head",
    )
    yield frame_table(WIN_TYPE_TABLE, "Win types by seat", win_types, folded=True)


def _add_up(table: Columns) -> Columns:
    """Return the sums of the counts of each bot, by label."""
    bots = sorted({*table["bot"]})
    place = place_in(table["bot"], bots)
    sums = {name: np.zeros(len(bots), table[name].dtype) for name in ("games", *_COUNTS)}
    for name, total in sums.items():
        np.add.at(total, place, table[name])
    return Columns({"bot": bots, **sums})


def with_losses(table: Columns) -> Columns:
    """Return head_to_head.csv with the losses of each bot added: the wins of its opponent."""
    two = table["bot"], table["opponent"]
    turned = match_rows(two[::-1], two)
    wins = {f"{win_type}_wins": name for win_type, name in LOSS_COLUMNS.items()}
    return table.put(**{name: table[won][turned] for won, name in wins.items()})


def _bars(
    table: Columns,
    keys: Sequence[str],
    place: Mapping[str, Any],
    height: int,
    chosen: Sequence[str] = (),
) -> Spec:
    """Return a diverging stacked bar chart: wins to the right, losses to the left.

    To keep the page small, its data are the rows of the table, and the browser computes the parts
    of the bars. With `chosen` the reader selects one of these bots.
    """
    rows = [
        dict(zip(("games", *keys), own, strict=True))
        | {name: value for name, value in zip(_COUNTS, counts, strict=True) if value}
        for *own, counts in (
            (*row[: len(keys) + 1], row[len(keys) + 1 :])
            for row in table.rows(["games", *keys, *_COUNTS])
        )
    ]
    x = quantity(
        "share",
        "lost | won",
        scale={"domain": [-1, 1]},
        axis={"labelExpr": "format(abs(datum.value), '.0%')"},
    )
    legend = {"orient": "top", "columns": 2}
    seen = {_TITLES[name] for row in rows for name in _COUNTS if name in row}
    scale = colours({name: of for name, of in WIN_COLOURS.items() if name in seen})
    return chart(
        rows,
        height=height,
        params=[choice("chosen_bot", "Bot", chosen)] if chosen else [],
        transform=[{"filter": "datum.bot == chosen_bot"}, *_BARS] if chosen else _BARS,
        mark={"type": "bar", "strokeWidth": 0.75},
        encoding={
            **place,
            "x": x,
            "color": nominal("type", title=None, scale=scale, legend=legend),
            "stroke": nominal("type", title=None, scale=scale, legend=legend),
            "fillOpacity": {"condition": {"test": "datum.share < 0", "value": 0.2}, "value": 1},
            "order": quantity("order", None),
            "tooltip": [
                *tips(*((key, key.capitalize()) for key in keys)),
                *tips(("type", "Win type"), ("result", "Result")),
                *tips(("number", "Games"), form=","),
                *tips(("part", "Share"), form=".1%"),
            ],
        },
    )


def source_blocks(wins: Columns, labels: Sequence[str]) -> Iterator[Block]:
    """Yield the blocks on who is ahead after rounds, and on the points of winners and losers."""
    if not len(wins):
        return
    table = with_all(wins).put(source=map_cells(wins["source"], SOURCE_NAMES.get))
    names = [ALL, *labels[:MOST_BOTS]]
    shown = table.where(is_in(table["bot"], names))
    rounds = sorted({*shown["round"].tolist()})
    times = [*(f"round {number}" for number in rounds[:-1]), "the end"]
    when = np.array(times, object)[shown["round"] - 1]
    ends = shown.where(shown["round"] == rounds[-1])
    rows = [
        {"what": what, **row}
        for what, name in (("won", "in_wins"), ("lost", "in_losses"))
        for row in ends.where(ends["source"] != SOURCE_NAMES["cities"]).dicts(_fields(name))
    ]
    yield Chart(
        "points-by-source",
        "Points by source",
        "The mean points of winners and of losers from each source at the end of a game, with 95 % "
        "intervals. The piles of a game that was won by City count as they were.",
        _source_spec(rows, names),
        "wins",
    )
    rows = [
        {"what": what, "when": at, **row}
        for what, name in (("won in any way", "won"), ("won by City", "by_city"))
        for at, row in zip(when, shown.dicts(_fields(name)), strict=True)
    ]
    yield Chart(
        "ahead",
        "What being ahead is worth",
        "Of the games in which a bot had more than its opponent of a source of points, of all "
        "points, or of cities, the share that it won in any way (square; a draw is one half) and "
        "by City (circle), with 95 % intervals. After a round only games that went on are counted.",
        _ahead_spec(rows, names, times),
        "wins",
    )
    ordered = table.ordered(place_in(table["bot"], names))
    yield frame_table(WINS, "Who is ahead, and who wins", ordered, folded=True)


def _fields(name: str) -> dict[str, str]:
    """Return the names in a chart of a number and its interval, with whose it is."""
    ends = {name: "value", f"{name}_low": "low", f"{name}_high": "high"}
    return {"bot": "bot", "source": "source", **ends}


def _source_spec(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Spec:
    scale = {"domain": ["won", "lost"], "range": [BLUE, ORANGE]}
    rule, bar = interval_layers(quantity("value", "points"), {"type": "bar"})
    rule["mark"] = {"type": "rule", "strokeWidth": 1.5, "color": GREY}
    bar["mark"] = {"type": "bar"}
    bar["encoding"]["color"] = nominal("what", title=None, scale=scale, legend={"orient": "top"})
    return chart(
        rows,
        height=2 * 13 * (len(SOURCE_NAMES) - 1),
        params=[choice("chosen_bot", "Bot", names)],
        transform=[{"filter": "datum.bot == chosen_bot"}],
        layer=[bar, rule],
        encoding={
            "y": nominal("source", sort=[*SOURCE_NAMES.values()], title=None),
            "yOffset": nominal("what", sort=["won", "lost"]),
            "tooltip": [
                *tips(("source", "Source"), ("what", "Result")),
                *tips(("value", "Points"), ("low", "low"), ("high", "high"), form=".2f"),
            ],
        },
    )


def _ahead_spec(
    rows: Sequence[Mapping[str, Any]], names: Sequence[str], times: Sequence[str]
) -> Spec:
    kinds = ["won in any way", "won by City"]
    scale = {"domain": kinds, "range": [GREY, WIN_COLOURS["City"]]}
    shapes = {"domain": kinds, "range": ["square", "circle"]}
    legend = {"title": None, "legend": {"orient": "top"}}
    x = quantity("value", "share of these games", axis={"format": ".0%"}, scale={"domain": [0, 1]})
    rule, point = interval_layers(x)
    point["encoding"]["shape"] = nominal("what", scale=shapes, **legend)
    return chart(
        rows,
        height=STEP * len(SOURCE_NAMES),
        params=[
            choice("chosen_bot", "Bot", names),
            choice("chosen_time", "Ahead after", [*times[::-1]]),
        ],
        transform=[{"filter": "datum.bot == chosen_bot && datum.when == chosen_time"}],
        layer=[rule, point],
        encoding={
            "y": row_of_bots([*SOURCE_NAMES.values()], "source"),
            "color": nominal("what", scale=scale, **legend),
            "tooltip": [
                *tips(("source", "Ahead in"), ("what", "Result")),
                *tips(("value", "Share"), ("low", "low"), ("high", "high"), form=".1%"),
            ],
        },
    )


class Margin(NamedTuple):
    """The number of a pairing's games with this margin of its first bot, negative if it lost."""

    pairing: int
    margin: int
    games: int


def margin_blocks(
    margins: Iterable[Margin], bots: Sequence[tuple[str, str]], labels: Sequence[str]
) -> Iterator[Block]:
    """Yield the blocks on the margins of games; `bots` are those of each pairing."""
    shown = (ALL, *labels[:MOST_BOTS])
    counts = _count_margins(margins, bots, {*shown})
    names = [name for name in shown if name in counts]
    if not names:
        return
    rows: list[dict[str, Any]] = [
        {"bot": name, "from": start, "to": start + _BIN, "games": counts[name][start]}
        for name in names
        for start in sorted(counts[name])
    ]
    x = quantity("from", "points ahead of the opponent", bin="binned", axis={"tickMinStep": 2})
    for row in rows:
        row["lead"] = f"{row['from']} to {row['to'] - 1}"
    spec = chart(
        rows,
        height=200,
        params=[choice("chosen_bot", "Bot", names)],
        transform=[{"filter": "datum.bot == chosen_bot"}],
        mark={"type": "bar", "color": BLUE},
        encoding={
            "x": x,
            "x2": {"field": "to"},
            "y": quantity("games", "games", axis={"tickMinStep": 1}),
            "tooltip": [*tips(("lead", "Points ahead")), *tips(("games", "Games"), form=",")],
        },
    )
    yield Chart(
        "margins",
        "Margins",
        "By how many points games end that are decided by points or by the tie-break: for all "
        "bots the winner's lead, for one bot its own, which is below 0 where it lost.",
        spec,
        "margins",
    )
    cells = [(row["bot"], row["from"], row["to"] - 1, row["games"]) for row in rows]
    yield cut_table("margins", "Margins", MARGIN_COLUMNS, cells, folded=True)


def _count_margins(
    margins: Iterable[Margin], bots: Sequence[tuple[str, str]], shown: Container[str]
) -> dict[str, dict[int, int]]:
    counts: dict[str, dict[int, int]] = {}
    for pairing, margin, games in margins:
        bot, opponent = bots[pairing]
        for name, lead in ((ALL, abs(margin)), (bot, margin), (opponent, -margin)):
            if name not in shown:
                continue
            of_bot = counts.setdefault(name, {})
            start = lead // _BIN * _BIN
            of_bot[start] = of_bot.get(start, 0) + games
    return counts


def wins_section(blocks: Iterable[Block], standings: Columns, city: str = "") -> Section:
    """Return the section about how games are won; `city` says whether City is a real way."""
    games = max(1, standings["games"].sum() / 2)
    of_city, points = (100 * standings[f"{one}_wins"].sum() / games for one in ("city", "points"))
    title = f"{of_city:.1f} % of games were won by City, {points:.1f} % on points"
    said = [Text([f"{city}. This rests on how these bots play."])] if city else []
    return Section("wins", title, [*said, *blocks], "How games are won")
