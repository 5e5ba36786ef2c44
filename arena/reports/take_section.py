"""Make the section on takes: when bots take, what it brings, and the worth of each card."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from arena.reports.blocks import Block, Chart, Section, Text
from arena.reports.charts import (
    ALL,
    MOST_BOTS,
    Spec,
    chart,
    choice,
    frame_table,
    interval_layers,
    nominal,
    plain_dicts,
    quantity,
    tips,
)
from arena.tables.table_columns import CARDS, TAKES

if TYPE_CHECKING:
    import pandas as pd

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


def takes_section(takes: pd.DataFrame, cards: pd.DataFrame, labels: Sequence[str]) -> Section:
    """Return the section on when and what bots take, and how taken cards correlate with wins."""
    return Section("takes", "Takes and cards", [*_blocks(takes, cards, labels)])


def _blocks(takes: pd.DataFrame, cards: pd.DataFrame, labels: Sequence[str]) -> Iterator[Block]:
    names = [ALL, *labels[:MOST_BOTS]]
    takes, cards = (_ordered(table, labels) for table in (takes, cards))
    if len(takes):
        rows = _take_rows(takes[takes["bot"].isin(names)])
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
    known = cards[cards["adds"].notna() & cards["bot"].isin(names)]
    if len(known):
        yield _card_chart(known, names)
    if len(cards):
        cards = cards.assign(card=cards["card"].map(CARD_NAMES))
        yield frame_table(CARDS, "Cards", cards, folded=True)


def _ordered(table: pd.DataFrame, labels: Sequence[str]) -> pd.DataFrame:
    """Return the rows of all bots together, then those of each bot in the standings' order."""
    places = {name: place for place, name in enumerate([ALL, *labels])}
    table = table.assign(bot=table["bot"].fillna(ALL))
    return table.assign(_=table["bot"].map(places)).sort_values("_", kind="stable")


def _take_rows(takes: pd.DataFrame) -> list[dict[str, Any]]:
    takes = takes[takes["round"].notna() & takes["action"].notna()]
    fields = ("bot", "round", "action", "takes", "share", "cards", "gain", "lead")
    rows = plain_dicts(takes.round(3), dict(zip(fields, fields, strict=True)))
    return [row | {"round": f"round {row['round']}"} for row in rows]


_TAKE_TIPS: list[Spec] = [
    *tips(("round", "Round"), ("action", "Action")),
    *tips(("takes", "Takes"), form=","),
    *tips(("share", "Share"), form=".1%"),
    *tips(("cards", "Cards"), ("gain", "Points gained"), ("lead", "Lead gained"), form=".2f"),
]
_ROUNDS = {"domain": [f"round {n}" for n in "1234"]}
_ROUND_COLOURS = {"range": ["#3793cc", "#b37400", "#004d80", "#b0558a"]}
_FIELDS = {"bot": "bot", "card": "card", "adds": "value", "adds_low": "low", "adds_high": "high"}
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


def _card_chart(cards: pd.DataFrame, names: Sequence[str]) -> Chart:
    points = (100 * cards[["adds", "adds_low", "adds_high"]]).round(2)
    cards = cards.assign(card=cards["card"].map(CARD_NAMES), **points)
    rows = plain_dicts(cards, _FIELDS)
    known = {row["bot"] for row in rows}
    title = "adds to wins, percentage points"
    x = quantity("value", title, axis={"format": "+d", "tickMinStep": 1})
    shown = [("value", "Adds, points"), ("low", "low"), ("high", "high")]
    spec = chart(
        rows,
        height=22 * len(CARD_NAMES),
        params=[choice("chosen_bot", "Bot", [name for name in names if name in known])],
        transform=[{"filter": "datum.bot == chosen_bot"}],
        layer=interval_layers(x),
        encoding={
            "y": nominal("card", sort=[*CARD_NAMES.values()], title=None),
            "tooltip": [*tips(("card", "Card")), *tips(*shown, form="+.1f")],
        },
    )
    description = (
        "How much more often a bot wins when such a card is in its take, with 95 % intervals. The "
        "other cards of the take and what was known before it are allowed for. An average card "
        "adds about 0. This is an adjusted correlation and not what the card causes: arena worth "
        "RUN --intervene swaps cards and plays the games on."
    )
    return Chart("card-worth", "What cards add", description, spec, "cards")
