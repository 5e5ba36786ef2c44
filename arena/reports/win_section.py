"""Make the section on how games are won: sources of points, being ahead, margins, and takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from arena.reports.blocks import ALL, Block, Section, Table, Text, frame_table, with_all
from arena.reports.charts import SIDES, Lines, Mark, Panels, Row, Rows, Series
from arena.statistics.distributions import Floats
from arena.statistics.intervals import Ints
from arena.statistics.number_texts import as_sentence, write_ends
from arena.store.column_titles import CARDS, TAKES, WIN_TYPE_TABLE, WINS, Column
from arena.store.columns import Columns, is_known, map_cells, place_in

SOURCE_NAMES: Final = {
    **{f"majority_{kind}": f"majority of {kind}s" for kind in "5678"},
    **{name: name for name in ("sets", "alliances", "betrayals", "total", "cities")},
}

CARD_NAMES: Mapping[str, str] = {
    **{kind: f"support {kind}" for kind in "5678"},
    **{kind: f"alliance +{kind}" for kind in "234"},
    **{kind: f"betrayal -{value}" for kind, value in zip("xyz", "123", strict=True)},
    "C": "City",
}
"""The names of the kinds of cards."""

MARGIN_COLUMNS = (
    Column("from", "Winner ahead, from", "count", "The least lead in points of the games."),
    Column("to", "to", "count", "The greatest lead in points of the games of this row."),
    Column("games", "Games", "count"),
)
_BIN = 2  # points


def wins_section(
    blocks: Iterable[Block], standings: Columns, win_types: Columns, city: str = ""
) -> Section:
    """Return the section about how games are won; `city` says whether City is a real way."""
    games = max(1, standings["games"].sum() / 2)
    of_city, points = (100 * standings[f"{one}_wins"].sum() / games for one in ("city", "points"))
    title = f"{of_city:.1f} % of games were won by City, {points:.1f} % on points"
    said = [Text([f"{city}. This rests on how these bots play."])] if city else []
    table = frame_table(WIN_TYPE_TABLE, "Win types by seat", win_types, folded=True)
    return Section("wins", title, [*said, *blocks, table], "How games are won")


def source_blocks(wins: Columns, labels: Sequence[str]) -> Iterator[Block]:
    """Yield the charts of points by source and of what being ahead is worth, and their table."""
    if not len(wins):
        return
    table = with_all(wins).put(source=map_cells(wins["source"], SOURCE_NAMES.get))
    of_all = table.where(table["bot"] == ALL).dicts({name: name for name in WINS.names})
    last = max(row["round"] for row in of_all)
    ends = [row for row in of_all if row["round"] == last]
    yield Rows(
        name="points-by-source",
        title="Points by source",
        meaning="The mean points of winners and of losers from each source at the end of a game, "
        "with 95 % intervals. The piles of a game that was won by City count as they were.",
        unit="points of a game",
        signs={"won": "the winner's", "lost": "the loser's"},
        table="wins",
        rows=[
            _row(row, row["source"], {"won": "in_wins", "lost": "in_losses"}, 1, ".1f")
            for row in ends
            if row["source"] not in (SOURCE_NAMES["cities"], SOURCE_NAMES["total"])
        ],
        bounds=(0.0,),
    )
    totals = [row for row in of_all if row["source"] == SOURCE_NAMES["total"] and row not in ends]
    rows = [(f"points after round {row['round']}", row) for row in totals]
    rows += [(f"{row['source']} at the end", row) for row in ends if row["source"] != "total"]
    yield Rows(
        name="ahead",
        title="What being ahead is worth",
        meaning="Of the games in which a bot had more than its opponent of all points after a "
        "round, or of a source of points or of cities at the end, the share that it won in any way "
        "(a draw is one half) and by City, with 95 % intervals. After a round only games that went "
        "on are counted.",
        unit="per cent of the games in which a bot is ahead",
        signs={"won": "won in any way", "city": "won by City"},
        table="wins",
        rows=[_row(row, name, {"won": "won", "city": "by_city"}, 100, ".0f") for name, row in rows],
        bounds=(0.0, 100.0),
    )
    ordered = _order_rows(table, labels)
    yield frame_table(WINS, "Who is ahead, and who wins", ordered, folded=True)


def _row(
    row: Mapping[str, Any], name: str, fields: Mapping[str, str], factor: float, form: str
) -> Row:
    """Return a row with a dot for each field that is known, by the class of its sign."""
    marks, said = [], []
    for kind, field in fields.items():
        value, *ends = (row[f"{field}{end}"] for end in ("", "_low", "_high"))
        if value is not None:
            low, high = (None if end is None else factor * end for end in ends)
            marks.append(Mark(factor * value, low, high, kind, is_known=low is not None))
            interval = f" ({write_ends(low, high, form)})" if marks[-1].is_known else ""
            said.append(f"{kind} {factor * value:{form}}{interval}")
    return Row(name, marks, ", ".join(said))


class Margin(NamedTuple):
    """The number of a pairing's games with this margin of its first bot, negative if it lost."""

    pairing: int
    margin: int
    games: int


