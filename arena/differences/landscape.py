"""Estimate the Elo of settings other than the best one, as the search expects it.

All numbers are differences from the best setting, as the surrogate expects them from all games.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from arena.statistics.intervals import Z95, Estimate
from arena.statistics.sprt import elo_of
from arena.tournament.parameters import Parameter
from arena.tournament.search import Search
from arena.tournament.search_space import Point

_STEPS, _STEPS_OF_TWO = 41, 17  # of a parameter in a curve, and in a map of two
_EDGE = 1e-3  # of a score from 0 or 1, so that it has an Elo


class Spot(NamedTuple):
    """A value of a parameter, with the others as in the best setting, and its Elo from that."""

    value: Any
    elo: Estimate


class Map(NamedTuple):
    """Elo from the best setting by the values of two parameters, row by row of the second."""

    first: str
    second: str
    cells: Sequence[tuple[Any, Any, float]]


class Landscape:
    """The expected Elo differences between settings and the best one."""

    def __init__(self, search: Search, best: Point) -> None:
        self.search = search
        self.space = search.space
        self.best = best
        self.reference = search.encode([best])[0]
        mean, _ = search.surrogate.predict(search.encode([best]))
        self.level = float(mean[0])

    def elos(self, points: Sequence[Point], errors_wide: float = Z95) -> list[Estimate]:
        """Return the Elo of points from the best one; intervals reach `errors_wide` errors away."""
        means, errors = self.search.surrogate.compare(self.search.encode(points), self.reference)
        half = errors_wide * errors
        ends = zip(*((means + side * half).tolist() for side in (0, -1, 1)), strict=True)
        return [Estimate(*map(self._at, leads)) for leads in ends]

    def _at(self, lead: float) -> float:
        ends = (min(1 - _EDGE, max(_EDGE, score)) for score in (self.level + lead, self.level))
        there, here = map(elo_of, ends)
        return round(there - here, 1) + 0.0

    def curve(self, one: Parameter) -> Iterator[Spot]:
        """Yield the values of a parameter, with the others as in the best setting."""
        place = self.space.parameters.index(one)
        points = [*dict.fromkeys([*self._line(one), self.best])]
        points.sort(key=lambda point: point[place])
        for point, elo in zip(points, self.elos(points), strict=True):
            yield Spot(one.value(point[place]), elo)

    def worst(self, one: Parameter, errors_wide: float) -> Estimate:
        """Return the Elo of the value of a parameter that is expected to be its worst."""
        return min(self.elos(self._line(one), errors_wide), key=lambda elo: elo.value)

    def _line(self, one: Parameter) -> list[Point]:
        place = self.space.parameters.index(one)
        return [self._moved({place: coordinate}) for coordinate in one.steps(_STEPS)]

    def map(self, first: Parameter, second: Parameter) -> Map:
        """Return the Elo by the values of two parameters."""
        places = [self.space.parameters.index(one) for one in (first, second)]
        steps = [
            sorted({*one.steps(_STEPS_OF_TWO), self.best[place]})
            for one, place in zip((first, second), places, strict=True)
        ]
        both = [(x, y) for y in steps[1] for x in steps[0]]
        elos = self.elos([self._moved(dict(zip(places, two, strict=True))) for two in both])
        values = ((first.value(x), second.value(y)) for x, y in both)
        cells = [(*two, elo.value) for two, elo in zip(values, elos, strict=True)]
        return Map(first.name, second.name, cells)

    def _moved(self, coordinates: Mapping[int, float]) -> Point:
        point = [coordinates.get(place, old) for place, old in enumerate(self.best)]
        return self.space.snap(point)
