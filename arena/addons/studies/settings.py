"""List the settings that `arena tune` tries: the values of parameters, and a design over them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from arena.errors import InputError
from engine.errors import show
from engine.seeds import stream

Setting: TypeAlias = Mapping[str, Any]
Ranges: TypeAlias = "Mapping[str, str | Sequence[Any]] | Sequence[str]"
"""Ranges such as "0..5" or lists of values by name, or texts as `arena tune --param` has them."""

MOST_PARAMETERS: Final = 3
_MOST_VALUES = 32  # of a list
_STEPS = 200  # between the ends of a range, at most
_DIGITS = 3  # significant digits of a step, so that a value is short enough to type
_MOST = 1e12  # for an end of a range
_HOW = "write NAME=LOW..HIGH, NAME=LOW..HIGH:log, or NAME=A,B,C"


class Parameter(NamedTuple):
    """A parameter and its values in order; `is_range` says that they are steps of a range."""

    name: str
    values: tuple[Any, ...]
    is_range: bool = False

    def is_edge(self, value: Any) -> bool:
        """Return whether a value is an end of the range."""
        return self.is_range and value in (self.values[0], self.values[-1])


def read_parameters(ranges: Ranges) -> list[Parameter]:
    """Return one to three parameters; raises InputError.

    Between two whole numbers all values are whole; a number with a point allows fractions.

    >>> read_parameters(["patience=0..3"])
    [Parameter(name='patience', values=(0, 1, 2, 3), is_range=True)]
    >>> read_parameters({"mode": ["deep", True]})
    [Parameter(name='mode', values=('deep', True), is_range=False)]
    >>> (weight,) = read_parameters({"weight": "0.1..10.0:log"})
    >>> weight.values[:3], weight.values[100]
    ((0.1, 0.102, 0.105), 1.0)
    """
    if isinstance(ranges, Mapping):
        pairs = [*ranges.items()]
    elif isinstance(ranges, str) or not all(isinstance(one, str) for one in ranges):
        raise InputError('params: expected ranges by name, as in {"patience": "0..5"}')
    else:
        pairs = [(name.strip(), text) for name, _, text in (one.partition("=") for one in ranges)]
    names = [name for name, _ in pairs]
    if not 1 <= len(pairs) <= MOST_PARAMETERS:
        raise InputError(f"--param: from 1 to {MOST_PARAMETERS} of them, not {len(pairs)}")
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"--param: {twice[0]} has a range already")
    return [_read(name, values) for name, values in pairs]


def _read(name: str, values: str | Sequence[Any]) -> Parameter:
    place = f"--param {show(name)}"
    if isinstance(values, str):
        place = f"--param {show(f'{name}={values}')}"
        low, is_range, rest = values.partition("..")
        high, _, scale = rest.partition(":")
        words = [word.strip() for word in values.split(",")]
        made = _steps(place, low, high, scale) if is_range else [*map(_value, words)]
    else:
        is_range, made = "", [*values]
    if not name.isidentifier() or "" in made:
        raise InputError(f"{place}: {_HOW}")
    if not all(one is None or isinstance(one, str | int | float) for one in made):
        raise InputError(f"{place}: a value is a number, a text, true, false or null")
    if not is_range and not 2 <= len({*map(repr, made)}) == len(made) <= _MOST_VALUES:
        raise InputError(f"{place}: from 2 to {_MOST_VALUES} different values; {_HOW}")
    return Parameter(name, tuple(made), bool(is_range))


def _value(word: str) -> Any:
    """Return the value of a word: a number, true, false, null, or the word itself."""
    try:
        value = json.loads(word, parse_constant=str)
    except ValueError:
        return word
    return word if isinstance(value, list | dict) else value


def _steps(place: str, low: str, high: str, scale: str) -> list[Any]:
    """Return the values of a range, at most 201, with few digits."""
    ends = _value(low.strip()), _value(high.strip())
    if not all(type(end) in (int, float) and abs(end) <= _MOST for end in ends):
        raise InputError(f"{place}: {_HOW}")
    first, last = ends
    if not first < last:
        raise InputError(f"{place}: a range goes up, and {last:g} is not above {first:g}")
    if scale not in ("", "log") or (scale and first <= 0):
        raise InputError(f"{place}: the scale is :log, of a range above 0, or not given")
    whole = all(isinstance(end, int) for end in ends)
    inner = []
    for step in range(1, _STEPS):
        share = step / _STEPS
        at = first * (last / first) ** share if scale else first + (last - first) * share
        least = abs(at) if scale else last - first
        digits = _DIGITS - 1 - math.floor(math.log10(least)) if least else 0
        inner.append(round(at) if whole else round(at, digits))
    low_end, high_end = ends if whole else map(float, ends)
    between = (value for value in inner if low_end < value < high_end)
    return [low_end, *dict.fromkeys(between), high_end]


def count_settings(parameters: Sequence[Parameter]) -> int:
    """Return how many settings some parameters have."""
    return math.prod(len(one.values) for one in parameters)


def design(parameters: Sequence[Parameter], wanted: int, seed: int) -> list[Setting]:
    """Return `wanted` settings that fill the space: each part of every range has equally many.

    They are a Latin hypercube (McKay and others 1979), without the settings that come twice; and
    all settings if these are not more.

    >>> design(read_parameters(["patience=0..20"]), 3, seed=0)
    [{'patience': 3}, {'patience': 10}, {'patience': 17}]
    """
    if wanted >= count_settings(parameters):
        found: list[Setting] = [{}]
        for one in parameters:
            found = [{**setting, one.name: value} for setting in found for value in one.values]
        return found
    random, columns = stream(seed, "tune", "design"), []
    for number in range(len(parameters)):
        column = [*range(wanted)]
        if number:
            random.shuffle(column)
        columns.append(column)
    rows = [
        {
            one.name: one.values[int((at + 0.5) / wanted * len(one.values))]
            for one, at in zip(parameters, row, strict=True)
        }
        for row in zip(*columns, strict=True)
    ]
    return [row for number, row in enumerate(rows) if row not in rows[:number]]


def describe(setting: Setting) -> str:
    """Return a setting as text.

    >>> describe({"patience": 3.5, "mode": "deep"})
    "patience=3.5, mode='deep'"
    """
    return ", ".join(f"{name}={value!r}" for name, value in setting.items())
