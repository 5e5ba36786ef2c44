"""Format standings as lines for a terminal and as plain data, and shorten long labels of bots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from arena.errors import LABEL_WIDTH, columns, pad
from arena.statistics.letters import shorten
from arena.statistics.number_texts import write_cells, write_ends

if TYPE_CHECKING:
    import pandas as pd

    from arena.store.columns import Columns

WIDTH = 28
"""Small letters of a name beside a chart; half of a telephone's screen is left to the chart."""

_WIDE = "mwMW@%&\N{EM DASH}"
_DOTS = "\N{HORIZONTAL ELLIPSIS}"
_RATING_WIDTH = 20
_GROUP_WIDTH = 5
_OTHERS = 62  # columns of a line beside the label


def format_standings(rows: Sequence[Mapping[str, Any]], room: int | None = None) -> Iterator[str]:
    """Yield the rows of standings as a table; wins of each type are shares of a bot's games.

    `points` includes the wins by tie-break; `forfeit` counts the games that a bot forfeited. Two
    bots share a letter of `group` unless they were told apart. The lines have at most `room`
    columns, and without it whole labels. A dash stands for wins and losses whose win type is not
    known.
    """
    most = room and max(room - _OTHERS, LABEL_WIDTH)
    width, write_label = short_names((str(row["bot"]) for row in rows), most).column(LABEL_WIDTH)
    yield (
        f"{'rank':>4}  {pad('bot', width)} {'elo':>6} {'95 %':>13} {'score':>6}"
        f" {'city':>6} {'points':>6} {'forfeit':>7} {'group':>{_GROUP_WIDTH}}"
    )
    for row in rows:
        rating = "not rated"
        if row["elo"] is not None:
            ends = write_ends(row["elo_low"], row["elo_high"])
            rating = f"{row['elo']:.0f} {ends:>13}" if ".." in ends else ends
        wins = f"{'-':>6} {'-':>6} {'-':>7}"
        if row["forfeits"] is not None:
            city = row["city_wins"] / row["games"]
            points = (row["points_wins"] + row["tiebreak_wins"]) / row["games"]
            wins = f"{city:>6.1%} {points:>6.1%} {row['forfeits']:>7}"
        label, score = write_label(row["bot"]), f"{row['score']:>6.1%}"
        group = shorten(row["group"] or "-", _GROUP_WIDTH)
        yield (
            f"{row['rank']:>4}  {label} {rating:>{_RATING_WIDTH}} {score} {wins}"
            f" {group:>{_GROUP_WIDTH}}"
        )


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


class Names(NamedTuple):
    """The short name of each label."""

    short: Mapping[str, str]

    def of(self, label: object) -> str:
        """Return the name of a label, and any other text unchanged."""
        return self.short.get(str(label), str(label))

    def column(self, least: int) -> tuple[int, Callable[[object], str]]:
        """Return the width of a column of names, `least` or more, and what writes a cell of it."""
        width = max([least, *map(columns, self.short.values())])
        return width, lambda label: pad(self.of(label), width)


def short_names(
    labels: Iterable[str], width: int | None, measure: Callable[[str], int] = columns
) -> Names:
    """Return names of at most `width` columns, all different, which `measure` counts in a text.

    Labels that fit are kept, and all of them without a width. Those that would have the name of
    another one end with a number.

    >>> short_names(["ismcts(depth=3,seed=7)", "ismcts(depth=3,seed=8)", "greedy"], 16).short
    {'greedy': 'greedy', 'ismcts(depth=3,seed=7)': 'ismcts(d…seed=7)', ...}
    """
    texts = sorted({*labels})
    short, taken = {text: text for text in texts}, {*texts}
    for text in texts:
        if width is not None and measure(text) > width:
            short[text] = next(name for name in _cut(text, width, measure) if name not in taken)
            taken.add(short[text])
    return Names(short)


def names_on_page(labels: Iterable[str], width: int = WIDTH) -> Names:
    """Return names as wide on a page as so many small letters, where capitals are wider.

    >>> names_on_page(["w" * 30, "greedy"]).short
    {'greedy': 'greedy', 'wwwwwwwwwwwwwwwwwwwwwwwwwwwwww': 'wwwwwww…wwwwww'}
    """
    return short_names(labels, width, _measure_letters)


def _measure_letters(text: str) -> int:
    """Return about how many small letters are as wide as a text in a proportional font."""
    capitals, wide = sum(map(str.isupper, text)), sum(char in _WIDE for char in text)
    return columns(text) + wide + (capitals + 1) // 2


def _cut(text: str, width: int, measure: Callable[[str], int]) -> Iterator[str]:
    """Yield a text without a piece of the middle, then shorter ones that end with a number."""
    for number in count(1):
        end = f"({number})" if number > 1 else ""
        room = max(0, width - measure(_DOTS + end))
        tail = _take(measure, text[::-1], room // 2)[::-1]
        yield f"{_take(measure, text, room - measure(tail))}{_DOTS}{tail}{end}"


def _take(measure: Callable[[str], int], text: str, width: int) -> str:
    """Return the beginning of a text that is at most so wide."""
    kept = text[:width]
    while measure(kept) > width:
        kept = kept[:-1]
    return kept
