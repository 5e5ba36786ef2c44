"""Make the sections with the standings, leads over the next bot, and each bot's key figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Final, TypeAlias

import numpy as np

from arena.errors import counted
from arena.reports.blocks import Block, Chart, Section, Table, Text, write_cell
from arena.reports.charts import (
    ELO_AXIS,
    MOST_BOTS,
    STEP,
    Spec,
    chart,
    cut_table,
    find_window,
    frame_table,
    interval_layers,
    nominal,
    quantity,
    row_of_bots,
    tips,
    zero_line,
)
from arena.statistics.wording import as_sentence, share_letter, write_ends
from arena.store.columns import Columns, is_first, is_known, match_rows
from arena.tables.findings import Findings, describe_spread
from arena.tables.losses import MISTAKES, JudgedTables, choose_opponent, count_mistakes, make_losses
from arena.tables.table_columns import STANDINGS, TIMINGS, Column, interval

_TIMES = ("cpu_mean", "cpu_p99")
_FEW = ("rank", "bot", "elo", "score", "city_wins", "points_wins")
_AFTER_ELO = 5  # the columns before: rank, bot, Elo and its ends
_CHARTED = ("bot", "elo", "elo_low", "elo_high", "group")
_LEADS = ("bot", "opponent", "lead", "lead_low", "lead_high", "likely", "verdict")
_SHAPES = {"apart": "circle", "leans": "triangle-right", "open": "diamond"}
_LEGEND = {"orient": "bottom", "labelLimit": 240}
_ROOM = 18, 110  # pixels of a letter and of a probability at the end of a row
_Place: TypeAlias = "tuple[int, str, str | None]"  # rank, label, letters
_SHORT = "How surely"
_NAMED = 6  # bots that are named; of more bots the ranks are given
_OF_GAMES: Final = "The share of its games that ended so."
_FIGURES: Final = (
    Column("bot", "Bot"),
    Column("score", "Score", "share", "The share of the points that the bot has scored."),
    Column("won_city", "Won by City", "share", _OF_GAMES),
    Column("won_points", "Won by points", "share", _OF_GAMES),
    Column("lost_city", "Lost by City", "share", _OF_GAMES),
    Column("lost_forfeit", "Forfeited", "share", _OF_GAMES),
    Column("mean_margin", "Margin", "number"),
    Column("take_cards", "Cards of a take", "number", "The mean over all its takes."),
    Column("take_gain", "Points of a take", "number", "The mean that a take adds to its pile."),
)
_SHARES: Final = {
    "won_city": "city_wins",
    "won_points": "points_wins",
    "lost_city": "city_losses",
    "lost_forfeit": "forfeits",
}
_LOSSES: Final = ("loss", "loss_low", "loss_high")


def bots_section(
    standings: Columns, takes: Columns, timings: Columns | None, judged: JudgedTables
) -> Section:
    """Return the section on single bots, the strongest first, and on their kinds of mistakes.

    `takes` are the rows of takes.csv. Times are there with `timings`, and what a decision loses
    with judged decisions.
    """
    return Section("bots", "Bots", [*_figures(standings, takes, timings, judged)])


def _figures(
    standings: Columns, takes: Columns, timings: Columns | None, judged: JudgedTables
) -> Iterator[Block]:
    if judged.left_out:
        yield Text([f"Left out: {judged.left_out}."], warning=True)
    of_all = takes.where(~is_known(takes["round"]) & is_known(takes["bot"]))
    table = standings.put(
        **{name: standings[of] / standings["games"] for name, of in _SHARES.items()},
        **_find(standings, of_all, {"take_cards": "cards", "take_gain": "gain"}),
    )
    columns = [*_FIGURES]
    if timings is not None:
        columns += [column for column in TIMINGS.shown if column.name == "cpu_mean"]
        table = table.put(**_find(table, timings, {"cpu_mean": "cpu_mean"}))
    if judged.decisions is not None:
        opponent = choose_opponent(judged.decisions)
        title = f"Loss against {opponent}"
        meaning = "The mean loss of a decision against this opponent, as arena analyse judged it."
        columns += [Column("loss", title, "share", meaning)]
        columns += interval("loss", title, "share", "The 95 % interval, with the pair as unit.")
        losses = make_losses(judged.decisions)
        losses = losses[(losses["part"] == "all") & (losses["opponent"] == opponent)]
        table = table.put(**_find(table, Columns.of(losses), {name: name for name in _LOSSES}))
    rows = table.rows([column.name for column in columns])
    yield cut_table("key-figures", "Key figures of every bot", columns, rows, "standings.csv")
    if judged.decisions is not None and len(kinds := count_mistakes(judged.decisions)):
        caption = "Kinds of mistakes, of the costliest decisions of each bot"
        yield Table("mistakes", caption, MISTAKES.shown, Columns.of(kinds).rows(), folded=True)


def _find(table: Columns, other: Columns, names: dict[str, str]) -> dict[str, np.ndarray]:
    """Return columns of another table by their new names, nan for a bot that has no row there."""
    place = match_rows([table["bot"]], [other["bot"]])
    return {name: np.append(other[of].astype(float), np.nan)[place] for name, of in names.items()}


def standings_section(
    standings: Columns, verdicts: Columns, findings: Findings, timings: Columns | None
) -> Section:
    """Return the standings as a chart of intervals and a table, and the chart of leads."""
    neighbours = _of_neighbours(verdicts)
    blocks = [*_blocks(standings, neighbours, findings, timings)]
    apart = neighbours["verdict"].tolist().count("apart")
    are = "is" if apart == 1 else "are"
    title = f"{apart or 'None'} of {counted(len(neighbours), 'neighbour')} {are} told apart"
    return Section("standings", title if len(neighbours) else _SHORT, blocks, _SHORT)


def _blocks(
    standings: Columns, neighbours: Columns, findings: Findings, timings: Columns | None
) -> Iterator[Block]:
    if warnings := findings.warnings():
        yield Text(warnings, warning=True)
    if is_known(standings["elo"]).any():
        yield _chart(standings)
    if is_known(neighbours["lead"]).any():
        yield _lead_chart(neighbours)
    yield _table(standings, timings)
    if notes := [*_notes(standings, findings)]:
        yield Text(notes)


def _of_neighbours(verdicts: Columns) -> Columns:
    """Return the verdicts on each bot and the next: the first of those that begin with it."""
    return verdicts.where(is_first(verdicts["bot"]))


def _table(standings: Columns, timings: Columns | None) -> Table:
    """Return the table of standings; a row opens to the bots significantly above and below it."""
    columns = [*STANDINGS.shown]
    group = next(column for column in columns if column.name == "group")
    columns.remove(group)
    columns.insert(_AFTER_ELO, group)
    if timings is not None:
        columns += [column for column in TIMINGS.shown if column.name in _TIMES]
        found = match_rows([standings["bot"]], [timings["bot"]])
        times = {name: np.append(timings[name], np.nan)[found] for name in _TIMES}
        standings = standings.put(**times)
    order = standings.rows(["rank", "bot", "group"])
    more = [_describe_place(order, place) for place in range(len(order))]
    table = frame_table(STANDINGS, "Standings", standings, columns)
    return replace(table, more=more[: len(table.rows)], few=_FEW)


def _describe_place(order: Sequence[_Place], place: int) -> str:
    """Return lines that name the bots significantly above a bot, below it, and neither.

    `order` has rank, label and letters of each bot, the strongest first.

    >>> order = [(1, "a", "a"), (2, "b", "ab"), (3, "c", "b"), (4, "d", None)]
    >>> print(_describe_place(order, 0))
    a is surely above c. Not apart from b.
    """
    _, bot, letters = order[place]
    if letters is None:
        return f"{bot} is not compared: it has no rating, or had too many faults."
    near: list[_Place] = []
    above: list[_Place] = []
    below: list[_Place] = []
    for other, one in enumerate(order):
        if other != place and one[2] is not None:
            is_near = share_letter(letters, one[2])
            (near if is_near else above if other < place else below).append(one)
    said = [
        f"surely {where} {_name_bots(bots)}"
        for where, bots in (("above", below), ("below", above))
        if bots
    ]
    if not said:
        return f"{bot} is apart from no bot."
    rest = f" Not apart from {_name_bots(near)}." if near else ""
    return f"{bot} is {', and '.join(said)}.{rest}"


def _name_bots(bots: Sequence[_Place]) -> str:
    """Return the names of some bots, or of many bots their number and ranks.

    >>> _name_bots([(rank, "x", "a") for rank in (2, 3, 4, 6, 8, 9, 10)])
    '7 bots (ranks 2 to 4, 6, 8 to 10)'
    """
    if len(bots) <= _NAMED:
        return ", ".join(bot for _, bot, _ in bots)
    ranks = []
    for _, run in groupby(enumerate(rank for rank, _, _ in bots), lambda one: one[1] - one[0]):
        first, *rest = (rank for _, rank in run)
        ranks.append(f"{first} to {rest[-1]}" if rest else f"{first}")
    return f"{len(bots):,} bots (ranks {', '.join(ranks)})"


def _notes(standings: Columns, findings: Findings) -> Iterator[str]:
    is_rated, bots = is_known(standings["elo"]), standings["bot"]
    if unrated := bots[~is_rated].tolist():
        yield f"Not rated, because no game of theirs was finished: {', '.join(unrated)}."
    if out := bots[is_rated & ~is_known(standings["group"])].tolist():
        yield (
            f"The Elo counts the games that were finished by {', '.join(out)}. The headline, the "
            "leads, the groups and who is the stronger one leave them out, because of the faults."
        )
    for one in findings.unbounded:
        yield f"{one.describe()}."
    if findings.spread:
        said = describe_spread(findings.spread, counts=findings.spread_counts)
        yield from map(as_sentence, said)
    if findings.cycle:
        beats = " beats ".join(findings.cycle)
        yield f"A cycle: {beats}."


def _place(value: float, low: float | None, high: float | None) -> dict[str, Any]:
    """Return the fields of a number in a chart."""
    return {"value": value, "low": low, "high": high, "interval": write_ends(low, high)}


def _chart(standings: Columns) -> Chart:
    shown = standings.where(is_known(standings["elo"])).where(slice(MOST_BOTS))
    rows: list[dict[str, Any]] = []
    for bot, elo, low, high, group in shown.rows(_CHARTED):
        row = {"bot": bot, **_place(elo, low, high), "elo": elo, "group": group or "none"}
        rows.append(row)
    best, window = rows[0], find_window(rows)
    scale = window.scale | {"padding": _ROOM[0]}
    x = quantity("value", "Elo with its 95 % interval", scale=scale, axis=ELO_AXIS)
    spec = chart(
        rows,
        height=STEP * len(rows),
        layer=[*interval_layers(x), *window.layers(x), _at_the_end("group")],
        encoding={
            "y": row_of_bots([row["bot"] for row in rows]),
            "tooltip": [
                *tips(("bot", "Bot")),
                *tips(("elo", "Elo"), form=".0f"),
                *tips(("interval", "95 % interval"), ("group", "Group")),
            ],
        },
    )
    description = (
        f"Elo ratings with their 95 % intervals, the strongest bot first: {best['bot']} has "
        f"{write_cell(best['elo'], 'elo')} ({best['interval']}). Bots that share a letter, on "
        f"the right, are not apart; whether intervals overlap does not say that."
        f"{window.describe('bot')}"
    )
    return Chart("ratings", "Elo with its interval", description, spec, "standings")


def _lead_chart(neighbours: Columns) -> Chart:
    """Return the chart of each bot's lead over the next one and its chance to be stronger.

    It has the same rows as the chart of ratings; the last one is empty.
    """
    shown = neighbours.where(slice(MOST_BOTS - 1))
    labels = [*shown["bot"], shown["opponent"][-1]]
    rows: list[dict[str, Any]] = []
    known = shown.where(is_known(shown["lead"]))
    for bot, below, lead, low, high, chance, verdict in known.rows(_LEADS):
        row = {"bot": bot, "next": below, **_place(lead, low, high), "lead": lead}
        rows.append(row | {"chance": write_cell(chance, "chance"), "verdict": verdict})
    window = find_window(rows)
    scale = window.scale | {"padding": _ROOM[1]}
    x = quantity("value", "Elo points ahead of the next bot", scale=scale, axis=ELO_AXIS)
    place = {"y": row_of_bots(labels) | {"scale": {"domain": labels}}, "tooltip": _LEAD_TIPS}
    layers = [*interval_layers(x), *window.layers(x), _at_the_end("chance")]
    seen = [name for name in _SHAPES if any(row["verdict"] == name for row in rows)]
    shapes = {"domain": seen, "range": [_SHAPES[name] for name in seen]}
    layers[1]["encoding"]["shape"] = nominal("verdict", title=None, scale=shapes, legend=_LEGEND)
    for layer in layers:
        layer["encoding"] |= place
    spec = chart(rows, height=STEP * len(labels), layer=[zero_line(), *layers])
    apart = sum(row["verdict"] == "apart" for row in rows)
    description = (
        "By how many Elo points each bot leads the next one, with an interval: in 95 of 100 runs "
        "all intervals of leads hold at once. On the right, how likely it is the stronger one. "
        f"Apart: {apart} of {len(rows)}.{window.describe('bot')}"
    )
    return Chart("leads", "The lead over the next bot", description, spec, "verdicts")


def _at_the_end(field: str) -> Spec:
    """Return the layer of a text at the right end of each row."""
    return {
        "mark": {"type": "text", "align": "right", "dx": -4},
        "encoding": {"x": {"value": "width"}, "text": nominal(field)},
    }


_LEAD_TIPS = [
    *tips(("bot", "Bot"), ("next", "Next bot")),
    *tips(("lead", "Elo points"), form=".0f"),
    *tips(("interval", "95 % interval"), ("chance", "Probability to be stronger")),
    *tips(("verdict", "Verdict")),
]
