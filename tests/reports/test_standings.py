"""The standings of a report say what is known, and of whom nothing is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from arena.reports.blocks import Report, Section, Table, Text
from arena.reports.standings_section import standings_section
from arena.store.columns import Columns
from arena.tables.findings import Findings, Unbounded
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


def test_an_interval_without_an_end_goes_to_the_edge_with_an_arrow() -> None:
    """And the text of the point says that the end is missing."""
    chart, _ = Report("r", [], [section()]).charts()
    rows = chart.spec["data"]["values"]
    assert [row["interval"] for row in rows] == ["at least 2040", "1480..1540", "1460..1520"]
    edge = chart.spec["layer"][0]["encoding"]["x"]["scale"]["domain"][1]
    assert rows[0]["high"] == rows[0]["edge"] == edge > rows[0]["value"] == 2380.0
    assert (rows[0]["low"], rows[0]["side"]) == (2040.0, "right")
    assert chart.description.endswith("Beyond the axis, marked by an arrow: x.")
    assert not any("edge" in row for row in rows[1:])
    assert [row["group"] for row in rows] == ["a", "b", "b"]


def test_the_leads_have_their_interval_and_what_may_be_said() -> None:
    """In the order of the standings, beside them; a probability is never 1."""
    _, chart = Report("r", [], [section()]).charts()
    rows = chart.spec["data"]["values"]
    facts = [(row["bot"], row["interval"], row["chance"], row["verdict"]) for row in rows]
    assert facts == [
        ("x", "at least 530", "above 99.9 %", "apart"),
        ("a", "-16..56", "86.0 %", "open"),
    ]
    assert "Apart: 1 of 2." in chart.description


def test_a_row_opens_to_the_bots_that_are_surely_above_and_below() -> None:
    """By the letters; a bot without them is not compared."""
    standings = next(block for block in section().blocks if isinstance(block, Table))
    assert standings.more == [
        "x is surely above a, b.",
        "a is surely below x. Not apart from b.",
        "b is surely below x. Not apart from a.",
        "broken is not compared: it has no rating, or had too many faults.",
    ]


def test_an_outlier_does_not_squeeze_the_chart_and_is_named() -> None:
    """Its arrow stands at the end of the axis, and its numbers are those of the table."""
    table = pd.DataFrame({name: [0] * 5 for name in STANDINGS.names})
    table = table.assign(rank=range(1, 6), bot=[*"abcde"], group=[*"abcde"])
    elo = np.array([1560.0, 1540.0, 1520.0, 1500.0, -2000.0])
    table = table.assign(elo=elo, elo_low=elo - 20, elo_high=elo + 20)
    leads = Columns(LEADS).where(slice(0))
    chart, *_ = Report("r", [], [standings_section(Columns.of(table), leads, FOUND, None)]).charts()
    *rest, far = chart.spec["data"]["values"]
    assert all("edge" not in row for row in rest)
    assert (far["side"], far["value"], far["edge"], far["elo"]) == ("left", None, 1476, -2000.0)
    assert chart.description.endswith("Beyond the axis, marked by an arrow: e.")
