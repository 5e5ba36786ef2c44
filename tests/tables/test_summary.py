"""The table on the terminal, character by character, and the short names of long labels."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.errors import columns
from arena.tables.standings_text import format_standings, short_names
from tests.reports.runs import HOSTILE, VARIANTS

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


def test_long_and_wide_labels_keep_the_columns_in_line() -> None:
    """A sign of Japanese takes two columns, an accent none; 40 variants have 40 names."""
    standings = rows_of(VARIANTS)
    for room in (80, 110):
        head, *lines = format_standings(standings, room)
        assert max(map(columns, [head, *lines])) <= room
        names = {line[6 : head.index("   elo")].strip() for line in lines[:40]}
        assert len(names) == 40
        assert len(lines) == 40
    _, *whole = format_standings(standings)
    assert [line[6:].partition("  ")[0] for line in whole] == VARIANTS
    labels = ["greedy", "\u6253\u3064", "e\u0301t\u00e9", "\u6253" * 12]
    lines = [*format_standings(rows_of(labels), room=80)]
    assert len({*map(columns, lines)}) == 1
    assert all(columns(line[: line.index("not rated")]) == 36 for line in lines[1:])
    assert "\u6253" * 4 + "\u2026" + "\u6253" * 4 in lines[-1]


KEYS = st.sampled_from(["depth", "exploration", "iterations", "a", "ab"])
VALUES = st.sampled_from(["1", "2", "0.15", '"a, b=c"', "[1, 2]", "\u5168" * 9, "x" * 40])
PARAMS = st.dictionaries(KEYS, VALUES, max_size=4).map(
    lambda params: f"({', '.join(f'{key}={value}' for key, value in params.items())})"
)
VARIANT = st.tuples(st.sampled_from(["ismcts", "a", "\u65e5\u672c" * 12, "1: is"]), PARAMS)
PLAIN = st.text(st.sampled_from("ab_/ .-:1\u2026()=,\u5168\u05e9e\u0301"), min_size=1, max_size=60)
LABELS = st.lists(VARIANT.map("".join) | PLAIN | st.sampled_from([*HOSTILE, "ismcts"]), max_size=40)


@pytest.mark.slow
@given(LABELS, st.integers(8, 40))
@example(VARIANTS, 18)
@example(["mcts(depth=1)", "mcts(depth=2)", "mcts(1)"], 8)
@example(["x" * 30, "xxxx\u2026xxxx"], 9)
@example(["1: aaaa\u2026", *(f"aaaaaaaa{n}bbbbbbbb" for n in range(30))], 8)
def test_names_differ_where_labels_do(labels: list[str], width: int) -> None:
    """They fit, none is the label of another bot, and their order does not matter."""
    names = short_names(labels, width)
    assert names.short.keys() == {*labels}
    assert len({*names.short.values()}) == len({*labels})
    for label, name in names.short.items():
        assert columns(name) <= width
        assert name == label or name not in names.short
        assert name.isprintable() or not label.isprintable()
    assert short_names(Random(0).sample(labels, len(labels)), width) == names


def test_a_long_label_lacks_its_middle_and_others_are_kept() -> None:
    for labels, width, names in (
        (["x" * 30, "greedy"], 9, ["xxxx\u2026xxxx", "greedy"]),
        (["x" * 14, "x" * 15], 8, ["xxxx\u2026xxx", "xx\u2026xx(2)"]),
        ([f"mcts(depth=3,seed={n})" for n in (7, 8)], 12, [f"mcts(d\u2026ed={n})" for n in (7, 8)]),
        (["ismcts(depth=3)", "ismcts(depth=4)"], 15, ["ismcts(depth=3)", "ismcts(depth=4)"]),
        (VARIANTS, None, VARIANTS),
    ):
        found = short_names(labels, width)
        assert [found.of(label) for label in labels] == names
