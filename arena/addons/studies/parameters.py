"""Define a parameter that `arena tune` varies: its range or choices, and its condition.

Every value has a coordinate from 0 to 1. Whole numbers and choices are steps of the coordinate;
other numbers are rounded to few digits, so that the result is short enough to type.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from arena.errors import InputError
from engine.errors import show

_MOST_CHOICES = 32
_MOST = 1e12  # for a number in a range
_FINENESS = 200  # rounded numbers in a range, at least
_LOG_DIGITS = 3
_HOW = "write NAME=LOW..HIGH, with :log for a logarithmic range, or NAME=A,B,C"
_PARAMETER = re.compile(
    r"\s*(?P<name>[A-Za-z_]\w*)\s*=(?P<values>.*?)(?:\s+if\s(?P<when>.*))?", re.S
)
_RANGE = re.compile(r"\s*(?P<low>\S+?)\s*\.\.\s*(?P<high>\S+?)\s*(?::\s*(?P<scale>\w*)\s*)?")
_WHOLE = re.compile(r"-?\d{1,12}")


class Condition(NamedTuple):
    """The condition that another parameter, one with choices, has one of these values."""

    name: str
    values: tuple[Any, ...]

    def holds(self, value: Any) -> bool:
        """Return whether the other parameter's value is one of these."""
        return any(type(one) is type(value) and one == value for one in self.values)


class Parameter(NamedTuple):
    """One parameter: a range of numbers, or some choices, and the condition for its use.

    With `whole`, only whole numbers are tried; with `log`, the range has a logarithmic scale.
    """

    name: str
    low: float = 0.0
    high: float = 0.0
    whole: bool = False
    log: bool = False
    choices: tuple[Any, ...] = ()
    condition: Condition | None = None

    @property
    def is_number(self) -> bool:
        """Whether it has a range."""
        return not self.choices

    def value(self, coordinate: float) -> Any:
        """Return the value at a coordinate.

        >>> parse_parameter("weight=0.1..10:log").value(0.5)
        1.0
        """
        if self.choices:
            place = min(len(self.choices) - 1, int(coordinate * len(self.choices)))
            return self.choices[place]
        low, high = self._ends
        number = low + min(1.0, max(0.0, coordinate)) * (high - low)
        number = math.exp(number) if self.log else number
        rounded = round(number) if self.whole else self._round(number)
        value = min(self.high, max(self.low, rounded))
        return int(value) if self.whole else float(value)

    def coordinate(self, value: Any) -> float:
        """Return the coordinate of a value of the parameter."""
        if self.choices:
            return (place_of(self.choices, value) + 0.5) / len(self.choices)
        low, high = self._ends
        return ((math.log(value) if self.log else value) - low) / (high - low)

    def steps(self, most: int) -> list[float]:
        """Return the coordinates of all its values, or of `most` evenly spaced ones if more."""
        if self.choices:
            return [self.coordinate(value) for value in self.choices]
        if self.whole and self.high - self.low < most:
            return [self.coordinate(n) for n in range(int(self.low), int(self.high) + 1)]
        found = (self.coordinate(self.value(n / (most - 1))) for n in range(most))
        return [*dict.fromkeys(found)]

    @property
    def _ends(self) -> tuple[float, float]:
        return (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)

    def _round(self, number: float) -> float:
        """Round a number to as few digits as still distinguish neighbours in the range."""
        if self.log:
            digits = _LOG_DIGITS - 1 - math.floor(math.log10(number))
        else:
            digits = -math.floor(math.log10((self.high - self.low) / _FINENESS))
        return round(number, digits)

    def __str__(self) -> str:
        """Return its text, which `parse_parameter` reads."""
        if self.choices:
            values = write_choices(self.choices)
        else:
            ends = (f"{int(end)}" if self.whole else repr(end) for end in (self.low, self.high))
            values = "..".join(ends) + (":log" if self.log else "")
        when = self.condition
        more = f" if {when.name}={write_choices(when.values)}" if when else ""
        return f"{self.name}={values}{more}"


