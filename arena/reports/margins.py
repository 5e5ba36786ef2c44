"""Margins: by how many points games are won that points decide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from arena.reports.chart_rows import MOST_FOLDED, note_of
from arena.reports.charts import ALL, BLUE, MOST_BOTS, chart, choice, quantity
from arena.reports.document import Block, Chart, Column, Table


class Margin(NamedTuple):
    """Games of one pairing that the first bot won by so many points: fewer than 0 if it lost."""

    pairing: int
    margin: int
    games: int


MARGIN_COLUMNS = (
    Column("bot", "Bot"),
    Column("from", "Ahead, from", "count", "The least lead in points of the games of this row."),
    Column("to", "to", "count", "The greatest lead in points of the games of this row."),
    Column("games", "Games", "count"),
)


def margin_blocks(
    margins: Iterable[Margin], bots: Sequence[tuple[str, str]], labels: Sequence[str]
) -> Iterator[Block]:
    """Yield by how many points games are won; `bots` are those of each pairing."""
    counts = _count_margins(margins, bots)
    names = [name for name in (ALL, *labels[:MOST_BOTS]) if name in counts]
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
            "tooltip": [
                {"field": "lead", "title": "Points ahead"},
                {"field": "games", "title": "Games", "type": "quantitative"},
            ],
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
    note = note_of(len(cells), "the chart", MOST_FOLDED)
    yield Table("margins", "Margins", MARGIN_COLUMNS, cells[:MOST_FOLDED], note=note, folded=True)


_BIN = 2


def _count_margins(
    margins: Iterable[Margin], bots: Sequence[tuple[str, str]]
) -> dict[str, dict[int, int]]:
    counts: dict[str, dict[int, int]] = {}
    for pairing, margin, games in margins:
        bot, opponent = bots[pairing]
        for name, lead in ((ALL, abs(margin)), (bot, margin), (opponent, -margin)):
            of_bot = counts.setdefault(name, {})
            start = lead // _BIN * _BIN
            of_bot[start] = of_bot.get(start, 0) + games
    return counts
