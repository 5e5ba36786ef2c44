"""Hold a table as columns, without pandas, and tables by name, of which each is made when read.

The tables of a run are made and written so. The import of pandas takes 0.35 s of a processor, half
of the time of a small run, and its columns of objects took most of the memory of a large one; it is
imported where somebody asks for a DataFrame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd

Cells: TypeAlias = npt.NDArray[Any]
Flags: TypeAlias = npt.NDArray[np.bool_]

EMPTY: Final = int(np.iinfo(np.int64).min)
"""An empty cell of a column of whole numbers."""


class Columns:
    """A table: a column for each name, all of one length.

    Texts are an array of objects. An empty cell is None there, nan in an array of floats, and EMPTY
    in one of whole numbers. A list is made an array by its values.

    >>> table = Columns({"bot": ["a", None], "games": [3, None], "score": [None, 0.5]})
    >>> table.rows()
    [('a', 3, None), (None, None, 0.5)]
    >>> table.where(is_known(table["bot"])).dicts()
    [{'bot': 'a', 'games': 3, 'score': None}]
    """

    def __init__(self, cells: Mapping[str, Cells | Sequence[Any]]) -> None:
        self.cells = {
            name: one if isinstance(one, np.ndarray) else _as_array(one)
            for name, one in cells.items()
        }

    @classmethod
    def of_rows(cls, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Columns:
        """Return a table of rows that have their cells in the order of the names."""
        columns = zip(*rows, strict=True) if rows else [()] * len(names)
        return cls(dict(zip(names, columns, strict=True)))

    @classmethod
    def of(cls, table: Columns | pd.DataFrame) -> Columns:
        """Return a DataFrame as columns; columns are returned as they are."""
        if isinstance(table, Columns):
            return table
        return cls({str(name): _of_series(table[name]) for name in table.columns})

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [*self.cells]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(next(iter(self.cells.values()), ()))

    def __getitem__(self, name: str) -> Cells:
        """Return a column."""
        return self.cells[name]

    def put(self, **cells: Cells | Sequence[Any]) -> Columns:
        """Return the table with columns that are added or replaced."""
        return Columns(self.cells | cells)

    def where(self, rows: Cells | slice) -> Columns:
        """Return some rows: those of a mask, a slice, or numbers in their order."""
        return Columns({name: cells[rows] for name, cells in self.cells.items()})

    def ordered(self, *by: Cells) -> Columns:
        """Return the rows in the order of these keys, the first one first; equal rows stay."""
        return self.where(np.lexsort(by[::-1]))

    def lists(self, names: Iterable[str] | None = None) -> list[list[Any]]:
        """Return columns, by default all, as lists of plain values; an empty cell is None."""
        return [_plain(self.cells[name]) for name in (self.cells if names is None else names)]

    def rows(self, names: Iterable[str] | None = None) -> list[tuple[Any, ...]]:
        """Return the rows of some columns, by default all, as plain values."""
        return list(zip(*self.lists(names), strict=True))

    def dicts(self, names: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
        """Return the rows as plain data; `names` maps columns, by default all, to their keys."""
        keys = [*(names.values() if names else self.cells)]
        return [dict(zip(keys, row, strict=True)) for row in self.rows(names)]


TableName: TypeAlias = Literal[
    "standings", "head_to_head", "verdicts", "win_types", "wins", "takes", "cards", "games",
    "faults", "timings", "unresolved", "differences", "decided",
]  # fmt: skip
"""A table that a run, a comparison, a rating or a league may have, by the name of its file."""


class Frames(Mapping[TableName, "pd.DataFrame"]):
    """DataFrames by the names of their files; each is made when it is first read.

    >>> import arena
    >>> results = arena.run(["greedy", "uniform"], pairs=2, seed=7, progress=False)
    >>> results.tables["verdicts"]["verdict"].tolist()
    ['open']
    """

    def __init__(self, makers: dict[TableName, Callable[[], pd.DataFrame]]) -> None:
        self.makers = makers
        self._made: dict[TableName, pd.DataFrame] = {}

    def __getitem__(self, name: TableName) -> pd.DataFrame:
        """Return the table of this name."""
        if name not in self._made:
            self._made[name] = self.makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[TableName]:
        """Yield the names."""
        return iter(self.makers)

    def __len__(self) -> int:
        """Return how many tables there are."""
        return len(self.makers)

    def _ipython_key_completions_(self) -> list[TableName]:
        return [*self]

    def __repr__(self) -> str:
        return f"<tables: {', '.join(self)}>"


def is_known(cells: Cells) -> Flags:
    """Return which cells of a column are not empty."""
    if cells.dtype.kind == "f":
        return ~np.isnan(cells)
    if cells.dtype.kind == "O":
        return np.array([cell is not None for cell in cells.tolist()], np.bool_)
    return np.asarray(cells != EMPTY)


def is_first(cells: Cells) -> Flags:
    """Return which cells have a value that no earlier cell has."""
    places = {cell: place for place, cell in reversed([*enumerate(cells.tolist())])}
    first = np.zeros(len(cells), np.bool_)
    first[[*places.values()]] = True
    return first


def map_cells(cells: Cells, how: Callable[[Any], Any]) -> Cells:
    """Return the column that a function makes of each different cell."""
    values = cells.tolist()
    made = {value: how(value) for value in {*values}}
    return _as_array([made[value] for value in values])


def place_in(cells: Cells, order: Iterable[Any]) -> Cells:
    """Return the place of each cell in an order, and the place behind it for any other cell."""
    places = {value: place for place, value in enumerate(order)}
    return np.array([places.get(cell, len(places)) for cell in cells.tolist()], np.int64)


def match_rows(own: Sequence[Cells], other: Sequence[Cells]) -> npt.NDArray[np.int64]:
    """Return for each row of some columns the number of the equal one of others, -1 for none."""
    numbers = {row: n for n, row in enumerate(zip(*(one.tolist() for one in other), strict=True))}
    rows = zip(*(one.tolist() for one in own), strict=True)
    return np.array([numbers.get(row, -1) for row in rows], np.int64)


def _as_array(values: Sequence[Any]) -> Cells:
    kinds = {type(value) for value in values} - {type(None)}
    if kinds == {int}:
        return np.array([EMPTY if value is None else value for value in values], np.int64)
    if kinds <= {int, float} and values:
        return np.array(values, np.float64)
    return _as_objects(values)


def _as_objects(values: Sequence[Any]) -> Cells:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _plain(cells: Cells) -> list[Any]:
    values: list[Any] = cells.tolist()
    if cells.dtype.kind in "fi" and not is_known(cells).all():
        return [None if value != value or value == EMPTY else value for value in values]
    return values


def _of_series(column: pd.Series[Any]) -> Cells:
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iufb":
        return column.to_numpy()
    both = zip(column.tolist(), column.isna().tolist(), strict=True)
    return _as_objects([None if is_empty else value for value, is_empty in both])
