"""Make the section of a report with every two bots: scores, verdicts, and a map of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from arena.errors import counted
from arena.reports.blocks import (
    MOST_BOTS,
    Block,
    Section,
    Text,
    frame_table,
    write_cell,
    write_interval,
)
from arena.reports.drawing import Cell, Map
from arena.statistics.intervals import LEVEL
from arena.statistics.number_texts import write_whole
from arena.store.columns import Columns, is_known, match_rows, place_in
from arena.store.table_columns import HEAD_TO_HEAD, LOSS_COLUMNS, VERDICTS, WIN_TYPE_TABLE, Column
from arena.tables.findings import Findings

_FIELDS = {
    "bot": "bot",
    "opponent": "opponent",
    "score": "score",
    "games": "games",
    "city_wins": "city",
    "score_low": "low",
    "score_high": "high",
    "residual": "beyond",
    "residual_q": "q",
}


def pairings_section(
    table: Columns, verdicts: Columns, labels: Sequence[str], findings: Findings
) -> Section:
    """Return the scores of all pairings as a map and a table, and the verdicts.

    `labels` are those of the bots in the order of the standings; a table has each pairing once,
    with the bot first that is ranked higher.
    """
    title = short = "Against whom"
    if findings.tested:
        number = len(findings.misfits)
        are = "is" if number == 1 else "are"
        title = f"{number:,} of {counted(findings.tested, 'pairing')} {are} not as the Elo says"
        if not number:
            title = "No pairing is surely other than the Elo says"
    return Section("pairings", title, [*_blocks(table, verdicts, labels, findings)], short)


def _blocks(
    table: Columns, verdicts: Columns, labels: Sequence[str], findings: Findings
) -> Iterator[Block]:
    table = table.ordered(*(place_in(table[name], labels) for name in ("bot", "opponent")))
    bot, opponent = (place_in(table[name], labels) for name in ("bot", "opponent"))
    shown = table.where((bot < MOST_BOTS) & (opponent < MOST_BOTS))
    yield _map(shown, verdicts, labels[:MOST_BOTS])
    if len(labels) > MOST_BOTS:
        yield Text([f"The map has the first {MOST_BOTS} bots of {len(labels):,}."])
    if findings.misfits:
        count = f"{len(findings.misfits):,} of {counted(findings.tested, 'pairing')}"
        verbs = ("is", "It is") if len(findings.misfits) == 1 else ("are", "They are")
        yield Text(
            [
                f"{count} {verbs[0]} not as the Elo says. {verbs[1]} marked in the map: a triangle "
                "that points up where the bot of the row scored more, one that points down where "
                "it scored less."
            ]
        )
    once = with_losses(table).where(bot < opponent)
    yield frame_table(HEAD_TO_HEAD, "Every two bots that met", once, [*_columns()])
    if is_known(verdicts["likely"]).any():
        yield frame_table(VERDICTS, "Who is the stronger one", verdicts, folded=True)


def with_losses(table: Columns) -> Columns:
    """Return head_to_head.csv with the losses of each bot added: the wins of its opponent."""
    two = table["bot"], table["opponent"]
    turned = match_rows(two[::-1], two)
    wins = {f"{win_type}_wins": name for win_type, name in LOSS_COLUMNS.items()}
    return table.put(**{name: table[won][turned] for won, name in wins.items()})


def _columns() -> Iterator[Column]:
    """Yield the columns of a pairing, with the wins of both bots."""
    both = {column.name: column for column in WIN_TYPE_TABLE.shown}
    losses = [both[name] for name in LOSS_COLUMNS.values()]
    for column in HEAD_TO_HEAD.shown:
        if column.name == "expected":
            yield from losses
        yield both[column.name] if column.name.endswith("_wins") else column


def _map(table: Columns, verdicts: Columns, labels: Sequence[str]) -> Map:
    place = {label: number for number, label in enumerate(labels)}
    known = verdicts.where(is_known(verdicts["likely"]))
    chances = {row[:2]: row[2:] for row in known.rows(["bot", "opponent", "likely", "verdict"])}
    cells = [_cell(row, place, chances) for row in table.dicts(_FIELDS)]
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
    ends = write_interval(row["low"], row["high"], "share")
    said = [f"{write_cell(row['score'], 'share')} ({ends})"]
    city = "" if row["city"] is None else f", {row['city']:,} won by City"
    said.append(f"{counted(row['games'], 'game')}{city}")
    for key, is_turned in ((two, False), (two[::-1], True)):
        if key in chances:
            likely, word = chances[key]
            chance = write_cell(1 - likely if is_turned else likely, "chance")
            said.append(f"stronger with {chance}, {word}")
    mark = ""
    if row["q"] is not None and row["q"] < LEVEL:
        mark = "more" if row["beyond"] > 0 else "less"
        said.append(f"{100 * abs(row['beyond']):.1f} percentage points {mark} than the Elo says")
    text = write_whole(row["score"])
    return Cell(place[two[0]], place[two[1]], row["score"], text, "; ".join(said), mark)
