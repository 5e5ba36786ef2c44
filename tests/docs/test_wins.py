"""What docs/wins.md says of correlations is said wherever they are read."""

from __future__ import annotations

import re
from collections import Counter

from arena.tables.table_columns import CARDS
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
    listed = (ROOT / "tests" / "stability" / "public.txt").read_text()
    counts = Counter(re.findall(r"^(\w+\.csv) column ", listed, re.MULTILINE))
    wide = {name: count for name, count in counts.items() if count > 20}
    assert len(counts) > 15
    pages = "".join((ROOT / "docs" / name).read_text() for name in ("wins.md", "analyse.md"))
    said = re.findall(r"`(\w+\.csv)` has (\d+) columns, because ", pages)
    assert {name: int(count) for name, count in said} == wide
