"""The settings of `arena tune`: what a text allows, and a design that fills the space."""

from __future__ import annotations

from typing import Any

import pytest

from arena.addons.studies.settings import Ranges, design, read_parameters
from arena.errors import InputError

VALUES: list[tuple[Ranges, tuple[Any, ...]]] = [
    (["a=-1..2"], (-1, 0, 1, 2)),
    (["a = deep, 1, 2.5, true, null, '1', -3"], ("deep", 1, 2.5, True, None, "'1'", -3)),
    ({"a": [1, 1.0, True, "1"]}, (1, 1.0, True, "1")),
]


@pytest.mark.parametrize(("ranges", "values"), VALUES)
def test_a_text_or_a_list_has_its_values(ranges: Ranges, values: tuple[Any, ...]) -> None:
    """Of their own types."""
    (found,) = read_parameters(ranges)
    assert [*map(repr, found.values)] == [*map(repr, values)]


@pytest.mark.parametrize(
    "text", ["0.0..1.0", "0..1000000", "0.001..1000:log", "-0.3..0.31", "0..1e12"]
)
def test_a_range_has_few_digits_both_ends_and_different_values_in_order(text: str) -> None:
    """At most 201; and its ends are known as such."""
    (found,) = read_parameters({"a": text})
    assert 2 <= len(found.values) <= 201
    assert [*found.values] == sorted({*found.values})
    low, _, high = text.removesuffix(":log").partition("..")
    assert (found.values[0], found.values[-1]) == (float(low), float(high))
    assert [value for value in found.values if found.is_edge(value)] == [float(low), float(high)]
    assert all(len(repr(value)) <= 22 for value in found.values)


MISTAKES: list[tuple[Ranges, str]] = [
    (["a"], "write NAME=LOW..HIGH"),
    (["a="], "write NAME=LOW..HIGH"),
    (["1=0..5"], "write NAME=LOW..HIGH"),
    (["a=x..5"], "write NAME=LOW..HIGH"),
    (["a=0..NaN"], "write NAME=LOW..HIGH"),
    (["a=1"], "from 2 to 32 different values"),
    (["a=1,2,1"], "from 2 to 32 different values"),
    (["a=1,,2"], "write NAME=LOW..HIGH"),
    (["a=5..5"], "a range goes up"),
    (["a=0..5:log"], "the scale is :log, of a range above 0"),
    (["a=1..5:lin"], "the scale is :log"),
    (["a=0..1", "a=0..2"], "a has a range already"),
    (["a=0..1", "b=0..1", "c=0..1", "d=0..1"], "from 1 to 3 of them, not 4"),
    ([], "from 1 to 3 of them, not 0"),
    ({"a": [object(), 1]}, "a value is a number, a text, true, false or null"),
    ("a=0..5", "expected ranges by name"),
]


@pytest.mark.parametrize(("ranges", "message"), MISTAKES)
def test_a_mistake_is_one_line(ranges: Ranges, message: str) -> None:
    """It says what is expected."""
    with pytest.raises(InputError, match=message) as caught:
        read_parameters(ranges)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("wanted", [2, 7, 24])
def test_a_design_has_each_part_of_every_range_once(wanted: int) -> None:
    """The same for the same seed; all settings where these are not more."""
    parameters = read_parameters({"a": "0..199", "b": "0.0..1.0", "mode": ["x", "y"]})
    found = design(parameters, wanted, 5)
    assert found == design(parameters, wanted, 5)
    assert len(found) == wanted
    assert sorted(int(one["a"] * wanted / 200) for one in found) == [*range(wanted)]
    assert sorted(int(one["b"] * wanted * 0.9999) for one in found) == [*range(wanted)]
    few = read_parameters({"a": "0..3", "mode": ["x", "y"]})
    assert len(design(few, 8, 5)) == len({*map(str, design(few, 8, 5))}) == 8
