"""Make the sections on the advantage of seat 0, and on what bots take and when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from arena.reports.blocks import Block, Chart, Section, Text
from arena.reports.charts import (
    ALL,
    BLUE,
    MOST_BOTS,
    ORANGE,
    STEP,
    Spec,
    chart,
    frame_table,
    interval_layers,
    nominal,
    quantity,
    row_of_bots,
    tips,
    with_all,
)
from arena.statistics.intervals import Moments, SeatAdvantage
from arena.statistics.wording import as_sentence
from arena.store.columns import Columns, is_known, map_cells, place_in
from arena.tables.findings import describe_seat
from arena.tables.table_columns import CARDS, TAKES

_SEATS: Final = ("seat 0", "seat 1")
_LEGEND: Final[Spec] = {"title": None, "legend": {"orient": "top"}}
_COLOURS: Final = ["#3a93cb", "#b86e00", "#0b4f86", "#b0558a"]
_SHAPES: Final = ["circle", "square", "diamond", "triangle-up"]

CARD_NAMES: Mapping[str, str] = {
    **{kind: f"support {kind}" for kind in "5678"},
    **{kind: f"alliance +{kind}" for kind in "234"},
    **{kind: f"betrayal -{value}" for kind, value in zip("xyz", "123", strict=True)},
    "C": "City",
}
"""The names of the kinds of cards."""


def seats_section(
    win_types: Columns, advantage: SeatAdvantage | None, labels: Sequence[str]
) -> Section:
    """Return the section on the advantage of seat 0; `win_types` are the rows of that file."""
    title = short = "Seats"
    paragraphs = ["No pair was played to its end, so nothing is known of the seats."]
    if advantage:
        luck = "which may be luck" if advantage.low <= 0.5 <= advantage.high else "more than luck"
        title = f"Seat 0 scores {100 * advantage.share:.1f} %, {luck}"
        paragraphs = [
            as_sentence(describe_seat(advantage, level=True)),
            "Each bot sits once in seat 0 in a pair, so it does not matter how strong the bots "
            "are. Where the interval leaves out 50 %, one seat is better.",
        ]
    blocks: list[Block] = [Text(paragraphs)]
    shown = labels[:MOST_BOTS]
    if rows := _seat_rows(win_types, shown):
        description = "The score of each bot in seat 0 (circle) and in seat 1 (square), with 95 % "
        blocks.append(
            Chart(
                "seat-scores",
                "Scores by seat",
                f"{description}intervals.",
                _seat_spec(rows, shown),
                "win_types",
            )
        )
    return Section("seats", title, blocks, short)


def _seat_rows(win_types: Columns, labels: Sequence[str]) -> list[dict[str, Any]]:
    """Return the scores of bots by seat: a bot sits there once in a pair, so games are units."""
    own = win_types.where(place_in(win_types["bot"], labels) < len(labels))
    wins, draws = own["wins"], own["draws"]
    scores = Moments.independent(own["games"], 2 * wins + draws, 4 * wins + draws, 2).shares()
    ends = zip(*(part[:, 0].round(4).tolist() for part in scores), strict=True)
    return [
        {"bot": bot, "seat": _SEATS[seat], "games": games, "value": value, "low": low, "high": high}
        for (bot, seat, games), (value, low, high) in zip(
            own.rows(["bot", "seat", "games"]), ends, strict=True
        )
    ]


def _seat_spec(rows: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> Spec:
    x = quantity("value", "score", axis={"format": ".0%"}, scale={"zero": False})
    rule, point = interval_layers(x)
    shapes = {"domain": [*_SEATS], "range": ["circle", "square"]}
    colours = {"domain": [*_SEATS], "range": [BLUE, ORANGE]}
    point["encoding"]["shape"] = nominal("seat", scale=shapes, **_LEGEND)
    shown = [("value", "Score"), ("low", "low"), ("high", "high")]
    return chart(
        rows,
        height=STEP * len(labels),
        layer=[rule, point],
        encoding={
            "y": row_of_bots(labels),
            "yOffset": nominal("seat", sort=[*_SEATS]),
            "color": nominal("seat", scale=colours, **_LEGEND),
            "tooltip": [
                *tips(("bot", "Bot"), ("seat", "Seat")),
                *tips(("games", "Games"), form=","),
                *tips(*shown, form=".1%"),
            ],
        },
    )


def takes_section(takes: Columns, cards: Columns, labels: Sequence[str]) -> Section:
    """Return the section on when bots take, and on the cards that they play and take."""
    is_single = is_known(takes["round"]) & is_known(takes["action"])
    of_all = takes.where(~is_known(takes["bot"]) & is_single)
    by_action = np.bincount(of_all["action"], of_all["takes"])
    title = short = "Takes and cards"
    if by_action.sum():
        share, action = by_action.max() / by_action.sum(), by_action.argmax()
        title = f"{100 * share:.0f} % of takes are at action {action} of a round"
    return Section("takes", title, [*_take_blocks(of_all, takes, cards, labels)], short)


def _take_blocks(
    of_all: Columns, takes: Columns, cards: Columns, labels: Sequence[str]
) -> Iterator[Block]:
    if not len(takes):
        yield Text(["No card was taken."])
    else:
        yield Chart(
            "takes",
            "When bots take",
            "The takes out of 100 of a round, of all bots together, by the bot's action in the "
            "round: from 1, which is at once, to 6, after all five cards. A line is a round.",
            _take_spec(of_all),
            "takes",
        )
        yield frame_table(TAKES, "Takes", _order_rows(takes, labels), folded=True)
    if len(cards):
        named = cards.put(card=map_cells(cards["card"], CARD_NAMES.get))
        yield frame_table(CARDS, "Cards", _order_rows(named, labels), folded=True)


def _order_rows(table: Columns, labels: Sequence[str]) -> Columns:
    """Return the rows of all bots together, then those of each bot in the standings' order."""
    table = with_all(table)
    return table.ordered(place_in(table["bot"], [ALL, *labels]))


def _take_spec(of_all: Columns) -> Spec:
    fields = ("round", "action", "takes", "cards", "gain")
    rows = of_all.put(cards=of_all["cards"].round(2), gain=of_all["gain"].round(2)).dicts(
        dict(zip(fields, fields, strict=True))
    )
    for row, share in zip(rows, (100 * of_all["share"]).round(1).tolist(), strict=True):
        row |= {"share": share, "round": f"round {row['round']}"}
    names = {"domain": [*dict.fromkeys(row["round"] for row in rows)]}
    return chart(
        rows,
        height=220,
        mark={"type": "line", "point": {"size": 60, "filled": True}},
        encoding={
            "x": {
                "field": "action",
                "type": "ordinal",
                "scale": {"domain": [*range(1, int(of_all["action"].max()) + 1)]},
                "title": "action of the bot in the round",
                "axis": {"labelAngle": 0},
            },
            "y": quantity("share", "takes out of 100"),
            "color": nominal("round", scale=names | {"range": _COLOURS}, **_LEGEND),
            "shape": nominal("round", scale=names | {"range": _SHAPES}, **_LEGEND),
            "tooltip": [
                *tips(("round", "Round"), ("action", "Action"), ("share", "Takes out of 100")),
                *tips(("takes", "Takes"), form=","),
                *tips(("cards", "Cards"), ("gain", "Points gained"), form=".2f"),
            ],
        },
    )
