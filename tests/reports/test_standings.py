"""The standings of a report say what is known, and of whom nothing is."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pandas as pd

from arena.reports.blocks import Report, Section, Text
from arena.reports.drawing import Mark, Row, Rows, draw
from arena.reports.standings_section import standings_section
from arena.store.columns import Columns
from arena.tables.findings import Findings, Unbounded
from arena.tables.summary import Names
from arena.tables.table_columns import STANDINGS

ROWS = {
    "bot": ["x", "a", "b", "broken"],
    "elo": [2380.0, 1510.0, 1490.0, None],
    "elo_low": [2040.0, 1480.0, 1460.0, None],
    "elo_high": [None, 1540.0, 1520.0, None],
    "group": ["a", "b", "b", None],
}
LEADS: dict[str, list[Any]] = {
    "bot": ["x", "x", "a"],
    "opponent": ["a", "b", "b"],
    "lead": [870.0, 890.0, 20.0],
    "lead_low": [530.0, 550.0, -16.0],
    "lead_high": [None, None, 56.0],
    "likely": [1.0, 1.0, 0.86],
    "verdict": ["apart", "apart", "open"],
}
FOUND = Findings(
    *({}, (), None, [], 0, [], []), unbounded=[Unbounded("x", "unbeaten", 2040.0, None)]
)


def section() -> Section:
    """Return the section of a run with an unbeaten bot, two that are close, and a broken one."""
    table = pd.DataFrame({name: [0] * 4 for name in STANDINGS.names} | ROWS)
    table["rank"] = [1, 2, 3, 4]
    return standings_section(Columns.of(table), Columns(LEADS), FOUND, None)


def test_an_unbeaten_bot_and_one_without_a_rating_are_named() -> None:
    """In a paragraph below the table, which has no upper end and no Elo for them."""
    notes = [block.paragraphs for block in section().blocks if isinstance(block, Text)]
    assert notes == [
        [
            "Not rated, because no game of theirs was finished: broken.",
            "x is unbeaten: its Elo is at least 2040.",
        ]
    ]


def leads() -> Rows:
    """Return the chart of leads of that section."""
    (chart,) = Report("r", [], [section()]).charts()
    assert isinstance(chart, Rows)
    return chart


def test_an_interval_without_an_end_goes_to_the_edge() -> None:
    """And its words say that the end is missing."""
    first, second = leads().rows
    assert first.marks == [Mark(870.0, 530.0, None, "apart")]
    assert first.said.startswith("+870 Elo ahead of a, 95 %: at least 530; ")
    assert second.said.startswith("+20 Elo ahead of b, 95 %: -16..56; ")
    drawn = draw(leads(), Names({}))
    assert 'x2="100.0%"' in drawn[: drawn.index("20 Elo ahead of b")]
    assert 'x2="100.0%"' not in drawn[drawn.index("20 Elo ahead of b") :]


def test_the_leads_have_their_interval_and_what_may_be_said() -> None:
    """In the order of the standings; a probability is never 1, and the sign is the verdict."""
    facts = [(row.name, row.value, row.marks[0].sign, row.strong) for row in leads().rows]
    assert facts == [("x", "above 99.9 %", "apart", True), ("a", "86.0 %", "open", False)]
    assert {*leads().signs} == {"apart", "open"}
    assert "Apart: 1 of 2." in leads().meaning


def test_an_outlier_does_not_squeeze_the_chart() -> None:
    """Its arrow stands at the end of the axis, and its number is in its words."""
    rows = [
        Row(name, [Mark(lead, lead - 20, lead + 20)], f"{lead:+}")
        for name, lead in zip("abcde", (60, 40, 20, 0, -2000), strict=True)
    ]
    chart = Rows(name="c", title="c", meaning="", rows=rows)
    drawn = draw(chart, Names({}))
    assert drawn.count("<polygon") == 1
    far = drawn[drawn.index("e: -2000") :]
    assert '<svg x="0.0%"' in far
    assert "-500" not in drawn.replace("-2000", "")
    near = draw(replace(chart, rows=rows[:4]), Names({}))
    assert [*re.findall('class="tick.*?</span>', near)] == [
        *re.findall('class="tick.*?</span>', drawn)
    ]
