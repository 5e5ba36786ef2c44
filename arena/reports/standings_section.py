"""Make the sections with standings and leads, key figures of each bot, and every two that met."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from arena.errors import counted
from arena.reports.blocks import (
    MOST_BOTS,
    Block,
    Section,
    Table,
    Text,
    cut_table,
    frame_table,
    write_cell,
    write_interval,
)
from arena.reports.charts import Cell, Map, Mark, Row, Rows
from arena.statistics.intervals import LEVEL
from arena.statistics.number_texts import as_sentence, write_ends, write_whole
from arena.store import column_titles
from arena.store.column_titles import HEAD_TO_HEAD, STANDINGS, TIMINGS, Column
from arena.store.columns import Columns, is_first, is_known, match_rows, place_in
from arena.tables.findings import Findings, describe_spread
from arena.tables.losses import MISTAKES, JudgedTables, choose_opponent, count_mistakes, make_losses

_TIMES = ("cpu_mean", "cpu_p99")
_AFTER_ELO = 5  # the columns before: rank, bot, Elo and its ends
_SIGNS: Final = {
    "apart": "apart, which is sure",
    "leans": "leans, likely at 0.9 or more",
    "open": "open",
}
_SHORT = "How surely"
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
        ends = "The 95 % interval, with the pair as unit."
        columns += [
            Column(f"loss_{end}", f"{title}, {end}", "share", ends) for end in ("low", "high")
        ]
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
    """Return the chart of leads, and the standings as a table."""
    neighbours = verdicts.where(is_first(verdicts["bot"]))  # each bot and the next one
    blocks: list[Block] = [_table(standings, timings)]
    if is_known(neighbours["lead"]).any():
        blocks.insert(0, _lead_chart(neighbours))
    if warnings := findings.warnings():
        blocks.insert(0, Text(warnings, warning=True))
    if notes := [*_notes(standings, findings)]:
        blocks.append(Text(notes))
    apart = neighbours["verdict"].tolist().count("apart")
    are = "is" if apart == 1 else "are"
    title = f"{apart or 'None'} of {counted(len(neighbours), 'neighbour')} {are} told apart"
    if len(neighbours) == 1:
        title = f"The two are {'' if apart else 'not '}told apart"
    return Section("standings", title if len(neighbours) else _SHORT, blocks, _SHORT)


def _table(standings: Columns, timings: Columns | None) -> Table:
    """Return the table of standings."""
    columns = [*STANDINGS.shown]
    group = next(column for column in columns if column.name == "group")
    columns.remove(group)
    columns.insert(_AFTER_ELO, group)
    if timings is not None:
        columns += [column for column in TIMINGS.shown if column.name in _TIMES]
        standings = standings.put(**_find(standings, timings, {name: name for name in _TIMES}))
    return frame_table(STANDINGS, "Standings", standings, columns)


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


def _lead_chart(neighbours: Columns) -> Rows:
    """Return the chart of each bot's lead over the next one and its chance to be stronger."""
    known = neighbours.where(slice(MOST_BOTS - 1)).where(
        is_known(neighbours["lead"][: MOST_BOTS - 1])
    )
    rows = [_lead_row(row) for row in known.dicts()]
    verdicts = known["verdict"].tolist()
    return Rows(
        name="leads",
        title="The lead over the next bot",
        meaning="By how many Elo points each bot leads the next one, with an interval: in 95 of "
        "100 runs all intervals of leads hold at once. On the right, how likely it is the stronger "
        f"one. Apart: {verdicts.count('apart')} of {len(rows)}. An arrow stands for a lead beyond "
        "the axis.",
        unit="Elo points ahead of the next bot; the probability that it is the stronger one",
        signs={word: said for word, said in _SIGNS.items() if word in verdicts},
        table="verdicts",
        size="full",
        rows=rows,
        bounds=(0.0,),
        is_signed=True,
    )


def _lead_row(row: dict[str, Any]) -> Row:
    bot, other, lead, low, high = (
        row[name] for name in ("bot", "opponent", "lead", "lead_low", "lead_high")
    )
    chance, word = write_cell(row["likely"], "chance"), row["verdict"]
    said = f"{lead:+.0f} Elo ahead of {other}, 95 %: {write_ends(low, high)}; {chance}, {word}"
    return Row(bot, [Mark(lead, low, high, word)], said, value=chance, strong=word == "apart")


