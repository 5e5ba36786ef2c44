"""Columns hold empty cells of every kind, and are written as the module csv writes them."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
import pandas as pd
import pytest

from arena.store.columns import EMPTY, Columns, is_first, is_known, match_rows, place_in
from arena.store.csv_files import csv_writer

CELLS: dict[str, list[Any]] = {
    "bot": ["a,b", None, 'say "x"', "", "two\nlines"],
    "games": [3, None, 0, -2, 10**15],
    "score": [0.5, None, -0.0, 1e-7, 1e22],
}
TABLE = Columns(CELLS)


def test_an_empty_cell_is_none_in_a_row() -> None:
    """It is nan among floats and EMPTY among whole numbers, of which others may be below 0."""
    assert TABLE.rows() == [*zip(*CELLS.values(), strict=True)]
    assert [TABLE[name].dtype.kind for name in CELLS] == ["O", "i", "f"]
    assert TABLE["games"][1] == EMPTY
    for name in CELLS:
        assert is_known(TABLE[name]).tolist() == [True, False, True, True, True]


def test_a_frame_and_back_changes_no_cell() -> None:
    """Whole numbers stay whole where one of them is missing."""
    assert TABLE.frame["games"].dtype == "Int64"
    assert Columns.of(TABLE.frame).rows() == TABLE.rows()
    assert Columns.of(pd.DataFrame({"n": [10**30]})).rows() == [(10**30,)]


@pytest.mark.parametrize("rows", [slice(0), slice(1, 2), slice(None)])
def test_a_file_is_that_of_the_module_csv(rows: slice) -> None:
    """Also a zero with a sign, which equals the one without."""
    some, made, plain = TABLE.where(rows), io.StringIO(), io.StringIO()
    csv_writer(some)(made)
    csv.writer(plain, lineterminator="\n").writerows([some.names, *some.rows()])
    assert made.getvalue() == plain.getvalue()


def test_rows_are_ordered_found_and_matched() -> None:
    """By keys, of which the first one counts most; equal rows stay in their order."""
    table = Columns({"bot": [*"baab"], "seat": [1, 1, 0, 0]})
    assert table.ordered(table["bot"], table["seat"]).rows() == [
        ("a", 0), ("a", 1), ("b", 0), ("b", 1)
    ]  # fmt: skip
    assert is_first(table["bot"]).tolist() == [True, True, False, False]
    assert place_in(table["bot"], ["b"]).tolist() == [0, 1, 1, 0]
    both = table["bot"], table["seat"]
    assert match_rows([np.array(["a", "c"], object), np.array([0, 0])], both).tolist() == [2, -1]
