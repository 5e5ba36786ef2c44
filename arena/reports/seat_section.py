"""Make the sections on the advantage of seat 0, on how ratings settled, and on takes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from arena.reports.blocks import Block, Chart, Section, Text
from arena.reports.charts import (
    ALL,
    BLUE,
    ELO_AXIS,
    GREY,
    MOST_BOTS,
    ORANGE,
    STEP,
    Spec,
    chart,
    choice,
    cut_table,
    frame_table,
    interval_layers,
    nominal,
    quantity,
    row_of_bots,
    tips,
    with_all,
)
from arena.statistics.cycles import Field
from arena.statistics.intervals import Estimate, SeatAdvantage
from arena.statistics.wording import as_sentence
from arena.store.columns import Columns, Flags, is_in, is_known, map_cells, place_in
from arena.store.counting import Counts
from arena.tables.findings import describe_seat
from arena.tables.table_columns import CARDS, SEATS, TAKES, Column
from arena.tables.win_tables import how_rated
from arena.tournament.tournament import Tournament

_NAMES = ("seat 0", "seat 1")
_FIELDS = {"bot": "bot", "seat": "seat", "games": "games"}
_FIELDS |= {"score": "value", "score_low": "low", "score_high": "high"}
PROGRESS_COLUMNS = (
    Column("bot", "Bot"),
    Column("pairs", "Pairs", "count", "The first so many pairs of every pairing."),
    Column("elo", "Elo", "elo"),
    Column("elo_low", "Elo, low", "elo"),
    Column("elo_high", "Elo, high", "elo"),
)
_MANY = 400  # points: a chart with more is drawn as one picture
_FEW = 12  # bots: with more, lines are not labelled directly
_ELOS = ("elo", "low", "high")
_APART = 0.05  # of the axis: labels closer than that would overlap


def seats_section(
    seats: Columns,
    advantage: SeatAdvantage | None,
    progress: Mapping[int, Mapping[str, Estimate]],
    labels: Sequence[str],
) -> Section:
    """Return the section on the advantage of seat 0, and the ratings by pairs played."""
    blocks = [*_seats(seats, advantage, labels), *_progress(progress, labels[:MOST_BOTS])]
    title = short = "Seats and progress"
    if advantage:
        luck = "which may be luck" if advantage.low <= 0.5 <= advantage.high else "more than luck"
        title = f"Seat 0 scores {100 * advantage.share:.1f} %, {luck}"
    return Section("seats", title, blocks, short)


def _seats(
    seats: Columns, advantage: SeatAdvantage | None, labels: Sequence[str]
) -> Iterator[Block]:
    if advantage:
        paragraphs = [
            as_sentence(describe_seat(advantage, level=True)),
            "Each bot sits once in seat 0 in a pair, so it does not matter how strong the bots "
            "are. Where the interval leaves out 50 %, one seat is better.",
        ]
    else:
        paragraphs = ["No pair was played to its end, so nothing is known of the seats."]
    yield Text(paragraphs)
    own = seats.where(~is_known(seats["opponent"]) & is_known(seats["bot"]))
    own = own.ordered(place_in(own["bot"], labels), own["seat"])
    if not len(own):
        return
    shown = own.where(place_in(own["bot"], labels) < MOST_BOTS)
    rows = shown.put(seat=np.array(_NAMES, object)[shown["seat"]]).dicts(_FIELDS)
    yield Chart(
        "seat-scores",
        "Scores by seat",
        "The score of each bot in seat 0 (circle) and in seat 1 (square), with 95 % intervals.",
        _seat_spec(rows, labels[:MOST_BOTS]),
        "seats",
    )
    yield frame_table(SEATS, "Scores by seat", own, folded=True)


def _seat_spec(rows: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> Spec:
    scale = {"domain": [*_NAMES], "range": [BLUE, ORANGE]}
    shapes = {"domain": [*_NAMES], "range": ["circle", "square"]}
    legend = {"title": None, "legend": {"orient": "top"}}
    x = quantity("value", "score", axis={"format": ".0%"}, scale={"zero": False})
    rule, point = interval_layers(x)
    point["encoding"]["shape"] = nominal("seat", scale=shapes, **legend)
    shown = [("value", "Score"), ("low", "low"), ("high", "high")]
    return chart(
        rows,
        height=STEP * len(labels),
        layer=[rule, point],
        encoding={
            "y": row_of_bots(labels),
            "yOffset": nominal("seat", sort=[*_NAMES]),
            "color": nominal("seat", scale=scale, **legend),
            "tooltip": [
                *tips(("bot", "Bot"), ("seat", "Seat")),
                *tips(("games", "Games"), form=","),
                *tips(*shown, form=".1%"),
            ],
        },
    )


def _progress(
    progress: Mapping[int, Mapping[str, Estimate]], labels: Sequence[str]
) -> Iterator[Block]:
    rows: list[dict[str, Any]] = [
        {"bot": label, "pairs": pairs}
        | {
            name: None if value is None else round(value)
            for name, value in zip(_ELOS, of[label].cells, strict=True)
        }
        for label in labels
        for pairs, of in progress.items()
        if label in of
    ]
    if len(progress) < 2 or not rows:
        return
    shown = [label for label in labels if any(label in of for of in progress.values())]
    yield Chart(
        "progress",
        "Ratings as pairs were played",
        "The Elo of every bot after the first so many pairs of every pairing; the chosen bot has "
        "its 95 % interval. A line that still moves more than its interval would be a surprise. "
        "Where lines end close together only the strongest of their bots is named: point at a line "
        "for its numbers.",
        _progress_spec(rows, shown, max(progress)),
        "progress",
    )
    cells = [tuple(row.values()) for row in rows]
    yield cut_table(
        "progress", "Ratings as pairs were played", PROGRESS_COLUMNS, cells, folded=True
    )


def _progress_spec(rows: Sequence[Mapping[str, Any]], labels: Sequence[str], last: int) -> Spec:
    x = quantity("pairs", "pairs of every pairing", scale={"nice": False}, axis={"tickMinStep": 1})
    y = quantity("elo", "Elo", scale={"zero": False}, axis=ELO_AXIS)
    chosen = "datum.bot == chosen_bot"
    known = [row[field] for row in rows for field in _ELOS if row[field] is not None]
    room = (max(known) - min(known)) / 10
    edges = ("low", "lower", min(known) - room), ("high", "upper", max(known) + room)
    ends = [  # an unbeaten bot has no upper end, and a winless one no lower
        {"calculate": f"isValid(datum.{end}) ? datum.{end} : {edge:.0f}", "as": name}
        for end, name, edge in edges
    ]
    shown = [
        *tips(("bot", "Bot")),
        *tips(("pairs", "Pairs"), form=","),
        *tips(("elo", "Elo"), ("low", "low"), ("high", "high"), form=".0f"),
    ]
    layers: list[Spec] = [
        {
            "transform": [{"filter": chosen}, *ends],
            "mark": {"type": "area", "fillOpacity": 0.2, "color": BLUE, "stroke": BLUE},
            "encoding": {"y": y | {"field": "lower"}, "y2": {"field": "upper"}},
        },
        {
            "mark": {"type": "line", "strokeWidth": 1.2, "color": GREY},
            "encoding": {"y": y, "detail": nominal("bot")},
        },
        {
            "transform": [{"filter": chosen}],
            "mark": {"type": "line", "strokeWidth": 3, "color": BLUE},
            "encoding": {"y": y},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 40, "opacity": 0},
            "encoding": {"y": y, "tooltip": shown},
        },
    ]
    if len(labels) <= _FEW:
        named = {"field": "bot", "oneOf": find_named(rows, last)}
        layers.append(
            {
                "transform": [{"filter": {"and": [f"datum.pairs == {last}", named]}}],
                "mark": {"type": "text", "align": "right", "dx": -4, "dy": -8, "limit": 220},
                "encoding": {"y": y, "text": nominal("bot")},
            }
        )
    return chart(
        rows,
        height=300,
        usermeta={"picture": len(rows) > _MANY},
        params=[choice("chosen_bot", "Bot", labels)],
        layer=layers,
        encoding={"x": x},
    )


def find_named(rows: Sequence[Mapping[str, Any]], last: int) -> list[str]:
    """Return the bots whose names fit at the ends of their lines without overlapping."""
    ends = [row[end] for row in rows for end in ("elo", "low", "high") if row[end] is not None]
    apart = _APART * (max(ends) - min(ends))
    named: dict[str, float] = {}
    for row in rows:
        if row["pairs"] == last and all(abs(row["elo"] - elo) > apart for elo in named.values()):
            named[row["bot"]] = row["elo"]
    return [*named]


def rate_prefixes(
    tournament: Tournament, counts: Counts, labels: Collection[str], unrated: Collection[str]
) -> dict[int, dict[str, Estimate]]:
    """Return the rating of each bot from the first pairs of every pairing, by their number.

    The numbers are the ends of the parts in which the run was counted; `labels` are the bots that
    have played. A prefix is left out if it does not yet connect bots that all games connect.
    """
    if len(counts.ends) < 2:
        return {}
    rated = [label for label in tournament.labels if label in labels]
    how, played = how_rated(tournament, counts), counts.whole.played
    anchors, fields = tournament.anchored, []
    for part, end in enumerate(counts.ends):
        totals = played.where(played.part <= part).pair_totals
        fields.append((end, Field(tournament.pairings, totals, rated, unrated, anchors, **how)))
    groups = len(fields[-1][1].groups)
    return {
        end: {label: one.scaled(1, 1) for label, one in field.ratings.items()}
        for end, field in fields
        if len(field.groups) == groups
    }


CARD_NAMES: Mapping[str, str] = {
    **{kind: f"support {kind}" for kind in "5678"},
    **{kind: f"alliance +{kind}" for kind in "234"},
    **{kind: f"betrayal -{value}" for kind, value in zip("xyz", "123", strict=True)},
    "C": "City",
}
"""The names of the kinds of cards."""
_WORTH = {
    "takes out of 100": "100 * datum.share",
    "points gained": "datum.gain",
    "lead gained": "datum.lead",
    "cards": "datum.cards",
}


def takes_section(takes: Columns, cards: Columns, labels: Sequence[str]) -> Section:
    """Return the section on when and what bots take, and how taken cards correlate with wins."""
    of_all = takes.where(~is_known(takes["bot"]) & _is_single(takes))
    by_action = np.bincount(of_all["action"], of_all["takes"])
    title = short = "Takes and cards"
    if by_action.sum():
        share, action = by_action.max() / by_action.sum(), by_action.argmax()
        title = f"{100 * share:.0f} % of takes are at action {action} of a round"
    return Section("takes", title, [*_blocks(takes, cards, labels)], short)


def _is_single(takes: Columns) -> Flags:
    """Return which rows are of one action in one round."""
    return is_known(takes["round"]) & is_known(takes["action"])


def _blocks(takes: Columns, cards: Columns, labels: Sequence[str]) -> Iterator[Block]:
    names = [ALL, *labels[:MOST_BOTS]]
    takes, cards = (_order_rows(table, labels) for table in (takes, cards))
    if len(takes):
        rows = _take_rows(takes.where(is_in(takes["bot"], names)))
        yield Chart(
            "takes",
            "When bots take, and what it brings",
            "By the bot's action in the round, from 1, which is at once, to 6, after all five "
            "cards: the takes out of 100 of a round; or the mean points that a take adds to its "
            "pile, the lead that it gains, or its cards. A line is a round.",
            _take_spec(rows, names),
            "takes",
        )
        yield frame_table(TAKES, "Takes", takes, folded=True)
    else:
        yield Text(["No card was taken."])
    if len(cards):
        cards = cards.put(card=map_cells(cards["card"], CARD_NAMES.get))
        yield frame_table(CARDS, "Cards", cards, folded=True)


def _order_rows(table: Columns, labels: Sequence[str]) -> Columns:
    """Return the rows of all bots together, then those of each bot in the standings' order."""
    table = with_all(table)
    return table.ordered(place_in(table["bot"], [ALL, *labels]))


