"""Seats: the advantage of who begins, and how the ratings settled as pairs were played."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from arena.reports.chart_rows import MOST_FOLDED, frame_table, note_of, plain_rows
from arena.reports.charts import (
    BLUE,
    MOST_BOTS,
    ORANGE,
    STEP,
    Spec,
    chart,
    choice,
    nominal,
    quantity,
    row_of_bots,
)
from arena.reports.document import Block, Chart, Column, Section, Table, Text, write_cell
from arena.statistics.intervals import Estimate, SeatAdvantage

if TYPE_CHECKING:
    import pandas as pd

_NAMES = ("seat 0", "seat 1")
SEAT_COLUMNS = (
    Column("bot", "Bot"),
    Column("seat", "Seat", "count"),
    Column("games", "Games", "count"),
    Column("score", "Score", "share"),
    Column("score_low", "Score, low", "share", "The 95 % interval of the score, by pairs."),
    Column("score_high", "Score, high", "share", "The 95 % interval of the score, by pairs."),
    Column("city_share", "City share", "share", "The share of the games that were won by City."),
    Column("city_low", "City, low", "share", "The 95 % interval of the share won by City."),
    Column("city_high", "City, high", "share", "The 95 % interval of the share won by City."),
    Column("mean_margin", "Margin", "number"),
)
COURSE_COLUMNS = (
    Column("bot", "Bot"),
    Column("pairs", "Pairs", "count", "The first so many pairs of every pairing."),
    Column("elo", "Elo", "elo"),
    Column("elo_low", "Elo, low", "elo"),
    Column("elo_high", "Elo, high", "elo"),
)
_FEW = 12  # bots whose lines can have their names beside them


def seats_section(
    seats: pd.DataFrame,
    advantage: SeatAdvantage | None,
    course: Mapping[int, Mapping[str, Estimate]],
    labels: Sequence[str],
) -> Section:
    """Return what the first seat is worth, and the ratings by the pairs played so far."""
    blocks = [*_seats(seats, advantage, labels), *_course(course, labels[:MOST_BOTS])]
    return Section("seats", "Seats and course", blocks)


def describe_advantage(seat: SeatAdvantage) -> str:
    """Return the advantage of seat 0 with its interval, as a sentence."""
    share, low, high = (write_cell(value, "share") for value in seat[1:4])
    text = f"Seat 0, which begins, scores {share} (95 % interval {low} to {high})"
    if seat.elo is None or seat.elo_low is None or seat.elo_high is None:
        return f"{text}."
    elo = f"{seat.elo:+.0f} Elo ({seat.elo_low:+.0f} to {seat.elo_high:+.0f})"
    return f"{text}, which is worth {elo}."


def _seats(
    seats: pd.DataFrame, advantage: SeatAdvantage | None, labels: Sequence[str]
) -> Iterator[Block]:
    if advantage:
        paragraphs = [
            describe_advantage(advantage),
            "Each bot sits once in seat 0 in a pair, so it does not matter how strong the bots "
            "are. Where the interval leaves out 50 %, one seat is better.",
        ]
    else:
        paragraphs = ["No pair was played to its end, so nothing is known of the seats."]
    yield Text(paragraphs)
    own = seats[seats["opponent"].isna() & seats["bot"].notna()]
    places = {label: place for place, label in enumerate(labels)}
    own = own.assign(_=own["bot"].map(places)).sort_values(["_", "seat"])
    if not len(own):
        return
    fields = ["bot", "seat", "games", "score", "score_low", "score_high"]
    rows = [
        {"bot": bot, "seat": _NAMES[seat], "games": games, "score": score, "low": low, "high": high}
        for bot, seat, games, score, low, high in plain_rows(own, fields)
        if places[bot] < MOST_BOTS
    ]
    yield Chart(
        "seat-scores",
        "Scores by seat",
        "The score of each bot in seat 0 (circle) and in seat 1 (square), with 95 % intervals.",
        _seat_spec(rows, labels[:MOST_BOTS]),
        "seats",
    )
    yield frame_table("seats", "Scores by seat", SEAT_COLUMNS, own, "seats.csv", folded=True)


def _seat_spec(rows: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> Spec:
    scale = {"domain": [*_NAMES], "range": [BLUE, ORANGE]}
    shapes = {"domain": [*_NAMES], "range": ["circle", "square"]}
    legend = {"title": None, "legend": {"orient": "top"}}
    x = quantity("score", "score", axis={"format": ".0%"}, scale={"zero": False})
    return chart(
        rows,
        height=STEP * len(labels),
        layer=[
            {
                "mark": {"type": "rule", "strokeWidth": 2.5, "opacity": 0.6},
                "encoding": {"x": x | {"field": "low"}, "x2": {"field": "high"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
                "encoding": {"x": x, "shape": nominal("seat", scale=shapes, **legend)},
            },
        ],
        encoding={
            "y": row_of_bots(labels),
            "yOffset": nominal("seat", sort=[*_NAMES]),
            "color": nominal("seat", scale=scale, **legend),
            "tooltip": [
                {"field": "bot", "title": "Bot"},
                {"field": "seat", "title": "Seat"},
                {"field": "games", "title": "Games", "type": "quantitative"},
                *(
                    {"field": field, "title": title, "type": "quantitative", "format": ".1%"}
                    for field, title in (("score", "Score"), ("low", "low"), ("high", "high"))
                ),
            ],
        },
    )


def _course(course: Mapping[int, Mapping[str, Estimate]], labels: Sequence[str]) -> Iterator[Block]:
    rows: list[dict[str, Any]] = [
        {"bot": label, "pairs": pairs}
        | {
            name: None if value is None else round(value)
            for name, value in zip(("elo", "low", "high"), of[label].cells, strict=True)
        }
        for label in labels
        for pairs, of in course.items()
        if label in of
    ]
    if len(course) < 2 or not rows:
        return
    shown = [label for label in labels if any(label in of for of in course.values())]
    yield Chart(
        "course",
        "Ratings as pairs were played",
        "The Elo of every bot after the first so many pairs of every pairing; the chosen bot has "
        "its 95 % interval. A line that still moves more than its interval would be a surprise.",
        _course_spec(rows, shown, max(course)),
        "course",
    )
    cells = [tuple(row.values()) for row in rows]
    note = note_of(len(cells), "the chart", MOST_FOLDED)
    caption = "Ratings as pairs were played"
    yield Table("course", caption, COURSE_COLUMNS, cells[:MOST_FOLDED], note=note, folded=True)


def _course_spec(rows: Sequence[Mapping[str, Any]], labels: Sequence[str], last: int) -> Spec:
    x = quantity("pairs", "pairs of every pairing", scale={"nice": False}, axis={"tickMinStep": 1})
    y = quantity("elo", "Elo", scale={"zero": False})
    chosen = "datum.bot == chosen_bot"
    ends = [  # an unbeaten bot has no upper end, and a winless one no lower
        {"calculate": f"isValid(datum.{end}) ? datum.{end} : datum.elo", "as": name}
        for end, name in (("low", "lower"), ("high", "upper"))
    ]
    tips = [
        {"field": "bot", "title": "Bot"},
        {"field": "pairs", "title": "Pairs", "type": "quantitative"},
        *(
            {"field": field, "title": title, "type": "quantitative", "format": ".0f"}
            for field, title in (("elo", "Elo"), ("low", "low"), ("high", "high"))
        ),
    ]
    layers: list[Spec] = [
        {
            "transform": [{"filter": chosen}, *ends],
            "mark": {"type": "area", "opacity": 0.25, "color": BLUE},
            "encoding": {"y": y | {"field": "lower"}, "y2": {"field": "upper"}},
        },
        {
            "mark": {"type": "line", "strokeWidth": 1.2, "opacity": 0.75, "color": "#808890"},
            "encoding": {"y": y, "detail": nominal("bot")},
        },
        {
            "transform": [{"filter": chosen}],
            "mark": {"type": "line", "strokeWidth": 3, "color": BLUE},
            "encoding": {"y": y},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 40, "opacity": 0},
            "encoding": {"y": y, "tooltip": tips},
        },
    ]
    if len(labels) <= _FEW:
        layers.append(
            {
                "transform": [{"filter": f"datum.pairs == {last}"}],
                "mark": {"type": "text", "align": "right", "dx": -4, "dy": -8, "limit": 140},
                "encoding": {"y": y, "text": nominal("bot")},
            }
        )
    return chart(
        rows,
        height=300,
        params=[choice("chosen_bot", "Bot", labels)],
        layer=layers,
        encoding={"x": x},
    )
