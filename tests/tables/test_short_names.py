"""Short names: long labels are cut in the middle, and stay different."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.errors import columns
from arena.tables.summary import short_names
from tests.reports.runs import HOSTILE, VARIANTS

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


def test_whole_labels_are_kept_where_they_fit() -> None:
    """And everywhere without a width, as in a file."""
    labels = ["ismcts(depth=3)", "ismcts(depth=4)"]
    assert short_names(labels, 15) == (dict(zip(labels, labels, strict=True)),)
    assert short_names(VARIANTS, None) == ({label: label for label in VARIANTS},)


@pytest.mark.parametrize(
    ("labels", "width", "names"),
    [
        (["x" * 30, "greedy"], 9, ["xxxx\u2026xxxx", "greedy"]),
        (["x" * 14, "x" * 15], 8, ["xxxx\u2026xxx", "xx\u2026xx(2)"]),
        (
            ["mcts(depth=3,seed=7)", "mcts(depth=3,seed=8)"],
            12,
            ["mcts(d\u2026ed=7)", "mcts(d\u2026ed=8)"],
        ),
    ],
)
def test_a_long_label_lacks_a_piece_in_the_middle(
    labels: list[str], width: int, names: list[str]
) -> None:
    """Those that are alike then have a number."""
    found = short_names(labels, width)
    assert [found.of(label) for label in labels] == names
