"""Format standings as a few lines for a terminal of 80 columns, and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from arena.errors import LABEL_WIDTH, pad
from arena.statistics.wording import (
    shorten,
    write_cells,
    write_ends,
)
from arena.tables.short_names import short_names

if TYPE_CHECKING:
    import pandas as pd

    from arena.store.columns import Columns


_RATING_WIDTH = 20
_GROUP_WIDTH = 5
_OTHERS = 62  # columns of a line beside the label


def format_standings(rows: Sequence[Mapping[str, Any]], room: int | None = None) -> Iterator[str]:
    """Yield the rows of standings as a table; wins of each type are shares of a bot's games.

    `points` includes the wins by tie-break; `forfeit` counts the games that a bot forfeited. Two
    bots share a letter of `group` unless they were told apart. The lines have at most `room`
    columns, and without it whole labels.
    """
    groups = ["group", *(shorten(row["group"] or "-", _GROUP_WIDTH) for row in rows)]
    for line, group in zip(format_rows(rows, room=room), groups, strict=True):
        yield f"{line} {group:>{_GROUP_WIDTH}}"


def format_rows(
    rows: Sequence[Mapping[str, Any]], unrated: str = "not rated", room: int | None = None
) -> Iterator[str]:
    """Yield the head and a line for each row of standings; `unrated` stands for no Elo.

    The lines have at most `room` columns, and without it whole labels. A dash stands for wins and
    losses whose win type is not known.
    """
    most = room and max(room - _OTHERS, LABEL_WIDTH)
    width, write_label = short_names((str(row["bot"]) for row in rows), most).column(LABEL_WIDTH)
    yield (
        f"{'rank':>4}  {pad('bot', width)} {'elo':>6} {'95 %':>13} {'score':>6}"
        f" {'city':>6} {'points':>6} {'forfeit':>7}"
    )
    for row in rows:
        rating = unrated
        if row["elo"] is not None:
            ends = write_ends(row["elo_low"], row["elo_high"])
            rating = f"{row['elo']:.0f} {ends:>13}" if ".." in ends else ends
        wins = f"{'-':>6} {'-':>6} {'-':>7}"
        if row["forfeits"] is not None:
            city = row["city_wins"] / row["games"]
            points = (row["points_wins"] + row["tiebreak_wins"]) / row["games"]
            wins = f"{city:>6.1%} {points:>6.1%} {row['forfeits']:>7}"
        label, score = write_label(row["bot"]), f"{row['score']:>6.1%}"
        yield f"{row['rank']:>4}  {label} {rating:>{_RATING_WIDTH}} {score} {wins}"


def write_row(
    row: Mapping[str, Any], name: str, form: str, prefix: str | None = None
) -> tuple[str, str]:
    """Return a number of a table's row and its interval as cells (`write_cells`).

    The names of its ends begin with `prefix`, by default that of the number.
    """
    prefix = f"{name}_" if prefix is None else prefix
    return write_cells(row[name], row[f"{prefix}low"], row[f"{prefix}high"], form)


def plain_rows(table: Columns | pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as data for JSON; an empty cell is None."""
    from arena.store.columns import Columns

    return Columns.of(table).dicts()
