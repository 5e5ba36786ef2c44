"""The standings of a report say what is known, and of whom nothing is."""

from __future__ import annotations

import pandas as pd

from arena.insight.findings import Findings, Unbounded
from arena.insight.table_columns import STANDINGS
from arena.reports.about import with_glossary
from arena.reports.blocks import Report, Section, Text
from arena.reports.markdown import to_markdown
from arena.reports.standings_section import standings_section

ROWS = {
    "bot": ["x", "a", "b", "broken"],
    "elo": [2380.0, 1510.0, 1490.0, None],
    "elo_low": [2040.0, 1480.0, 1460.0, None],
    "elo_high": [None, 1540.0, 1520.0, None],
    "group": ["a", "b", "b", None],
}
FOUND = Findings(
    *(None, True, None, [], 0, [], []), unbounded=[Unbounded("x", "unbeaten", 2040.0, None)]
)


def section() -> Section:
    """Return the section of a run with an unbeaten bot, two that are close, and a broken one."""
    table = pd.DataFrame({name: [0] * 4 for name in STANDINGS.names} | ROWS)
    return standings_section(table, FOUND, None)


def test_an_unbeaten_bot_and_one_without_a_rating_are_named() -> None:
    """In a paragraph below the table, which has no upper end and no Elo for them."""
    notes = [block.paragraphs for block in section().blocks if isinstance(block, Text)]
    assert notes == [
        [
            "Not rated, because no game of theirs was finished: broken.",
            "x is unbeaten: its Elo is at least 2040.",
        ]
    ]


def test_the_chart_draws_the_end_that_is_known() -> None:
    """A missing end is at the Elo, and the text of the point says that it is missing."""
    (chart,) = Report("r", [], [section()]).charts()
    rows = chart.spec["data"]["values"]
    assert [row["interval"] for row in rows] == ["at least 2040", "1480 to 1540", "1460 to 1520"]
    assert rows[0]["high"] == rows[0]["value"] == 2380.0
    assert [row["group"] for row in rows] == ["a", "b", "b"]


def test_no_text_says_that_overlapping_intervals_leave_an_order_open() -> None:
    """It is said by the letters, in the chart's description and in the glossary."""
    report = with_glossary(Report("r", [], [section()]))
    (chart,) = report.charts()
    text = f"{to_markdown(report)} {chart.description}"
    assert "not sure" not in text
    assert "do not overlap differ" not in text
    assert "Which bots were told apart is said by the letters in the column Group" in text
    assert "Two bots that share a letter were not told apart" in text
