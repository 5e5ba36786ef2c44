"""What docs/wins.md says of correlations is said wherever they are read."""

from __future__ import annotations

import re

from arena.tables import losses, table_columns
from arena.tables.table_columns import CARDS, TableColumns
from tests import ROOT

PAGE = (ROOT / "docs" / "wins.md").read_text()


def test_no_page_calls_a_correlation_a_cause() -> None:
    """What was read as a cause is gone, and the warning is there."""
    assert "**`won` is no cause.**" in PAGE
    for path in (ROOT / "docs").glob("*.md"):
        text = " ".join(path.read_text().split())
        assert "adds to the chance to win" not in text, path
        assert "the loser decided the game" not in text, path


def test_the_report_says_so_in_its_glossary() -> None:
    """Where the number is read without this page."""
    (won,) = (column.meaning for column in CARDS.columns if column.name == "won")
    assert "need not come from it" in won


def test_a_table_of_more_than_20_columns_says_why() -> None:
    """On the page about it, with their number; no other table has so many."""
    modules = table_columns, losses
    tables = [one for of in modules for one in vars(of).values() if isinstance(one, TableColumns)]
    wide = {one.file: len(one.columns) for one in tables if len(one.columns) > 20}
    assert len(tables) > 10
    page = (ROOT / "docs" / "analyse.md").read_text()
    said = re.findall(r"`(\w+\.csv)` has (\d+) columns, because ", page)
    assert {name: int(count) for name, count in said} == wide