def margin_blocks(margins: Iterable[Margin]) -> Iterator[Block]:
    """Yield the chart and the table of the margins of games."""
    counts: Counter[int] = Counter()
    for _, margin, games in margins:
        counts[abs(margin) // _BIN * _BIN] += games
    if not counts:
        return
    rows = [(start, start + _BIN - 1, counts[start]) for start in range(0, max(counts) + 1, _BIN)]
    yield Lines(
        name="margins",
        title="By how much games are won",
        meaning="How many of the games that are decided by points or by the tie-break end with "
        f"which lead of the winner; a point stands for {_BIN} leads.",
        unit="games",
        table="margins",
        series=[
            Series(
                "ink",
                [(start, games) for start, _, games in rows],
                [f"{start} or {end} points ahead: {games:,}" for start, end, games in rows],
            )
        ],
        across="points ahead of the opponent",
    )
    yield Table("margins", "Margins", MARGIN_COLUMNS, rows, folded=True)


def take_blocks(takes: Columns, cards: Columns, labels: Sequence[str]) -> Iterator[Block]:
    """Yield when bots take, as a chart and a table, and the cards that they play and take."""
    is_single = is_known(takes["round"]) & is_known(takes["action"])
    of_all = takes.where(~is_known(takes["bot"]) & is_single)
    if not len(takes):
        yield Text(["No card was taken."])
    else:
        yield _take_chart(of_all)
        yield frame_table(TAKES, "Takes", _order_rows(takes, labels), folded=True)
    if len(cards):
        named = cards.put(card=map_cells(cards["card"], CARD_NAMES.get))
        yield frame_table(CARDS, "Cards", _order_rows(named, labels), folded=True)


def _order_rows(table: Columns, labels: Sequence[str]) -> Columns:
    """Return the rows of all bots together, then those of each bot in the standings' order."""
    table = with_all(table)
    return table.ordered(place_in(table["bot"], [ALL, *labels]))


def _take_chart(of_all: Columns) -> Lines:
    """Return the line of each round; an action at which nobody took is 0 there."""
    by_action = np.bincount(of_all["action"], of_all["takes"])
    share, action = by_action.max() / max(1, by_action.sum()), by_action.argmax()
    places = {
        (row[0], row[1]): row[2:] for row in of_all.rows(["round", "action", "share", "takes"])
    }
    rounds, actions = ({*of_all[name].tolist()} for name in ("round", "action"))
    series = []
    for number in sorted(rounds):
        cells = [places.get((number, one), (0.0, 0)) for one in range(1, max(actions) + 1)]
        points = [(n, round(100 * share, 1)) for n, (share, _) in enumerate(cells, 1)]
        said = [
            f"round {number}, action {n}: {percent:g} of 100 takes, {takes:,} in all"
            for (n, percent), (_, takes) in zip(points, cells, strict=True)
        ]
        series.append(Series(f"round-{number}", points, said))
    return Lines(
        name="takes",
        title=f"{100 * share:.0f} % of takes are at action {action} of a round",
        meaning="The takes out of 100 of a round, of all bots together, by the bot's action in the "
        "round: from 1, which is at once, to 6, after all five cards. A line is a round.",
        unit="takes out of 100 of the round",
        signs={f"round-{number}": f"round {number}" for number in sorted(rounds)},
        table="takes",
        series=series,
        across="action of the bot in the round",
    )


def compare_takes(two: tuple[str, str], takes: Columns) -> Iterator[Section]:
    """Yield when both bots take, and what a take brings, unless one of them has not taken."""
    own = takes.where(is_known(takes["round"]) & is_known(takes["action"]))
    counts = {row[:3]: row[3] for row in own.rows(["bot", "round", "action", "takes"])}
    counts = {place: number for place, number in counts.items() if place[0] in two}
    if {bot for bot, _, _ in counts} != {*two}:
        return
    rounds, actions = (sorted({place[n] for place in counts}) for n in (1, 2))
    found = np.array(
        [[[counts.get((bot, n, action), 0) for bot in two] for action in actions] for n in rounds]
    )
    text = Text([as_sentence("; ".join(_bring(label, takes) for label in two))])
    chart = Panels(
        name="takes",
        title="Takes by round",
        meaning="When both take, by the own action in the round: 1 is at once, the last one is "
        "after all cards of the hand, as a share of the bot's takes in the round. This describes "
        "the games, and is no part of the sums above.",
        unit="takes out of 100 of the bot in the round",
        signs=dict(zip(SIDES, two, strict=True)),
        table="takes",
        size="full",
        panels=[_draw_shares(two, n, actions, of) for n, of in zip(rounds, found, strict=True)],
    )
    title = _name_gap(two, actions, found.sum(axis=0))
    yield Section("takes", title, [chart, text], "Takes")


def _share(counts: Ints) -> Floats:
    """Return the shares of each bot's takes at each action, in per cent."""
    shares: Floats = 100 * (counts / np.maximum(1, counts.sum(axis=0)))
    return shares


def _draw_shares(two: tuple[str, str], number: int, actions: Sequence[int], counts: Ints) -> Lines:
    """Return the panel of a round: at each action the shares of both bots."""
    series = []
    for side, label, shares in zip(SIDES, two, _share(counts).T, strict=True):
        points = [(one, round(share, 1)) for one, share in zip(actions, shares, strict=True)]
        said = [f"{label} at {place}: {share:.0f} %" for place, share in points]
        series.append(Series(side, points, said))
    return Lines(
        name=f"round-{number}",
        title=f"round {number}",
        meaning="Takes out of 100 of each bot.",
        series=series,
        across="action in the round",
        tall=120,
    )


def _name_gap(two: tuple[str, str], actions: Sequence[int], counts: Ints) -> str:
    """Return at which action the two differ most in how often they take."""
    shares = _share(counts)
    place = int(np.abs(shares[:, 0] - shares[:, 1]).argmax())
    new, old = (f"{share:.0f} %" for share in shares[place])
    if new == old:
        return "Both take at the same actions"
    where = "its last action" if place == len(actions) - 1 else f"its action {actions[place]}"
    return f"{two[0]} makes {new} of its takes at {where} of a round, {two[1]} {old}"


def _bring(label: str, takes: Columns) -> str:
    of_all = takes.where((takes["bot"] == label) & ~is_known(takes["round"]))
    ((cards, gain),) = of_all.rows(["cards", "gain"])
    return f"a take of {label} brings {cards:.1f} cards and {gain:+.1f} points"
