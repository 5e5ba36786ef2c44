"""Takes: when bots take, how many cards, worth how much; and what each kind of card goes with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from arena.reports.chart_rows import frame_table, plain_rows
from arena.reports.charts import ALL, BLUE, MOST_BOTS, Spec, chart, choice, nominal, quantity
from arena.reports.document import Block, Chart, Column, Section, Text

if TYPE_CHECKING:
    import pandas as pd

_MEAN_END = "The 95 % interval of a mean, with the pair as unit."
TAKE_COLUMNS = (
    Column("bot", "Bot"),
    Column("round", "Round", "count", "The round of the game, 1 to 4; empty for all rounds."),
    Column(
        "action",
        "Action",
        "count",
        "Which of the bot's actions in the round the take was, from 1 on; empty for all of them.",
    ),
    Column("takes", "Takes", "count", "How many takes there were."),
    Column(
        "share",
        "Share",
        "share",
        "Their share of the bot's takes in this round; in a whole round's row, of all its takes.",
    ),
    Column("share_low", "Share, low", "share", "The 95 % interval of a share (Wilson)."),
    Column("share_high", "Share, high", "share", "The 95 % interval of a share (Wilson)."),
    Column("cards", "Cards", "number", "The mean number of cards that a take brought."),
    Column("gain", "Gain", "number", "Points by which a take made the taker's pile worth more."),
    Column("gain_low", "Gain, low", "number", _MEAN_END),
    Column("gain_high", "Gain, high", "number", _MEAN_END),
    Column(
        "lead", "Lead gained", "number", "Points by which a take raised the lead over the other."
    ),
    Column("early", "Early", "share", "Takes with fewer than five cards, the row being shorter."),
    Column("forced", "Forced", "share", "Takes with an empty hand (R8)."),
)
CARD_COLUMNS = (
    Column("bot", "Bot"),
    Column("card", "Card", "text", "A kind: 5 to 8, alliances 2 to 4, betrayals x to z, C."),
    Column("played", "Played", "number", "Cards of this kind that the bot played in a game."),
    Column("taken", "Taken", "number", "Cards of this kind that the bot took in a game."),
    Column("won", "Won", "share", "Games won by who took such a card, counted by cards."),
    Column("expected", "Expected", "share", "The same, as the state before the take said."),
    Column(
        "more",
        "More",
        "share",
        "Won less expected: how much more often than the state said. It goes with the card, "
        "and need not come from it.",
    ),
    Column(
        "adds",
        "Adds",
        "share",
        "What one such card adds to More, beside the other cards of its take: a correlation, "
        "adjusted, and no cause. `arena worth RUN --intervene` makes the experiment.",
    ),
    Column("adds_low", "Adds, low", "share", _MEAN_END),
    Column("adds_high", "Adds, high", "share", _MEAN_END),
    Column("sampled", "Games sampled", "count", "Games of which won to adds come."),
)
CARD_NAMES: Mapping[str, str] = {
    **{kind: f"support {kind}" for kind in "5678"},
    **{kind: f"alliance +{kind}" for kind in "234"},
    **{kind: f"betrayal -{value}" for kind, value in zip("xyz", "123", strict=True)},
    "C": "City",
}
"""What kinds of cards are called."""
_WORTH = {
    "takes out of 100": "100 * datum.share",
    "points gained": "datum.gain",
    "lead gained": "datum.lead",
    "cards": "datum.cards",
}


def takes_section(takes: pd.DataFrame, cards: pd.DataFrame, labels: Sequence[str]) -> Section:
    """Return when and what bots take, and how cards that are taken go with winning."""
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
        yield frame_table("takes", "Takes", TAKE_COLUMNS, takes, "takes.csv", folded=True)
    else:
        yield Text(["No card was taken."])
    known = cards[cards["adds"].notna() & cards["bot"].isin(names)]
    if len(known):
        yield _card_chart(known, names)
    if len(cards):
        cards = cards.assign(card=cards["card"].map(CARD_NAMES))
        yield frame_table("cards", "Cards", CARD_COLUMNS, cards, "cards.csv", folded=True)


def _ordered(table: pd.DataFrame, labels: Sequence[str]) -> pd.DataFrame:
    """Return the rows of all bots first, and then those of each bot, as in the standings."""
    places = {name: place for place, name in enumerate([ALL, *labels])}
    table = table.assign(bot=table["bot"].fillna(ALL))
    return table.assign(_=table["bot"].map(places)).sort_values("_", kind="stable")


def _take_rows(takes: pd.DataFrame) -> list[dict[str, Any]]:
    takes = takes[takes["round"].notna() & takes["action"].notna()]
    fields = ["bot", "round", "action", "takes", "share", "cards", "gain", "lead"]
    rows = plain_rows(takes, fields)
    return [
        {"bot": bot, "round": f"round {number}", "action": action, "takes": count}
        | dict(zip(fields[4:], (round(value, 3) for value in means), strict=True))
        for bot, number, action, count, *means in rows
    ]


_TAKE_TIPS: list[Spec] = [
    {"field": "round", "title": "Round"},
    {"field": "action", "title": "Action"},
    {"field": "takes", "title": "Takes", "type": "quantitative"},
    {"field": "share", "title": "Share", "type": "quantitative", "format": ".1%"},
    {"field": "cards", "title": "Cards", "type": "quantitative", "format": ".2f"},
    {"field": "gain", "title": "Points gained", "type": "quantitative", "format": ".2f"},
    {"field": "lead", "title": "Lead gained", "type": "quantitative", "format": ".2f"},
]
_ROUNDS = {"domain": [f"round {n}" for n in "1234"]}
_ROUND_COLOURS = {"range": ["#56b4e9", "#e69f00", "#0072b2", "#cc79a7"]}
_SHAPES = {"range": ["circle", "square", "diamond", "triangle-up"]}


def _lines(rows: Sequence[Mapping[str, Any]], y: Spec, **more: Any) -> Spec:
    """Return a line for each round, told apart by colour and shape, over the actions in it."""
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
    fields = ["bot", "card", "adds", "adds_low", "adds_high"]
    rows = [
        {"bot": bot, "card": CARD_NAMES[card], "adds": adds, "low": low, "high": high}
        for bot, card, adds, low, high in plain_rows(cards, fields)
    ]
    known = {row["bot"] for row in rows}
    x = quantity("adds", "adds to wins (an adjusted correlation)", axis={"format": "+.0%"})
    tips = [
        {"field": "card", "title": "Card"},
        *(
            {"field": field, "title": title, "type": "quantitative", "format": "+.1%"}
            for field, title in (("adds", "Adds"), ("low", "low"), ("high", "high"))
        ),
    ]
    spec = chart(
        rows,
        height=22 * len(CARD_NAMES),
        params=[choice("chosen_bot", "Bot", [name for name in names if name in known])],
        transform=[{"filter": "datum.bot == chosen_bot"}],
        layer=[
            {
                "mark": {"type": "rule", "strokeWidth": 3, "opacity": 0.55, "color": BLUE},
                "encoding": {"x": x | {"field": "low"}, "x2": {"field": "high"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1, "color": BLUE},
                "encoding": {"x": x},
            },
        ],
        encoding={
            "y": nominal("card", sort=[*CARD_NAMES.values()], title=None),
            "tooltip": tips,
        },
    )
    description = (
        "By how much more often who takes such a card wins, beside the other cards of the take "
        "and what was known before it, with 95 % intervals. An average card adds about 0. This "
        "is an adjusted correlation and not what the card causes: arena worth RUN --intervene "
        "swaps cards and plays the games on."
    )
    return Chart("card-worth", "What cards add", description, spec, "cards")
