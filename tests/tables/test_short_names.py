"""Short names: what labels have in common is left out, and what differs stays."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.errors import columns
from arena.tables.short_names import names_on_page, short_names
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
    assert short_names(labels, 15) == (dict(zip(labels, labels, strict=True)), "")
    assert short_names(VARIANTS, None) == ({label: label for label in VARIANTS}, "")


@pytest.mark.parametrize(
    ("labels", "width", "names", "said"),
    [
        (
            ["ismcts(depth=3, seed=7)", "ismcts(depth=3, seed=8)", "greedy"],
            20,
            ["ismcts(seed=7)", "ismcts(seed=8)", "greedy"],
            "every ismcts(\u2026) has depth=3",
        ),
        (
            ["mcts(depth=3, world=700)", "mcts(depth=4, world=800)"],
            18,
            ["mcts(d=3, w=700)", "mcts(d=4, w=800)"],
            "mcts(d=depth, w=world)",
        ),
        (
            ["mcts(depth=3, seed=7, world=9)", "mcts(depth=4, seed=8, world=9)", "mcts"],
            10,
            ["mcts(3, 7)", "mcts(4, 8)", "mcts"],
            "mcts(depth, seed) has world=9",
        ),
        (
            ["mcts(depth=3, seed=7)", "mcts"],
            12,
            ["mcts(\u2026)", "mcts"],
            "mcts(\u2026) has depth=3, seed=7",
        ),
        (
            ["runs_of_may/alpha_v1.py", "runs_of_may/beta_v1.py", "b"],
            16,
            ["runs_\u2026alpha\u2026", "runs_\u2026beta\u2026", "b"],
            "runs_\u2026 stands for runs_of_may/, \u2026 at the end for _v1.py",
        ),
        (
            ["city_hunter(city=2.4)", "city_hunter(city=2.8)"],
            12,
            ["city_h\u2026(2.4)", "city_h\u2026(2.8)"],
            "city_hunter(city)",
        ),
        (["x" * 30, "greedy"], 9, ["xxxx\u2026xxxx", "greedy"], ""),
        (["x" * 14, "x" * 15], 8, ["1: xxxx\u2026", "2: xxxx\u2026"], ""),
        (["x(b=1)", "x(a=1, b=2)", "x(a=1, b=1)"], 10, ["x(b=1)", "x(a=1,b=2)", "x(a=1,b=1)"], ""),
    ],
)
def test_what_is_common_is_said_once(
    labels: list[str], width: int, names: list[str], said: str
) -> None:
    """First common parameters, then names of the others, ends of labels, and the middle."""
    found = short_names(labels, width)
    assert [found.of(label) for label in labels] == names
    assert found.note == (f"Names are short: {said}." if said else "")


def test_what_differs_between_40_variants_stands_in_full() -> None:
    """Beside a chart each value of each of them can be read."""
    names = names_on_page(VARIANTS)
    assert names.of(VARIANTS[0]) == "ismcts(e=0.15, t=1.1)"
    assert names.of("greedy") == "greedy"
    assert names.note == (
        "Names are short: city_hunter(c=city, p=patience); flat_mc(p=positions, w=worlds); "
        "ismcts(e=exploration, t=temperature) has iterations=400."
    )
    assert all(not name.endswith("\u2026") for name in names.short.values())
