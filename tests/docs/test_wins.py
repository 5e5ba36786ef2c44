"""What docs/wins.md says of correlations is said wherever they are read."""

from __future__ import annotations

from arena.tables.table_columns import CARDS


def test_the_report_says_so_in_its_glossary() -> None:
    """Where the number is read without this page."""
    (won,) = (column.meaning for column in CARDS.columns if column.name == "won")
    assert "need not come from it" in won
