"""Make the section on City: whether it is a real way to win, and what cities held are worth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from arena.errors import counted
from arena.reports.blocks import Block, Chart, Section, Text
from arena.reports.charts import (
    ALL,
    GREY,
    MOST_BOTS,
    STEP,
    WIN_COLOURS,
    Spec,
    chart,
    choice,
    frame_table,
    interval_layers,
    nominal,
    quantity,
    row_of_bots,
    tips,
    with_all,
)
from arena.store.columns import Columns, is_in, is_known, map_cells, place_in
from arena.tables.findings import REAL, describe_city, describe_held, describe_makers, name_thirds
from arena.tables.table_columns import CITIES, CITY_WINNERS

_FEW = 12  # bots: with more, the chart has the thirds of the field
_ENDS = {
    "won": ("won in any way", GREY, "square"),
    "by_city": ("won by City", WIN_COLOURS["City"], "circle"),
}


def city_sections(winners: Columns, cities: Columns, labels: Sequence[str]) -> Iterator[Section]:
    """Yield the section on City, for three or more bots that have won games.

    `winners` are the rows of city_winners.csv, `cities` those of cities.csv, and `labels` the bots
    that have played, the strongest first.
    """
    if len(labels) > 2 and len(winners):
        blocks = [
            Text([describe_makers(winners, labels)]),
            *_winner_blocks(winners, labels),
            *_held_blocks(cities, labels),
        ]
        yield Section("city", describe_city(winners, labels), blocks, "City")


def _winner_blocks(winners: Columns, labels: Sequence[str]) -> Iterator[Block]:
    """Yield the share of City in wins, by bot in a small field and by third in a large one."""
    names = name_thirds(labels) if len(labels) > _FEW else {}
    shown = winners.where(is_known(winners["bot"]) == (not names))
    name = map_cells(shown["part"], names.get) if names else shown["bot"]
    fields = {"name": "name", "wins": "wins", "city_wins": "city_wins"}
    fields |= {"share": "value", "share_low": "low", "share_high": "high"}
    rows = shown.put(name=name).where(is_known(name)).dicts(fields)
    yield Chart(
        "city-winners",
        "City's share of the wins, by strength of the winner",
        "Of the games that each won, the share that it won by City, with 95 % intervals; the "
        "strongest on top. Forfeits are left out. The line is at 5 %: City is called real where "
        "it surely makes as much of the wins of the strongest third, and rare where surely less.",
        _winner_spec(rows),
        "city_winners",
    )
    yield frame_table(CITY_WINNERS, "City's share of the wins", winners, folded=True)


def _winner_spec(rows: Sequence[Mapping[str, Any]]) -> Spec:
    x = quantity("value", "share of its wins that are by City", axis={"format": ".0%"})
    layers = interval_layers(x)
    for layer in layers:
        layer["mark"]["color"] = WIN_COLOURS["City"]
        layer["encoding"]["y"] = row_of_bots([row["name"] for row in rows], "name")
        layer["encoding"]["tooltip"] = [
            *tips(("name", "Who")),
            *tips(("wins", "Wins"), ("city_wins", "Won by City"), form=","),
            *tips(("value", "Share"), ("low", "low"), ("high", "high"), form=".1%"),
        ]
    line: Spec = {
        "data": {"values": [{"value": REAL}]},
        "mark": {"type": "rule", "strokeDash": [4, 3], "color": GREY},
        "encoding": {"x": x},
    }
    return chart(rows, height=STEP * max(2, len(rows)), layer=[line, *layers])


def _held_blocks(cities: Columns, labels: Sequence[str]) -> Iterator[Block]:
    """Yield how often a bot wins, and by City, that holds so many cities after a round."""
    cities = with_all(cities)
    there = {*cities["bot"]}
    names = [name for name in (ALL, *labels[:MOST_BOTS]) if name in there]
    if not names:
        return
    table = cities.ordered(place_in(cities["bot"], [ALL, *labels]))
    yield Chart(
        "city-chances",
        describe_held(cities.where(cities["bot"] == ALL)),
        "The chance to win, by the cities held after a round: of the games in which a bot held so "
        "many cities at the end of a round, and that went on, the share that it won by City "
        "(circle) and in any way (square), with 95 % intervals.",
        _held_spec(table.where(is_in(table["bot"], names)), names),
        "cities",
    )
    yield frame_table(CITIES, "The chance to win, by cities held after a round", table, folded=True)


def _held_spec(table: Columns, names: Sequence[str]) -> Spec:
    rows = []
    for field, (end, *_) in _ENDS.items():
        fields = {"bot": "bot", "round": "round", "cities": "cities", "games": "games"}
        fields |= {field: "value", f"{field}_low": "low", f"{field}_high": "high"}
        rows += [row | {"end": end} for row in table.dicts(fields)]
    for row in rows:
        row["held"] = f"round {row['round']}: {counted(row['cities'], 'city', 'cities')}"
    order = [*dict.fromkeys(row["held"] for row in sorted(rows, key=_place))]
    ends, colours, shapes = zip(*_ENDS.values(), strict=True)
    legend = {"title": None, "legend": {"orient": "top"}}
    x = quantity("value", "share of these games", axis={"format": ".0%"}, scale={"domain": [0, 1]})
    rule, point = interval_layers(x)
    point["encoding"]["shape"] = nominal(
        "end", scale={"domain": [*ends], "range": [*shapes]}, **legend
    )
    return chart(
        rows,
        height=STEP * len(order),
        params=[choice("chosen_bot", "Bot", names)],
        transform=[{"filter": "datum.bot == chosen_bot"}],
        layer=[rule, point],
        encoding={
            "y": row_of_bots(order, "held"),
            "color": nominal("end", scale={"domain": [*ends], "range": [*colours]}, **legend),
            "tooltip": [
                *tips(("held", "After"), ("end", "Result")),
                *tips(("games", "Games"), form=","),
                *tips(("value", "Share"), ("low", "low"), ("high", "high"), form=".1%"),
            ],
        },
    )


def _place(row: Mapping[str, Any]) -> tuple[int, int]:
    return row["round"], row["cities"]
