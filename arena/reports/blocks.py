"""Describe a report as data (text, tables, charts, replays), and write it as Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape as escape_html
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from arena.errors import escape
from arena.replays.html_page import GENERATOR
from arena.reports.charts import Chart, Lines, Rows
from arena.reports.first_screen import Opening
from arena.statistics.number_texts import join_ends, signed, write_chance
from arena.store.column_titles import Column, Kind, TableColumns
from arena.store.columns import Columns, is_known
from arena.store.folder import home_of
from arena.tables.standings_text import Names, names_on_page

if TYPE_CHECKING:
    import pandas as pd

Cell: TypeAlias = "str | int | float | None"


@dataclass(frozen=True)
class Table:
    """Rows that can be sorted, filtered and copied as CSV; `name` is unique in a report.

    A row has a cell for each column. `links` has, by number of a row, the target of its name: a
    replay's id, a fragment of the page, or the address of another page, which begins with "./".
    """

    name: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    links: Sequence[str | None] = ()
    note: str = ""
    """A remark on the rows, such as how many there are in all."""
    folded: bool = False
    """Whether the page has it behind "All tables"; a file has all of its rows."""
    apart: bool = False
    """Whether no page has it, but a file and the Markdown."""

    @property
    def key(self) -> int:
        """The number of the column that names a row: the first one with text."""
        return next((n for n, column in enumerate(self.columns) if column.kind == "text"), 0)


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
    """A game with its replay: `data` is what `arena.replays.timeline` makes of it."""

    id: str
    title: str
    reason: str
    data: dict[str, Any]
    line: Lines | None = None


@dataclass(frozen=True)
class Replays:
    """Games to look at, each one click from its replay."""

    games: Sequence[Replay]


Block: TypeAlias = Text | Table | Chart | Code | Replays


@dataclass(frozen=True)
class Section:
    """A part of a report with a heading; `name` is its fragment.

    `short` stands for a heading that is a sentence, where all sections are listed. A `folded` one
    opens by a click.
    """

    name: str
    title: str
    blocks: Sequence[Block]
    short: str = ""
    folded: bool = False


@dataclass(frozen=True)
class Report:
    """A whole report, of one run or of several; `home` is the page that links to it, if any.

    With an `opening` the page begins with it, and the first section with the summary. `labels` are
    those of the bots, which have short names in charts and long tables.
    """

    title: str
    summary: Sequence[str]
    sections: Sequence[Section]
    home: str = ""
    opening: Opening | None = None
    labels: Sequence[str] = ()
    extent: str = ""
    """What the report is of, by default its title; below it the page's heading is the first
    paragraph of the summary."""
    ending: str = ""
    """The last line."""

    @property
    def names(self) -> Names:
        """The short names of the bots."""
        return names_on_page(self.labels)

    @property
    def blocks(self) -> Iterator[Block]:
        """Every block of every section, in order."""
        return (block for section in self.sections for block in section.blocks)

    def charts(self) -> Iterator[Chart]:
        """Yield every chart, in order."""
        return (block for block in self.blocks if isinstance(block, Chart))

    def tables(self) -> Iterator[Table]:
        """Yield every table, in order."""
        return (block for block in self.blocks if isinstance(block, Table))

    def replays(self) -> Iterator[Replay]:
        """Yield every game with its replay, in order."""
        return (game for one in self.blocks if isinstance(one, Replays) for game in one.games)


_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def _write_seconds(value: float) -> str:
    size, unit = next((unit for unit in _UNITS if value >= unit[0]), _UNITS[-1])
    return f"{value / size:.3g} {unit}"


_WRITERS: Final[Mapping[Kind, Callable[[float], str]]] = {
    "share": lambda share: f"{100 * share:.1f} %",
    "points": lambda share: signed(100 * share, "+.1f"),
    "change": lambda value: signed(value, "+.1f"),
    "chance": write_chance,
    "p": lambda p: "<0.001" if p < 0.001 else f"{p:.3f}",
    "elo": "{:.0f}".format,
    "number": "{:,.2f}".format,
    "seconds": _write_seconds,
}
"""How a number of each kind is written; others are whole."""


def write_cell(value: Cell, kind: Kind) -> str:
    """Return a cell formatted for readers.

    >>> [write_cell(0.5134, "share"), write_cell(12.34, "change"), write_cell(0.00123, "seconds")]
    ['51.3 %', '+12.3', '1.23 ms']
    >>> [write_cell(value, "p") for value in (0.37612, 0.00004)]
    ['0.376', '<0.001']
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return _WRITERS.get(kind, "{:,}".format)(value)


