"""Define the search space of `arena tune`: parameters, and the points of a unit cube.

A **point** has a coordinate from 0 to 1 for each parameter; a **setting** has the values, by name,
that a bot gets for it. A parameter whose condition does not hold is not in the setting.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from arena.errors import InputError
from arena.tournament.parameters import Condition, Parameter, parse_parameter, place_of, write_value
from engine.errors import show

Setting: TypeAlias = Mapping[str, Any]
Point: TypeAlias = tuple[float, ...]

MOST_PARAMETERS: Final = 12
MIDDLE: Final = 0.5
"""The coordinate of a parameter whose condition does not hold."""


class Space(NamedTuple):
    """All settings of some parameters."""

    parameters: tuple[Parameter, ...]

    def snap(self, point: Sequence[float]) -> Point:
        """Return the standard point of the setting at a point: equal settings give equal points.

        >>> space = make_space(["patience=0..4", "mode=a,b", "depth=1..3 if mode=b"])
        >>> space.snap([0.3, 0.1, 0.9])
        (0.25, 0.25, 0.5)
        """
        return self.point(self.setting(point))

    def setting(self, point: Sequence[float]) -> dict[str, Any]:
        """Return the setting at a point: the values of the parameters whose conditions hold.

        >>> make_space(["patience=0..4", "mode=a,b", "depth=1..3 if mode=b"]).setting([1, 0.1, 1])
        {'patience': 4, 'mode': 'a'}
        """
        setting: dict[str, Any] = {}
        for one, coordinate in zip(self.parameters, point, strict=True):
            if self._is_used(one, setting):
                setting[one.name] = one.value(coordinate)
        return setting

    def point(self, setting: Setting) -> Point:
        """Return the point of a setting."""
        return tuple(
            [
                one.coordinate(setting[one.name]) if one.name in setting else MIDDLE
                for one in self.parameters
            ]
        )

    def edges(self, setting: Setting) -> Iterator[Parameter]:
        """Yield the parameters whose value is at an end of their range.

        >>> [one.name for one in make_space(["a=0..4", "b=0..4"]).edges({"a": 4, "b": 3})]
        ['a']
        """
        for one in self.parameters:
            if one.is_number and setting.get(one.name) in (one.low, one.high):
                yield one

    def _is_used(self, one: Parameter, setting: Setting) -> bool:
        when = one.condition
        return when is None or (when.name in setting and when.holds(setting[when.name]))

    @property
    def features(self) -> list[tuple[int, ...]]:
        """The indices in the result of `encode` that belong to each parameter."""
        found, start = [], 0
        for one in self.parameters:
            size = len(one.choices) or 1
            found.append(tuple(range(start, start + size)))
            start += size
        return found

    def encode(self, point: Sequence[float]) -> list[float]:
        """Encode a point for a model of distances: one number for a range, one for each choice.

        The distance between two choices equals that between the ends of a range.
        """
        setting, numbers = self.setting(point), []
        for one, coordinate in zip(self.parameters, point, strict=True):
            if one.is_number:
                numbers.append(coordinate if one.name in setting else MIDDLE)
                continue
            chosen = place_of(one.choices, setting[one.name]) if one.name in setting else -1
            numbers += [math.sqrt(0.5) * (place == chosen) for place in range(len(one.choices))]
        return numbers


def make_space(texts: Sequence[str]) -> Space:
    """Parse parameters with `parse_parameter` into a space.

    Raises InputError, also for a condition on anything but an earlier parameter with choices.
    """
    parameters = [parse_parameter(text) for text in texts]
    if not 1 <= len(parameters) <= MOST_PARAMETERS:
        raise InputError(f"--param: from 1 to {MOST_PARAMETERS} of them, not {len(parameters)}")
    known: dict[str, Parameter] = {}
    for text, one in zip(texts, parameters, strict=True):
        if one.name in known:
            raise InputError(f"--param {show(text)}: {one.name} has a range already")
        if one.condition:
            _check_condition(text, one.condition, known)
        known[one.name] = one
    return Space(tuple(parameters))


def _check_condition(text: str, when: Condition, known: Mapping[str, Parameter]) -> None:
    """Raise InputError if a condition does not name a choice of an earlier parameter."""
    if when.name not in known or known[when.name].is_number:
        raise InputError(
            f"--param {show(text)}: its condition needs a parameter with choices before it, "
            f"and {when.name} is none"
        )
    for value in when.values:
        try:
            place_of(known[when.name].choices, value)
        except ValueError:
            raise InputError(
                f"--param {show(text)}: {when.name} is never {write_value(value)}"
            ) from None
