"""Parameters and their ranges: what is written is what is tried."""

from __future__ import annotations

import math
from random import Random

import pytest

from arena.addons.studies.parameters import parse_parameter
from arena.addons.studies.search import make_space
from arena.errors import InputError

TEXTS = [
    "patience=0..20",
    "weight=0.1..10.0:log",
    "share=0.0..1.0",
    "mode=fast,deep,3,true,null",
    "depth=1..4 if mode=deep,true",
    "steps=1..1000:log",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_parameter_is_read_as_it_is_written(text: str) -> None:
    """A manifest keeps its text."""
    assert str(parse_parameter(text)) == text


def test_every_point_is_a_setting_and_back() -> None:
    """Values lie in their ranges, whole ones are whole, and the point of a setting is fixed."""
    space = make_space(TEXTS)
    random = Random(7)
    modes = set()
    for _ in range(500):
        setting = space.setting([random.random() for _ in TEXTS])
        assert type(setting["patience"]) is int
        assert 0 <= setting["patience"] <= 20
        assert 0.1 <= setting["weight"] <= 10
        assert len(repr(setting["share"])) <= 5
        assert 1 <= setting["steps"] <= 1000
        assert ("depth" in setting) == (setting["mode"] in ("deep", True))
        modes.add(setting["mode"])
        point = space.point(setting)
        assert space.setting(point) == setting
        assert space.snap(point) == point
    assert modes == {"fast", "deep", 3, True, None}


def test_a_logarithmic_range_has_equal_factors() -> None:
    """Half way from 0.1 to 10 is 1; a whole range has each number as a step."""
    weight = parse_parameter("weight=0.1..10.0:log")
    assert [weight.value(n / 4) for n in range(5)] == [0.1, 0.316, 1.0, 3.16, 10.0]
    assert [*map(parse_parameter("n=1..5").value, parse_parameter("n=1..5").steps(99))] == [
        *range(1, 6)
    ]


def test_distances_of_choices_and_of_what_is_not_used() -> None:
    """Two choices are 1 apart; a value that is not used makes no difference."""
    space = make_space(["mode=a,b,c", "depth=0..4 if mode=b"])
    a, c, b0, b4 = (
        space.encode(space.point(setting))
        for setting in (
            {"mode": "a"},
            {"mode": "c"},
            {"mode": "b", "depth": 0},
            {"mode": "b", "depth": 4},
        )
    )
    assert math.dist(a, c) == pytest.approx(1)
    assert math.dist(b0, b4) == pytest.approx(1)
    assert space.features == [(0, 1, 2), (3,)]


WRONG = [
    ("patience", "write NAME=LOW..HIGH, with :log for a logarithmic range, or NAME=A,B,C"),
    ("patience=", "write NAME=LOW..HIGH, with :log for a logarithmic range, or NAME=A,B,C"),
    ("patience=5..0", "a range goes up, and 0 is not above 5"),
    ("patience=1..1", "a range goes up, and 1 is not above 1"),
    ("patience=a..b", "'a' is not a number; "),
    ("patience=0..inf", "'inf' is not a number from -1e+12 to 1e+12"),
    ("patience=nan..1", "'nan' is not a number from -1e+12 to 1e+12"),
    ("patience=0..1:log", "a logarithmic range begins above 0, not at 0"),
    ("patience=1..2:lin", "'lin' is no scale; write log, or nothing"),
    ("mode=a", "one value leaves nothing to choose; "),
    ("mode=a,a", "a stands twice"),
    ("mode=a,,b", "a value is missing"),
    ("mode=[1],b", "'[1]' is neither a number, true, false, null nor a text"),
    ("depth=1..4 if mode", "the condition 'mode': write if NAME=VALUE, or NAME=VALUE,VALUE"),
    ("depth=1..4 if mode=b", "its condition needs a parameter with choices before it, and mode"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_a_wrong_parameter_is_named_with_what_to_write(text: str, message: str) -> None:
    """The option, the text and the reason."""
    with pytest.raises(InputError) as caught:
        make_space([text])
    assert str(caught.value).startswith(f"--param {text!r}: {message}")


def test_parameters_that_do_not_go_together() -> None:
    """Twice the same name, a condition on a number or on what is never chosen, and too many."""
    for texts, message in (
        (["a=0..1", "a=0..2"], "--param 'a=0..2': a has a range already"),
        (["a=0..1", "b=0..2 if a=1"], "and a is none"),
        (["a=x,y", "b=0..2 if a=z"], "a is never z"),
        (["a=1,y", "b=0..2 if a=true"], "a is never true"),
        ([f"p{n}=0..1" for n in range(13)], "--param: from 1 to 12 of them, not 13"),
        ([], "--param: from 1 to 12 of them, not 0"),
    ):
        with pytest.raises(InputError) as caught:
            make_space(texts)
        assert message in str(caught.value)