def write_interval(low: Cell, high: Cell, kind: Kind) -> str:
    """Return an interval as text, or the only end that is known.

    >>> write_interval(0.513, 0.6, "share"), write_interval(2040.4, None, "elo")
    ('51.3..60.0 %', 'at least 2040')
    """
    return join_ends(write_cell(low, kind), write_cell(high, kind))


MOST_WRITTEN = 50
"""The most rows of a table; the page has all of them. Only the glossary is never cut."""

_MARKED = re.compile(r"[\\`*\[\]<|~$#]|(?<![^\W_])_|_(?![^\W_])|&(?=[#\w])")
_TAKEN_FOR_LINKS = re.compile(r"(?<!\w)[@#](?=\w)|:(?=//|[\w+-]+:)|(?<!\w)www(?=\.)", re.I)
_BEGINS_A_BLOCK = re.compile(r"([-+=>]|\d+[.)](?=\s|$))")
_NOTHING = "<!-- -->"  # invisible; separates what GitHub would read as a link or a name


def to_markdown(report: Report) -> str:
    """Return a report as GitHub-flavoured Markdown.

    A number and the two ends of its interval become one column. Markdown and HTML in names are
    escaped.
    """
    lines = [f"<!-- {GENERATOR} -->", f"# {to_text(report.title)}", ""]
    for text in report.summary:
        lines += [to_paragraph(text), ""]
    for section in report.sections:
        blocks = [*chain.from_iterable(_lines(block) for block in section.blocks)]
        if blocks:
            lines += [f"## {to_text(section.title)}", "", *blocks]
    if report.ending:
        lines += [to_paragraph(report.ending)]
    return "\n".join(lines).rstrip("\n") + "\n"


def to_text(text: str) -> str:
    r"""Return a text escaped, as one line of Markdown.

    >>> print(to_text("a|b <script> *c* city_hunter"))
    a\|b \<script> \*c\* city_hunter
    """
    marked = _MARKED.sub(r"\\\g<0>", escape(" ".join(text.split())))
    return _TAKEN_FOR_LINKS.sub(rf"\g<0>{_NOTHING}", marked)


def to_paragraph(text: str) -> str:
    r"""Return a text escaped so that it is a paragraph, not a list, a heading or a quotation.

    >>> print(to_paragraph("1. a list"), to_paragraph("> a quotation"))
    1\. a list \> a quotation
    """
    line = to_text(text)
    found = _BEGINS_A_BLOCK.match(line)
    return f"{line[: found.end() - 1]}\\{line[found.end() - 1 :]}" if found else line


def read_sentence(markdown: str) -> str:
    r"""Return the first paragraph of a report that `to_markdown` has written, as plain text.

    >>> read_sentence(f"<!-- x -->\n# Bots\n\n{to_paragraph('a_b <c> is first.')}\n\nMore.\n")
    'a_b <c> is first.'
    """
    _, _, rest = markdown.partition("\n\n")
    return re.sub(r"\\(.)", r"\1", rest.partition("\n")[0].replace(_NOTHING, ""))


def _lines(block: Block) -> Iterator[str]:
    """Yield the lines of a block and an empty line; of a chart only if no table has its numbers."""
    if isinstance(block, Text):
        for text in block.paragraphs:
            yield f"> **Note:** {to_text(text)}" if block.warning else to_paragraph(text)
            yield ""
    elif isinstance(block, Table):
        yield from _table_lines(block)
    elif isinstance(block, Code):
        yield from _code_lines(block)
    elif isinstance(block, Replays):
        yield from (f"- {to_text(game.title)}: {to_text(game.reason)}" for game in block.games)
        yield ""
    elif isinstance(block, Rows) and not block.table:
        for row in block.rows:
            note = f" ({row.note})" if row.note else ""
            yield f"- {to_text(f'{row.name}: {row.said}{note}')}"
        yield ""


def _code_lines(block: Code) -> Iterator[str]:
    """Yield a text unchanged, between fences longer than any in it."""
    lines = [escape(line) for line in block.text.splitlines()]
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", block.text))])
    title = f"**{to_text(block.title)}**"
    if block.folded:
        title = f"<details><summary>{escape_html(escape(block.title))}</summary>"
    yield from (title, "", fence, *lines, fence, "")
    if block.folded:
        yield from ("</details>", "")