def parse_parameter(text: str) -> Parameter:
    """Parse a parameter such as patience=0..5; raises InputError.

    If both ends are whole numbers, so are the values.

    >>> parse_parameter("mode=a,b").choices, parse_parameter("patience=0.0..5").value(0.123)
    (('a', 'b'), 0.61)
    >>> str(parse_parameter("depth=1..4 if mode = a"))
    'depth=1..4 if mode=a'
    """
    match = _PARAMETER.fullmatch(text)
    try:
        if not match or not match["values"].strip():
            raise InputError(_HOW)
        when = None if match["when"] is None else _parse_condition(match["when"])
        span = _RANGE.fullmatch(match["values"])
        if span:
            return _parse_range(match["name"], span)._replace(condition=when)
        choices = _parse_values(match["values"])
        if len(choices) < 2:
            raise InputError(f"one value leaves nothing to choose; {_HOW}")
        return Parameter(match["name"], choices=choices, condition=when)
    except InputError as error:
        raise InputError(f"--param {show(text)}: {error}") from None


def _parse_range(name: str, span: re.Match[str]) -> Parameter:
    ends = []
    for text in (span["low"], span["high"]):
        try:
            end = float(text)
        except ValueError:
            raise InputError(f"{show(text)} is not a number; {_HOW}") from None
        if not abs(end) <= _MOST:
            raise InputError(f"{show(text)} is not a number from {-_MOST:g} to {_MOST:g}")
        ends.append(end + 0.0)
    low, high = ends
    if span["scale"] not in (None, "log"):
        raise InputError(f"{show(span['scale'])} is no scale; write log, or nothing")
    if not low < high:
        raise InputError(f"a range goes up, and {high:g} is not above {low:g}")
    log = span["scale"] == "log"
    if log and low <= 0:
        raise InputError(f"a logarithmic range begins above 0, not at {low:g}")
    whole = all(_WHOLE.fullmatch(text) for text in (span["low"], span["high"]))
    return Parameter(name, low, high, whole, log)


def _parse_condition(text: str) -> Condition:
    name, equals, values = text.partition("=")
    if not equals or not name.strip().isidentifier():
        raise InputError(f"the condition {show(text)}: write if NAME=VALUE, or NAME=VALUE,VALUE")
    return Condition(name.strip(), _parse_values(values))


def _parse_values(text: str) -> tuple[Any, ...]:
    """Parse values separated by commas: numbers, true, false, null, and else texts."""
    words = [word.strip() for word in text.split(",")]
    if "" in words:
        raise InputError("a value is missing")
    values = tuple(map(_parse_value, words))
    if len(values) > _MOST_CHOICES:
        raise InputError(f"at most {_MOST_CHOICES} values, and there are {len(values)}")
    for n, value in enumerate(values):
        if place_of(values, value) < n:
            raise InputError(f"{words[n]} stands twice")
    return values


_NAMES: Final[dict[str, Any]] = {"true": True, "false": False, "null": None}


def _parse_value(word: str) -> Any:
    if word.lower() in _NAMES:
        return _NAMES[word.lower()]
    try:
        value = ast.literal_eval(word)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return word
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, int | float) and abs(value) <= _MOST:
        return value
    raise InputError(f"{show(word)} is neither a number, true, false, null nor a text")


def write_value(value: Any) -> str:
    """Write a value in the form for a list of choices.

    >>> write_value(True), write_value("deep"), write_value("1")
    ('true', 'deep', "'1'")
    """
    names = [name for name, known in _NAMES.items() if known is value]
    if names:
        return names[0]
    if isinstance(value, str):
        return value if _parse_value(value) == value else repr(value)
    return repr(value)


def write_choices(values: Sequence[Any]) -> str:
    """Write values as a list of choices."""
    return ",".join(map(write_value, values))


def place_of(values: Sequence[Any], value: Any) -> int:
    """Return the index of a value, distinguishing 1, 1.0 and true. Raises ValueError."""
    for place, one in enumerate(values):
        if type(one) is type(value) and one == value:
            return place
    raise ValueError(f"{value!r} is not one of the choices")
