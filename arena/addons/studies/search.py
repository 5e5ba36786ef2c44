"""Decide which settings of a bot `arena tune` tries next, out of all that it may try."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice, product
from random import Random
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from arena.addons.studies.parameters import (
    Condition,
    Parameter,
    parse_parameter,
    place_of,
    write_value,
)
from arena.addons.studies.surrogate import CommonLuck, Deals, Surrogate
from arena.errors import InputError
from arena.statistics.distributions import Floats
from engine.errors import show
from engine.seeds import stream

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


ROUNDS: Final = 10
"""Rounds of a search, if the budget has enough pairs for them."""

_FIRST_SHARE = 0.25  # of the budget, for the first round
_CANDIDATES = 5  # of a later round
_LEAST_DEALS = 4  # of a candidate against each opponent
_DRAWN, _ANY = 16, 24  # points that are compared: best in a posterior draw, and any
_HOPES = 40  # further points that may be the best one after a round
_FUTURES = 48  # simulated outcomes of a round
_MOST_STEPS = 401  # of one parameter
_MOST_LISTED = 1_000  # settings; up to this many, all are considered
_RANDOM = 200  # random points that are considered if there are more settings
_NEAR = 25  # points at each distance from the best one
_FILL, _FILL_EACH = 4, 3  # points of the first round: in any case, and for each parameter
_SHRINKS = (0.2, 0.1, 0.05, 0.02)


class Batch(NamedTuple):
    """The points that a round tries, and the number of deals of each against each opponent."""

    points: Sequence[Point]
    deals: int


def least_budget(space: Space, opponents: int) -> int:
    """Return the fewest pairs with which each point of a search's first round gets a few deals.

    >>> from arena.addons.studies.search import make_space
    >>> least_budget(make_space(["patience=0..20"]), opponents=3)
    336
    """
    return math.ceil(_first_points(space) * _LEAST_DEALS / _FIRST_SHARE) * opponents


def _first_points(space: Space) -> int:
    return _FILL + _FILL_EACH * len(space.parameters)


class Search:
    """Decides round by round which points to try, as a function of all scores so far.

    `budget` is the number of pairs in all, against all `opponents` together. The number of the
    round is the number of rounds whose scores it has received.
    """

    def __init__(self, space: Space, budget: int, opponents: int, seed: int) -> None:
        self.space = space
        self.deals = budget // opponents  # of all candidates together
        self.seed = seed
        self.number = 0
        self.rounds: list[Deals] = []  # without rounds in which all points failed
        self.tried: list[Point] = []
        self.failed: set[Point] = set()
        self.spent = 0

    def next(self) -> Batch | None:
        """Return the points of the next round, None if the budget is spent."""
        number, left = self.number, self.deals - self.spent
        if number >= ROUNDS or left < 2 * _LEAST_DEALS:
            return None
        if number == 0:
            points = self._fill()
            return Batch(points, max(1, int(left * _FIRST_SHARE) // len(points)))
        share = left // (ROUNDS - number)
        points = self._draw(max(2, min(_CANDIDATES, share // _LEAST_DEALS)), share)
        if len(points) < 2:
            return None
        return Batch(points, max(1, share // len(points)))

    def tell(self, batch: Batch, scores: Floats, failed: Collection[int] = ()) -> None:
        """Add the scores of a round, shape (points, opponents, deals), nan for uncounted deals.

        The points whose numbers are `failed` are not tried again, and their scores do not count.
        """
        self.number += 1
        self.spent += len(batch.points) * batch.deals
        self.failed |= {batch.points[number] for number in failed}
        kept = [n for n in range(len(batch.points)) if n not in failed]
        points = [batch.points[n] for n in kept]
        if points:
            self.rounds.append(Deals(self.encode(points), scores[kept]))
        self.tried += points
        for known in ("luck", "surrogate"):
            vars(self).pop(known, None)

    def best(self) -> Point:
        """Return the point with the highest expected score, even if it was never tried."""
        random = stream(self.seed, "tune", "best")
        return self._refine(self._best(self._look(random)), random)

    @cached_property
    def luck(self) -> CommonLuck:
        """The model of the scores' errors, fitted to all rounds."""
        return CommonLuck(self.rounds)

    @cached_property
    def surrogate(self) -> Surrogate:
        """The surrogate model of the score of all points."""
        points = np.concatenate([one.points for one in self.rounds])
        means = np.concatenate([one.means() for one in self.rounds])
        covariance = np.zeros((len(points), len(points)))
        start = 0
        for of_round in map(self.luck.of_round, self.rounds):
            end = start + len(of_round)
            covariance[start:end, start:end] = of_round
            start = end
        return Surrogate(points, means, covariance, self.space.features)

    def encode(self, points: Sequence[Point]) -> Floats:
        """Return points in the encoding of the surrogate."""
        return np.array([self.space.encode(point) for point in points])

    def _best(self, points: Sequence[Point]) -> Point:
        means, _ = self.surrogate.predict(self.encode(points))
        return points[int(np.argmax(means))]

    def _refine(self, best: Point, random: Random) -> Point:
        """Return a nearby point with a higher expected score, if there is one, else this point."""
        for shrink in _SHRINKS if self._list() is None else ():
            best = self._best([best, *self._near(best, shrink, random)])
        return best

    def _fill(self) -> list[Point]:
        """Return a space-filling design, in which each parameter has its values equally often."""
        count, wanted = len(self.space.parameters), _first_points(self.space)
        listed = self._list()
        if listed is not None and len(listed) <= wanted:
            return listed
        random = stream(self.seed, "tune", 0)
        columns = []
        for _ in range(count):
            column = [(n + 0.5) / wanted for n in range(wanted)]
            random.shuffle(column)
            columns.append(column)
        return self._distinct(zip(*columns, strict=True))

    def _draw(self, wanted: int, share: int) -> list[Point]:
        """Return the most informative points about the best one, for `share` deals in all."""
        random = stream(self.seed, "tune", self.number)
        points = self._look(random)
        encoded = self.encode(points)
        means, errors = self.surrogate.predict(encoded)
        draws = islice(self.surrogate.draw(encoded, random), _DRAWN)
        drawn = [int(np.argmax(values)) for values in draws]
        some = [*dict.fromkeys([*drawn, *(random.randrange(len(points)) for _ in range(_ANY))])]
        hopes = np.argsort(-means - 2 * errors, kind="stable")[:_HOPES].tolist()
        pool = [*dict.fromkeys([int(np.argmax(means)), *some, *hopes])]
        ahead = self.surrogate.look_ahead(encoded[pool], random, _FUTURES)
        deals = max(1, share // wanted)
        chosen, left = [0], [pool.index(n) for n in some if n != pool[0]]
        while left and len(chosen) < wanted:
            batches = [[*chosen, more] for more in left]
            gains = [
                ahead.gain(b, self.luck.expect(encoded[[pool[n] for n in b]], deals))
                for b in batches
            ]
            chosen.append(left.pop(int(np.argmax(gains))))
        return [points[pool[n]] for n in chosen]

    def _look(self, random: Random) -> list[Point]:
        """Return the points to consider: all if they are few."""
        listed = self._list()
        if listed is not None:
            return listed
        count = len(self.space.parameters)
        best = self._refine(self._best(self.tried), random)
        found = [[random.random() for _ in range(count)] for _ in range(_RANDOM)]
        near = [point for shrink in _SHRINKS for point in self._near(best, shrink, random)]
        return self._distinct([*self.tried, best, *found, *near])

    def _near(self, point: Point, shrink: float, random: Random) -> list[Point]:
        """Return random points near one: each coordinate may move, a choice rarely."""
        return self._distinct(
            [
                random.random()
                if not one.is_number and random.random() < shrink
                else min(1.0, max(0.0, coordinate + one.is_number * random.gauss(0, shrink)))
                for one, coordinate in zip(self.space.parameters, point, strict=True)
            ]
            for _ in range(_NEAR)
        )

    def _list(self) -> list[Point] | None:
        """Return all points, None if they are too many."""
        steps = [one.steps(_MOST_STEPS) for one in self.space.parameters]
        if math.prod(map(len, steps)) > _MOST_LISTED:
            return None
        return self._distinct(product(*steps))

    def _distinct(self, points: Iterable[Sequence[float]]) -> list[Point]:
        """Return points snapped to settings, without duplicates and failed points."""
        snapped = dict.fromkeys(map(self.space.snap, points))
        return [point for point in snapped if point not in self.failed]