def _take_rows(takes: Columns) -> list[dict[str, Any]]:
    numbers = ("share", "cards", "gain", "lead")
    takes = takes.where(_is_single(takes))
    takes = takes.put(**{name: takes[name].round(3) for name in numbers})
    fields = ("bot", "round", "action", "takes", *numbers)
    rows = takes.dicts(dict(zip(fields, fields, strict=True)))
    return [row | {"round": f"round {row['round']}"} for row in rows]


_TAKE_TIPS: list[Spec] = [
    *tips(("round", "Round"), ("action", "Action")),
    *tips(("takes", "Takes"), form=","),
    *tips(("share", "Share"), form=".1%"),
    *tips(("cards", "Cards"), ("gain", "Points gained"), ("lead", "Lead gained"), form=".2f"),
]
_ROUNDS = {"domain": [f"round {n}" for n in "1234"]}
_ROUND_COLOURS = {"range": ["#3a93cb", "#b86e00", "#0b4f86", "#b0558a"]}
_SHAPES = {"range": ["circle", "square", "diamond", "triangle-up"]}


def _lines(rows: Sequence[Mapping[str, Any]], y: Spec, **more: Any) -> Spec:
    """Return a line for each round, with its own colour and shape, over the round's actions."""
    legend = {"title": None, "legend": {"orient": "top"}}
    rounds = sorted({row["round"] for row in rows})
    actions = range(1, max(row["action"] for row in rows) + 1)
    scale = _ROUNDS if rounds <= _ROUNDS["domain"] else {}
    return chart(
        rows,
        height=220,
        mark={"type": "line", "point": {"size": 60, "filled": True}},
        encoding={
            "x": {
                "field": "action",
                "type": "ordinal",
                "scale": {"domain": [*actions]},
                "title": "action of the bot in the round",
                "axis": {"labelAngle": 0},
            },
            "y": y,
            "color": nominal("round", scale=scale | _ROUND_COLOURS, **legend),
            "shape": nominal("round", scale=scale | _SHAPES, **legend),
            "tooltip": _TAKE_TIPS,
        },
        **more,
    )


def _take_spec(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Spec:
    worth = " : ".join(f"chosen_worth == '{title}' ? {of}" for title, of in _WORTH.items())
    return _lines(
        rows,
        quantity("worth", None),
        params=[
            choice("chosen_bot", "Bot", names),
            choice("chosen_worth", "Show", [*_WORTH]),
        ],
        transform=[
            {"filter": "datum.bot == chosen_bot"},
            {"calculate": f"{worth} : 0", "as": "worth"},
        ],
    )