def pairings_section(
    table: Columns, verdicts: Columns, labels: Sequence[str], findings: Findings
) -> Section:
    """Return the scores of all pairings as a map and a table, and the verdicts.

    `labels` are those of the bots in the order of the standings; a table has each pairing once,
    with the bot first that is ranked higher.
    """
    title = short = "Against whom"
    if findings.misfits:
        title = findings.describe_misfits()
    elif findings.tested:
        title = "No pairing differs significantly from what Elo predicts"
    return Section("pairings", title, [*_list_pairings(table, verdicts, labels, findings)], short)


def _list_pairings(
    table: Columns, verdicts: Columns, labels: Sequence[str], findings: Findings
) -> Iterator[Block]:
    table = table.ordered(*(place_in(table[name], labels) for name in ("bot", "opponent")))
    bot, opponent = (place_in(table[name], labels) for name in ("bot", "opponent"))
    shown = table.where((bot < MOST_BOTS) & (opponent < MOST_BOTS))
    yield _map(shown, verdicts, labels[:MOST_BOTS])
    if len(labels) > MOST_BOTS:
        yield Text([f"The map has the first {MOST_BOTS} bots of {len(labels):,}."])
    if findings.misfits:
        marked = "In the map a triangle points up where the bot of the row scored more than that"
        yield Text([f"{findings.describe_misfits()}. {marked}, and down where it scored less."])
    once = with_losses(table).where(bot < opponent)
    yield frame_table(HEAD_TO_HEAD, "Every two bots that met", once, [*_columns()])
    if is_known(verdicts["likely"]).any():
        yield frame_table(column_titles.VERDICTS, "Who is the stronger one", verdicts, folded=True)


def with_losses(table: Columns) -> Columns:
    """Return head_to_head.csv with the losses of each bot added: the wins of its opponent."""
    two = table["bot"], table["opponent"]
    turned = match_rows(two[::-1], two)
    wins = {f"{win_type}_wins": name for win_type, name in column_titles.LOSS_COLUMNS.items()}
    return table.put(**{name: table[won][turned] for won, name in wins.items()})


def _columns() -> Iterator[Column]:
    """Yield the columns of a pairing, with the wins of both bots."""
    both = {column.name: column for column in column_titles.WIN_TYPE_TABLE.shown}
    losses = [both[name] for name in column_titles.LOSS_COLUMNS.values()]
    for column in HEAD_TO_HEAD.shown:
        if column.name == "expected":
            yield from losses
        yield both[column.name] if column.name.endswith("_wins") else column


def _map(table: Columns, verdicts: Columns, labels: Sequence[str]) -> Map:
    place = {label: number for number, label in enumerate(labels)}
    known = verdicts.where(is_known(verdicts["likely"]))
    chances = {row[:2]: row[2:] for row in known.rows(["bot", "opponent", "likely", "verdict"])}
    cells = [_cell(row, place, chances) for row in table.dicts()]
    return Map(
        name="heat-map",
        title="Scores against each opponent",
        meaning=f"The score of each of {len(labels)} bots (rows) against each other one (columns), "
        "in per cent and in the order of the standings: the more, the darker. A column has the "
        "number of its bot's row. Point at a cell for its interval, and for how likely the bot of "
        "the row is the stronger one.",
        unit="score of the bot of the row in per cent; a column has the number of its row",
        table="head_to_head",
        size="full",
        labels=labels,
        cells=cells,
    )


def _cell(
    row: dict[str, Any], place: dict[str, int], chances: dict[tuple[Any, ...], tuple[Any, ...]]
) -> Cell:
    two = row["bot"], row["opponent"]
    ends = write_interval(row["score_low"], row["score_high"], "share")
    said = [f"{write_cell(row['score'], 'share')} ({ends})"]
    city = "" if row["city_wins"] is None else f", {row['city_wins']:,} won by City"
    said.append(f"{counted(row['games'], 'game')}{city}")
    for key, is_turned in ((two, False), (two[::-1], True)):
        if key in chances:
            likely, word = chances[key]
            chance = write_cell(1 - likely if is_turned else likely, "chance")
            said.append(f"stronger with {chance}, {word}")
    mark = ""
    if row["residual_q"] is not None and row["residual_q"] < LEVEL:
        mark = "more" if row["residual"] > 0 else "less"
        said.append(f"{100 * abs(row['residual']):.1f} percentage points {mark} than Elo predicts")
    text = write_whole(row["score"])
    return Cell(place[two[0]], place[two[1]], row["score"], text, "; ".join(said), mark)
