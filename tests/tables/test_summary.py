"""The table on the terminal, character by character."""

from __future__ import annotations

import pandas as pd

from arena.errors import columns
from arena.tables.summary import format_rows, format_standings

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
    assert list(format_standings(pd.DataFrame(rows, columns=COLUMNS))) == [
        "rank  bot                   elo          95 %  score   city points forfeit group",
        "   1  greedy               1595    1581..1610  70.0%  10.0%  60.0%       0     a",
        "  12  uniform              1405    1390..1419  40.0%   0.0%  40.0%      11   a-g",
    ]


def test_a_label_of_18_characters_is_shown_whole_and_a_longer_one_is_cut() -> None:
    """To 15 characters and three dots, so that all lines have the same width."""
    rows = [
        (1, "a" * 18, 1500.0, 1400.0, 1600.0, 2, 0.5, 0, 1, 0, 0, "a"),
        (2, "b" * 19, 1500.0, 1400.0, 1600.0, 2, 0.5, 0, 1, 0, 0, None),
    ]
    head, first, second = format_standings(pd.DataFrame(rows, columns=COLUMNS))
    assert first[6:24] == "a" * 18
    assert second[6:25] == "b" * 15 + "... "
    assert len({len(head), len(first), len(second)}) == 1


def test_labels_of_wide_signs_keep_the_columns_in_line() -> None:
    """A sign of Japanese takes two columns, an accent that is a sign of its own none."""
    labels = ["greedy", "\u6253\u3064", "e\u0301t\u00e9", "\u6253" * 12]
    row = {"rank": 1, "elo": None, "score": 0.5, "forfeits": 0, "games": 2}
    row |= {"city_wins": 1, "points_wins": 0, "tiebreak_wins": 0}
    lines = [*format_rows([row | {"bot": label} for label in labels])]
    assert len({*map(columns, lines)}) == 1
    assert all(columns(line[: line.index("not rated")]) == 36 for line in lines)
    assert "\u6253" * 7 + "...  " in lines[-1]
