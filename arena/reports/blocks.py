"""Describe a report as data (text, tables, charts, replays), which other modules write."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from arena.statistics.wording import join_ends, write_chance
from arena.tables.table_columns import Column, Kind

Cell: TypeAlias = "str | int | float | None"


@dataclass(frozen=True)
class Table:
    """Rows that can be sorted, filtered and copied as CSV; `name` is unique in a report.

    A row has a cell for each column. `links` has, by number of a row, the target of its name: a
    replay's id, a fragment of the page, or the address of another page, which begins with "./".
    `more` has, by number of a row, the text that the page shows when the row is opened.
    """

    name: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    links: Sequence[str | None] = ()
    note: str = ""
    """A remark on the rows, such as how many there are in all."""
    folded: bool = False
    """Whether it is folded at first, because a chart shows the same."""
    more: Sequence[str] = ()
    few: Collection[str] = ()
    """Names of the columns that a narrow screen shows; all of them if it is empty."""

    @property
    def key(self) -> int:
        """The number of the column that names a row: the first one with text."""
        return next((n for n, column in enumerate(self.columns) if column.kind == "text"), 0)


@dataclass(frozen=True)
class Chart:
    """A chart as a Vega-Lite specification, with its text alternative.

    `table` is the name of the table with the same numbers, `hint` explains how to read the chart.

    The specification is plain data with the chart's rows in it; `altair.Chart.from_dict` takes it.
    (Building charts with Altair's classes took 0.5 s of imports and 55 ms a chart, in every run.)
    """

    name: str
    title: str
    description: str
    spec: dict[str, Any]
    table: str = ""
    hint: str = ""


@dataclass(frozen=True)
class Text:
    """Paragraphs; a `warning` is made prominent."""

    paragraphs: Sequence[str]
    warning: bool = False


@dataclass(frozen=True)
class Code:
    """Preformatted text: a config, a traceback, a command that can be copied."""

    title: str
    text: str
    folded: bool = True


@dataclass(frozen=True)
class Replay:
    """A game with its replay: `data` is what `arena.store.timeline` makes of it."""

    id: str
    title: str
    reason: str
    data: dict[str, Any]


@dataclass(frozen=True)
class Replays:
    """Games to look at, each one click from its replay."""

    games: Sequence[Replay]


@dataclass(frozen=True)
class Profiles:
    """Profiles of bots, of which the reader chooses one or two; `data` is for the page's script.

    `table` has their key figures, for readers without scripts.
    """

    table: Table
    data: dict[str, Any]


Block: TypeAlias = Text | Table | Chart | Code | Replays | Profiles


@dataclass(frozen=True)
class Section:
    """A part of a report with a heading; `name` is its fragment."""

    name: str
    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Report:
    """A whole report, of one run or of several; `home` is the page that links to it, if any."""

    title: str
    summary: Sequence[str]
    sections: Sequence[Section]
    home: str = ""

    @property
    def blocks(self) -> Iterator[Block]:
        """Every block of every section, in order."""
        return (block for section in self.sections for block in section.blocks)

    def charts(self) -> Iterator[Chart]:
        """Yield every chart, in order."""
        return (block for block in self.blocks if isinstance(block, Chart))

    def tables(self) -> Iterator[Table]:
        """Yield every table, in order, including that of the profiles."""
        tables = (block for block in self.blocks if isinstance(block, Table | Profiles))
        return (block if isinstance(block, Table) else block.table for block in tables)

    def replays(self) -> Iterator[Replay]:
        """Yield every game with its replay, in order."""
        return (game for one in self.blocks if isinstance(one, Replays) for game in one.games)


_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def write_cell(value: Cell, kind: Kind) -> str:
    """Return a cell formatted for readers.

    >>> [write_cell(0.5134, "share"), write_cell(12.34, "change"), write_cell(0.00123, "seconds")]
    ['51.3 %', '+12.3', '1.23 ms']
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if kind == "share":
        return f"{100 * value:.1f} %"
    if kind == "points":
        return f"{100 * value:+.1f}"
    if kind == "chance":
        return write_chance(value)
    if kind == "change":
        return f"{value:+.1f}"
    if kind == "elo":
        return f"{value:.0f}"
    if kind == "number":
        return f"{value:,.2f}"
    if kind == "seconds":
        size, unit = next((unit for unit in _UNITS if value >= unit[0]), _UNITS[-1])
        return f"{value / size:.3g} {unit}"
    return f"{value:,}"


def write_interval(low: Cell, high: Cell, kind: Kind) -> str:
    """Return an interval as text, or the only end that is known.

    >>> write_interval(0.513, 0.6, "share"), write_interval(2040.4, None, "elo")
    ('51.3..60.0 %', 'at least 2040')
    """
    return join_ends(write_cell(low, kind), write_cell(high, kind))
