"""Make the page of all CSV files and their columns from the lists that write them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from arena.store import column_titles
from arena.store.column_titles import Column, TableColumns
from arena.tables import losses

NAME: Final = "csv-columns.md"
MODULES: Final = (column_titles, losses)

_INTRODUCTION = """\
# Columns of the CSV files

[Results](../results.md) says which file answers what. An empty cell is a number that is not known,
and `NAME_low` and `NAME_high` are the ends of a 95 % interval. Those of the Elo and of the leads in
`verdicts.csv` hold all at once, any other one by itself."""


def pages() -> dict[str, str]:
    """Return the page by its file name."""
    return {NAME: "\n\n".join([_INTRODUCTION, *map(_part, files()), ""])}


def listing(folder: str) -> str:
    """Return the line of the page `reference` for these files, with a link into a folder."""
    return f"- [Columns of the CSV files]({folder}{NAME}): every file, column by column.\n"


def files() -> list[TableColumns]:
    """Return the lists of columns that belong to a file."""
    found = [one for module in MODULES for one in vars(module).values()]
    return [one for one in found if isinstance(one, TableColumns) and one.file]


def _part(of: TableColumns) -> str:
    rows = [f"| `{name}` | {text} |" for name, text in meanings(of)]
    return "\n".join([f"## {of.file}", "", "| column | what |", "|---|---|", *rows])


def meanings(of: TableColumns) -> Iterator[tuple[str, str]]:
    """Yield the name and the meaning of each column; where it has none, that of another file."""
    for column in of.columns:
        text = column.meaning or _end_of(column, of.names) or _elsewhere(column)
        yield column.name, text.replace("|", "\\|")


def _end_of(column: Column, names: list[str]) -> str:
    """Return what an end of an interval is, if the column is one of a number in the same file."""
    name, _, end = column.name.rpartition("_")
    of = [one for one in (name, f"mean_{name}") if one in names]
    return f"An end of the 95 % interval of `{of[0]}`." if end in ("low", "high") and of else ""


def _elsewhere(column: Column) -> str:
    """Return the meaning of a column's name in the first file that has one."""
    same = (one.meaning for of in files() for one in of.columns if one.name == column.name)
    return next(filter(None, same), "")
