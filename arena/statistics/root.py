"""Root: where a function of one number is 0."""

from __future__ import annotations

from collections.abc import Callable

_MOST_STEPS = 200  # halving alone needs about 60


def find_root(
    function: Callable[[float], float], low: float, high: float, tolerance: float
) -> float:
    """Return where a continuous function is 0, to a tolerance above 0.

    Its values at `low` and `high` have different signs, or are 0. Each step goes to where the
    inverse parabola through the last three places is 0 if that is sure to be near, and else
    to the middle. Source: Chandrupatla 1997.

    >>> round(find_root(lambda x: x**2 - 2, 0.0, 2.0, 1e-9), 6)
    1.414214
    """
    before, last = low, high
    at_before, at_last = function(before), function(last)
    if at_before == 0 or at_last == 0:
        return before if at_before == 0 else last
    part = 0.5  # of the way from the last place to the one before
    for _ in range(_MOST_STEPS):
        place = last + part * (before - last)
        at_place = function(place)
        if (at_place > 0) == (at_last > 0):
            third, at_third = last, at_last
        else:
            third, at_third = before, at_before
            before, at_before = last, at_last
        last, at_last = place, at_place
        width = abs(before - last)
        if at_last == 0 or width <= 2 * tolerance:
            break
        part = _part((last, before, third), (at_last, at_before, at_third))
        part = min(1 - tolerance / width, max(tolerance / width, part))
    return last if abs(at_last) < abs(at_before) else before


def _part(places: tuple[float, float, float], values: tuple[float, float, float]) -> float:
    """Return which part of the way from the first place to the second to go."""
    (a, b, c), (fa, fb, fc) = places, values
    where, height = (a - b) / (c - b), (fa - fb) / (fc - fb)
    if height**2 < where and (1 - height) ** 2 < 1 - where:
        return fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    return 0.5
