"""Write a report as Markdown for a pull request on GitHub, without charts and replays."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape as escape_html
from itertools import chain

from arena.errors import escape
from arena.reports.blocks import (
    Block,
    Cell,
    Chart,
    Code,
    Profiles,
    Replays,
    Report,
    Table,
    Text,
    write_cell,
    write_interval,
)
from arena.store.html_page import GENERATOR
from arena.tables.table_columns import Column

MOST_ROWS = 50
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


def _lines(block: Block) -> Iterator[str]:
    """Yield the lines of a block and an empty line; nothing for a chart."""
    if isinstance(block, Text):
        for text in block.paragraphs:
            yield f"> **Note:** {to_text(text)}" if block.warning else to_paragraph(text)
            yield ""
    elif isinstance(block, Table):
        yield from _table_lines(block)
    elif isinstance(block, Profiles):
        yield from _table_lines(block.table)
    elif isinstance(block, Code):
        yield from _code_lines(block)
    elif isinstance(block, Replays):
        yield from (f"- {to_text(game.title)}: {to_text(game.reason)}" for game in block.games)
        yield ""
    else:
        assert isinstance(block, Chart)  # its numbers are in a table


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
    yield from (f"**{to_text(table.caption)}**", "")
    yield _row(to_text(table.columns[own[0]].title) for own in columns)
    yield _row(
        "---" if table.columns[own[0]].kind in ("text", "code") else "---:" for own in columns
    )
    most = len(table.rows) if table.name == "glossary" else MOST_ROWS
    for number, row in enumerate(table.rows[:most]):
        cells = [_cell(table.columns, row, own) for own in columns]
        link = table.links[number] if number < len(table.links) else None
        if link and link.startswith("./"):  # a page that was written beside this file
            cells[0] = f"[{cells[0]}]({link})"
        yield _row(cells)
    yield ""
    if len(table.rows) > most:
        yield from (f"The first {MOST_ROWS:,} of {len(table.rows):,} rows.", "")
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
