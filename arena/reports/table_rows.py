"""Write the rows of a table: the first rows as HTML, the others as data for a script."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import starmap
from typing import Any

from markupsafe import Markup, escape

from arena.insight.table_columns import Column, Kind
from arena.reports.blocks import Cell, Table, write_cell

FIRST, FIRST_FOLDED = 50, 20
"""Rows that are written as HTML, of a table that is open and of one that is folded."""

_NAME, _CUT = 60, 24  # characters of the longest label, and of a name that is never cut


def write_rows(table: Table) -> Markup:
    """Return the first rows, built column by column: a template takes three times as long."""
    first = table.rows[: _count_first(table)]
    if not first:
        return Markup()
    columns = [
        _cells(column, values, _attributes(table, number))
        for number, (column, values) in enumerate(
            zip(table.columns, zip(*first, strict=True), strict=True)
        )
    ]
    cells = columns[table.key]
    for number, link in enumerate(table.links[: len(first)]):
        if link:
            tag, _, text = cells[number].partition(">")
            cells[number] = f'{tag}><a href="{escape(_address(link))}">{text}</a>'
    return Markup("\n".join([f"<tr>{''.join(cells)}" for cells in zip(*columns, strict=True)]))


def find_rest(table: Table) -> dict[str, Any]:
    """Return the remaining rows as their cells, and the data that belong to all rows.

    A cell is its text, or its text and exact number if the text is rounded. `links` are the targets
    of the names, and `more` the texts that rows open to.
    """
    kinds = [column.kind for column in table.columns]
    rest = table.rows[_count_first(table) :]
    found: dict[str, Any] = {
        "rows": [[*starmap(_datum, zip(row, kinds, strict=True))] for row in rest],
        "links": [link and _address(link) for link in table.links],
        "more": [*table.more],
    }
    return {name: values for name, values in found.items() if values}


def _count_first(table: Table) -> int:
    return FIRST_FOLDED if table.folded else FIRST


def _address(link: str) -> str:
    return link if link.startswith("./") else f"#{link}"


def _datum(value: Cell, kind: Kind) -> str | list[str | float]:
    text = write_cell(value, kind)
    return [text, value] if isinstance(value, int | float) and kind != "count" else text


def _attributes(table: Table, number: int) -> str:
    """Return the attributes of a column's cells that do not depend on their contents."""
    is_extra = table.few and table.columns[number].name not in table.few
    shape = " class=extra" if is_extra else ""
    return f' scope="row"{shape}' if number == table.key else shape


def _cells(column: Column, values: Sequence[Cell], attributes: str) -> list[str]:
    """Return the cells of a column; rounded ones have the exact number as an attribute."""
    texts = [_escaped(value, column.kind) for value in values]
    rows = [*zip(values, texts, strict=True)]
    if "scope" in attributes:
        return [f"<th{attributes}{_title(value)}>{text}" for value, text in rows]
    if column.kind == "count":
        return [f"<td{attributes}>{text}" for text in texts]
    if column.kind == "text":
        extra = " extra" if attributes else ""
        return [f'<td class="{_shape(value)}{extra}"{_title(value)}>{text}' for value, text in rows]
    if column.kind == "code":
        return [f"<td class=mono><code>{text}</code>" if text else "<td>" for text in texts]
    return [
        f'<td{attributes} data-v="{value}">{text}'
        if isinstance(value, int | float)
        else f"<td{attributes}>{text}"
        for value, text in rows
    ]


def _shape(value: Cell) -> str:
    """Return the class of a text: a name, on one line, or prose, which is wrapped."""
    return "prose" if isinstance(value, str) and len(value) > _NAME else "words"


def _title(value: Cell) -> str:
    """Return the attribute with the whole text of a name that may be cut."""
    is_long = isinstance(value, str) and _CUT < len(value) <= _NAME
    return f' title="{escape(value)}"' if is_long else ""


def _escaped(value: Cell, kind: Kind) -> str:
    """Return a cell as HTML; numbers, which are most cells, need no escaping but their sign."""
    text = write_cell(value, kind)
    return str(escape(text)) if isinstance(value, str) or kind == "chance" else text
