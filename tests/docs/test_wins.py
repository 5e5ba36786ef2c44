"""What docs/wins.md says of correlations is said wherever they are read."""

from __future__ import annotations

import re
from collections import Counter

from arena.reports import seat_section as takes
from arena.store.columns import Columns
from arena.tables.table_columns import CARDS
from tests import ROOT

PAGE = (ROOT / "docs" / "wins.md").read_text()


def test_no_page_calls_a_correlation_a_cause() -> None:
    """What was read as a cause is gone, and the warning is there."""
    assert "**`more` and `adds` are no causes.**" in PAGE
    assert "**Decisive is a name, not a cause.**" in PAGE
    for path in (ROOT / "docs").glob("*.md"):
        text = " ".join(path.read_text().split())
        assert "adds to the chance to win" not in text, path
        assert "the loser decided the game" not in text, path


def test_the_report_says_so_in_its_glossary_and_beside_the_chart() -> None:
    """Where the numbers are read without this page."""
    sentences = {column.name: column.meaning for column in CARDS.columns}
    assert "no cause" in sentences["adds"]
    assert "need not come from it" in sentences["more"]
    cards = Columns(
        {"bot": ["all bots"], "card": ["C"], "adds": [0.1], "adds_low": [0.0], "adds_high": [0.2]}
    )
    chart = takes._card_chart(cards, ["all bots"])
    assert "not what the card causes" in chart.description


def test_a_table_of_more_than_20_columns_says_why() -> None:
    """On the page about it, with their number; no other table has so many."""
    listed = (ROOT / "tests" / "stability" / "public.txt").read_text()
    counts = Counter(re.findall(r"^(\w+\.csv) column ", listed, re.MULTILINE))
    wide = {name: count for name, count in counts.items() if count > 20}
    assert len(counts) > 15
    pages = "".join((ROOT / "docs" / name).read_text() for name in ("wins.md", "analyse.md"))
    said = re.findall(r"`(\w+\.csv)` has (\d+) columns, because ", pages)
    assert {name: int(count) for name, count in said} == wide