def _table_lines(table: Table) -> Iterator[str]:
    """Yield a table: its caption, its first rows, and the number of rows."""
    if not table.rows:
        return
    columns = [*_columns(table)]
    heads = [table.columns[own[0]] for own in columns]
    yield from (f"**{to_text(table.caption)}**", "")
    yield _row(to_text(head.title) for head in heads)
    yield _row("---" if head.kind in ("text", "code") else "---:" for head in heads)
    most = len(table.rows) if table.name == "glossary" else MOST_WRITTEN
    for number, row in enumerate(table.rows[:most]):
        cells = [_cell(table.columns, row, own) for own in columns]
        link = table.links[number] if number < len(table.links) else None
        if link and link.startswith("./"):  # a page that was written beside this file
            cells[0] = f"[{cells[0]}]({link})"
        yield _row(cells)
    yield ""
    if len(table.rows) > most:
        yield from (f"The first {MOST_WRITTEN:,} of {len(table.rows):,} rows.", "")
    if table.note:
        yield from (to_paragraph(table.note), "")


def _columns(table: Table) -> Iterator[tuple[int, ...]]:
    """Yield groups of columns that become one: a number with the ends of its interval.

    Columns without a value are left out.
    """
    numbers = {column.name: number for number, column in enumerate(table.columns)}
    for name, number in numbers.items():
        ends = [numbers.get(f"{name}_{end}") for end in ("low", "high")]
        of = name.removesuffix("_low").removesuffix("_high")
        if of != name and {f"{of}_low", f"{of}_high", of} <= {*numbers}:
            continue
        if all(row[number] is None or row[number] == "" for row in table.rows):
            continue
        yield (number, *(end for end in ends if end is not None and None not in ends))


def _cell(columns: Sequence[Column], row: Sequence[Cell], own: Sequence[int]) -> str:
    """Return a cell, with its interval in brackets."""
    value, low, high = (*(row[number] for number in own), None, None)[:3]
    kind = columns[own[0]].kind
    text = write_cell(value, kind)
    if kind == "code" and text and not set(text) & set("`|\\"):
        return f"`{escape(text)}`"
    is_known = low is not None or high is not None
    ends = write_interval(low, high, kind).removesuffix(" %")  # the number has the unit
    return to_text(f"{text} ({ends})" if is_known else text)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


MOST_BOTS = 40
"""The most bots in a chart, the first of the standings: more rows would be illegible."""

ALL = "all bots "
"""The name of all bots together in tables; no label ends with a space."""

MOST_ROWS, MOST_FOLDED = 100, 50
"""The most rows of a table, open or folded; the file has all of them."""

_SELDOM = {"draws", "forfeit_wins", "forfeits"}


def with_all(table: Columns) -> Columns:
    """Return a table in which the rows of all bots together have their name."""
    import numpy as np

    return table.put(bot=np.where(is_known(table["bot"]), table["bot"], ALL))


def frame_table(
    table: TableColumns,
    caption: str,
    frame: Columns | pd.DataFrame,
    columns: Sequence[Column] | None = None,
    *,
    folded: bool = False,
) -> Table:
    """Return a table of these rows, named as its file; `columns` are the columns shown.

    Rows beyond the limit are only in the file, as are columns of draws and forfeits where there
    were none. No page has a folded table whose file is a detail.
    """
    whole = Columns.of(frame)
    shown = [
        column
        for column in columns or table.shown
        if column.name not in _SELDOM or whole[column.name].any()
    ]
    most = MOST_FOLDED if folded else MOST_ROWS
    rows = whole.where(slice(most)).rows([column.name for column in shown])
    name, note = table.file.removesuffix(".csv"), _note_of(len(whole), table.file, most)
    is_detail = home_of(Path(), table.file) != Path(table.file)
    return Table(name, caption, shown, rows, (), note, folded, folded and is_detail)


def cut_table(
    name: str, caption: str, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], file: str
) -> Table:
    """Return a table of the first rows; if there are more, a note names the file with all."""
    return Table(name, caption, columns, rows[:MOST_ROWS], note=_note_of(len(rows), file))


def _note_of(rows: int, file: str, most: int = MOST_ROWS) -> str:
    """Return the note below a table that has more rows than a page shows."""
    if rows <= most:
        return ""
    where = home_of(Path(), file).as_posix()
    return f"The first {most} of {rows:,} rows; {where} has all of them."
