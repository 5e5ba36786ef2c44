"""The table on the terminal, character by character."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.errors import columns
from arena.tables.summary import format_standings
from tests.reports.runs import VARIANTS

COLUMNS = [
    *("rank", "bot", "elo", "elo_low", "elo_high", "games", "score"),
    *("city_wins", "points_wins", "tiebreak_wins", "forfeits", "group"),
]


def test_the_columns_of_the_standings_are_under_their_names() -> None:
    """Of 40 games 4 are won by city (10 %), 20 by points and 4 by tie-break (60 %)."""
    rows = [
        (1, "greedy", 1595.4, 1580.6, 1610.2, 40, 0.7, 4, 20, 4, 0, "a"),
        (12, "uniform", 1404.6, 1389.8, 1419.4, 40, 0.4, 0, 12, 4, 11, "abcdefg"),
    ]
    named = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    assert list(format_standings(named)) == [
        "rank  bot                   elo          95 %  score   city points forfeit group",
        "   1  greedy               1595    1581..1610  70.0%  10.0%  60.0%       0     a",
        "  12  uniform              1405    1390..1419  40.0%   0.0%  40.0%      11   a-g",
    ]


def rows_of(labels: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of standings of bots without a rating."""
    row = {"rank": 1, "elo": None, "score": 0.5, "forfeits": 0, "games": 2}
    row |= {"city_wins": 1, "points_wins": 0, "tiebreak_wins": 0, "group": "a"}
    return [row | {"bot": label} for label in labels]


def test_40_variants_have_40_names_in_a_terminal_and_whole_labels_elsewhere() -> None:
    """In 80 columns, and in 110 with more of the names."""
    standings = rows_of(VARIANTS)
    for room in (80, 110):
        head, *lines = format_standings(standings, room)
        assert max(map(columns, [head, *lines])) <= room
        names = {line[6 : head.index("   elo")].strip() for line in lines[:40]}
        assert len(names) == 40
        assert len(lines) == 40
    _, *whole = format_standings(standings)
    assert [line[6:].partition("  ")[0] for line in whole] == VARIANTS


def test_labels_of_wide_signs_keep_the_columns_in_line() -> None:
    """A sign of Japanese takes two columns, an accent that is a sign of its own none."""
    labels = ["greedy", "\u6253\u3064", "e\u0301t\u00e9", "\u6253" * 12]
    lines = [*format_standings(rows_of(labels), room=80)]
    assert len({*map(columns, lines)}) == 1
    assert all(columns(line[: line.index("not rated")]) == 36 for line in lines[1:])
    assert "\u6253" * 4 + "\u2026" + "\u6253" * 4 in lines[-1]
