"""Format standings as a few lines for a terminal of 80 columns, and as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from arena.errors import LABEL_WIDTH, cut, pad
from arena.statistics.wording import (
    shorten,
    write_cells,
    write_ends,
)

if TYPE_CHECKING:
    import pandas as pd


_RATING_WIDTH = 20
_GROUP_WIDTH = 5
HEAD = (
    f"{'rank':>4}  {'bot':<{LABEL_WIDTH}} {'elo':>6} {'95 %':>13} {'score':>6}"
    f" {'city':>6} {'points':>6} {'forfeit':>7}"
)
"""The names of the columns of `format_rows`."""


def format_standings(standings: pd.DataFrame) -> Iterator[str]:
    """Yield the standings as a table; wins of each type are shares of a bot's games.

    `points` includes the wins by tie-break; `forfeit` counts the games that a bot forfeited. Two
    bots share a letter of `group` unless they were told apart.
    """
    yield f"{HEAD} {'group':>{_GROUP_WIDTH}}"
    for line, row in zip(format_rows(rows := plain_rows(standings)), rows, strict=True):
        yield f"{line} {shorten(row['group'] or '-', _GROUP_WIDTH):>{_GROUP_WIDTH}}"


def cut_apart(texts: Sequence[str], width: int) -> list[str]:
    """Return the texts cut to `width` characters, so that all of them still differ.

    A longer text loses its end, or, if the texts would then be equal, the rightmost piece without
    which all of them differ.

    >>> cut_apart(["copies=1-2-3", "copies=1-2-4", "rounds=2"], 10)
    ['copies...3', 'copies...4', 'rounds=2']
    """
    for end in range(width - 2):
        made = [
            text if len(text) <= width else f"{text[: width - 3 - end]}...{text[len(text) - end :]}"
            for text in texts
        ]
        if len({*made}) == len({*texts}):
            return made
    return [cut(f"{number}: {text}", width) for number, text in enumerate(texts, 1)]


def format_rows(rows: Iterable[Mapping[str, Any]], unrated: str = "not rated") -> Iterator[str]:
    """Yield a line for each row of standings; `unrated` stands for an Elo that is None.

    A dash stands for wins and losses whose win type is not known.
    """
    for row in rows:
        label = pad(cut(str(row["bot"])), LABEL_WIDTH)
        rating = unrated
        if row["elo"] is not None:
            ends = write_ends(row["elo_low"], row["elo_high"])
            rating = f"{row['elo']:.0f} {ends:>13}" if ".." in ends else ends
        wins = f"{'-':>6} {'-':>6} {'-':>7}"
        if row["forfeits"] is not None:
            city = row["city_wins"] / row["games"]
            points = (row["points_wins"] + row["tiebreak_wins"]) / row["games"]
            wins = f"{city:>6.1%} {points:>6.1%} {row['forfeits']:>7}"
        score = f"{row['score']:>6.1%}"
        yield f"{row['rank']:>4}  {label} {rating:>{_RATING_WIDTH}} {score} {wins}"


def write_row(
    row: Mapping[str, Any], name: str, form: str, prefix: str | None = None
) -> tuple[str, str]:
    """Return a number of a table's row and its interval as cells (`write_cells`).

    The names of its ends begin with `prefix`, by default that of the number.
    """
    prefix = f"{name}_" if prefix is None else prefix
    return write_cells(row[name], row[f"{prefix}low"], row[f"{prefix}high"], form)


def plain_rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as data for JSON; an empty cell is None."""
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in rows]
