"""What is recorded: bots with the ranges of their parameters, and the panel that they meet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import scipy

from arena.statistics.distributions import Floats
from bench.studies.branching import (
    Bots,
    Crowd,
    Halves,
    Indices,
    KeptGreedy,
    KeptPromise,
    play_deals,
)
from bench.studies.smoothing import Smooth, smooth
from bench.studies.weigher import WEIGHTS, Weighers
from bots.city_hunter import CityHunter
from bots.denier import Denier
from bots.majority import Majority
from bots.timing import Timing
from engine import Setup, Strategy
from engine.play import setup

SEED: Final = 3030
PANEL: Final = ("majority", "denier", "timing")
_STAGES: Final = 3
_TRIED: Final = 15  # base 2 logarithm of the places that a stage chooses from
_SLOPE: Final = 0.025  # share of the score that makes a place e times as likely
_SETUP: Final[Setup] = setup(0, 0)  # no bot here uses its luck or its seat

_Promising: TypeAlias = Majority | Timing | Denier
Makers: TypeAlias = Callable[[Floats, KeptPromise], Crowd]


class Parameter(NamedTuple):
    """A parameter and its range; `points` are those of its lattice, 0 if it has none."""

    name: str
    low: float
    high: float
    points: int = 0


class Recorded(NamedTuple):
    """Real pairs: `quarters` that they scored, a row for each deal.

    `numbers` says which of the `places` have scored them: one row for all deals, or one for each.
    """

    places: Floats
    numbers: Indices
    quarters: Halves


class Family(NamedTuple):
    """A bot with some parameters, and how much of it is recorded.

    On a lattice every setting plays every deal. Without one there are `settings`: half of them fill
    the space, and then twice a quarter is drawn where a model of those before is high. So many of
    them as `together` play each deal.
    """

    parameters: tuple[Parameter, ...]
    deals: int
    crowd: Makers
    settings: int = 0
    together: int = 0

    def lattice(self) -> Floats:
        """Return all settings of the lattice, in the unit cube, a row each."""
        axes = [np.linspace(0, 1, parameter.points) for parameter in self.parameters]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))

    def values(self, places: Floats) -> Floats:
        """Return the parameters of some places of the unit cube."""
        low = np.array([parameter.low for parameter in self.parameters])
        high = np.array([parameter.high for parameter in self.parameters])
        return np.asarray(low + places * (high - low))

    def play(self, places: Floats, seed: int, deals: range) -> Halves:
        """Play real games: the quarters that each pair scored, a row for each deal."""
        promise = KeptPromise()
        crowd = self.crowd(self.values(places), promise)
        return play_deals(crowd, _panel(promise), seed, deals)

    def record(self) -> Recorded:
        """Play all that is to be recorded."""
        if self.settings:
            return self._record_space()
        places = self.lattice()
        quarters = self.play(places, SEED, range(self.deals))
        return Recorded(places, np.arange(len(places))[None, :], quarters)

    def _record_space(self) -> Recorded:
        rng = np.random.default_rng(SEED)
        tried = scipy.stats.qmc.Sobol(len(self.parameters), rng=rng).random_base2(_TRIED)
        places, old = tried[: self.settings // 2], 0
        found = self._play_stage(0, places, old, rng)
        for stage in range(1, _STAGES):
            old = len(places)
            odds = np.exp((smooth_recorded(found).at(tried) - 0.5) / _SLOPE)
            more = rng.choice(len(tried), self.settings // 4, replace=False, p=odds / odds.sum())
            places = np.vstack([places, tried[more]])
            new = self._play_stage(stage, places, old, rng)
            numbers = np.vstack([found.numbers, new.numbers])
            found = Recorded(places, numbers, np.vstack([found.quarters, new.quarters]))
        return found

    def _play_stage(
        self, stage: int, places: Floats, old: int, rng: np.random.Generator
    ) -> Recorded:
        """Play a stage's deals, mostly with the settings that are not among the old ones."""
        rows, quarters = [], []
        deals = self.deals // _STAGES
        for first in range(stage * deals, (stage + 1) * deals, len(PANEL)):
            known = rng.permutation(old)[: self.together // 4]
            new = old + rng.permutation(len(places) - old)[: self.together - len(known)]
            some = np.concatenate([known, new]).astype(np.intp)
            rows += [some] * len(PANEL)
            quarters.append(self.play(places[some], SEED, range(first, first + len(PANEL))))
        return Recorded(places, np.array(rows), np.concatenate(quarters))


def smooth_recorded(found: Recorded) -> Smooth:
    """Return a model of the shares of the score of the recorded settings."""
    numbers = found.numbers.ravel()
    played = np.bincount(numbers, minlength=len(found.places))
    total = np.bincount(numbers, found.quarters.ravel(), len(found.places))
    return smooth(found.places, total / played / 4)


def _panel(promise: KeptPromise) -> Sequence[Strategy]:
    return _share([Majority(_SETUP), Denier(_SETUP), Timing(_SETUP)], promise)


def _share(bots: Sequence[_Promising], promise: KeptPromise) -> Sequence[_Promising]:
    for bot in bots:
        bot.promise = promise
    return bots


def _majority(values: Floats, promise: KeptPromise) -> Crowd:
    return Bots(_share([Majority(_SETUP, *row) for row in values.tolist()], promise), [promise])


def _timing(values: Floats, promise: KeptPromise) -> Crowd:
    return Bots(_share([Timing(_SETUP, *row) for row in values.tolist()], promise), [promise])


def _denier(values: Floats, promise: KeptPromise) -> Crowd:
    return Bots(_share([Denier(_SETUP, *row) for row in values.tolist()], promise), [promise])


def _greedy(values: Floats, promise: KeptPromise) -> Crowd:
    bots = [KeptGreedy(_SETUP, *row) for row in values.tolist()]
    return Bots(bots, [promise, KeptGreedy])


def _city_hunter(values: Floats, promise: KeptPromise) -> Crowd:
    hunts = {city: KeptPromise(city=city) for city in values[:, 0].tolist()}
    bots = [CityHunter(_SETUP, *row) for row in values.tolist()]
    for bot, city in zip(bots, values[:, 0].tolist(), strict=True):
        bot.promise = hunts[city]
    return Bots(bots, [promise, *hunts.values()])


class _WeighersBeside(Weighers):
    """Weighers whose opponents have a promise to forget."""

    def __init__(self, weights: Floats, promise: KeptPromise) -> None:
        super().__init__(weights)
        self.promise = promise

    def forget(self) -> None:
        """Forget what was worked out for one deal."""
        super().forget()
        self.promise.forget()


_SIX: Final = (
    Parameter("majorities", 0.0, 4.5),
    Parameter("sets", -1.0, 4.0),
    Parameter("cities", -3.0, 5.0),
    Parameter("patience", 0.0, 22.0),
    Parameter("denial", 0.2, 2.4),
    Parameter("own", -0.8, 0.8),
)
_FIXED: Final[Mapping[str, float]] = {"sets": 1.0, "own": 0.1}


def _weigher(names: Sequence[str]) -> Makers:
    def crowd(values: Floats, promise: KeptPromise) -> Crowd:
        weights = np.empty((len(values), len(WEIGHTS)))
        for column, name in enumerate(WEIGHTS):
            weights[:, column] = values[:, names.index(name)] if name in names else _FIXED[name]
        return _WeighersBeside(weights, promise)

    return crowd


_FOUR: Final = tuple(parameter for parameter in _SIX if parameter.name not in _FIXED)
_FOUR_NAMES: Final = [parameter.name for parameter in _FOUR]

FAMILIES: Mapping[str, Family] = {
    "greedy": Family((Parameter("patience", 0, 20, 41),), 6000, _greedy),
    "majority": Family((Parameter("patience", 0, 20, 41),), 6000, _majority),
    "timing": Family((Parameter("patience", 0, 10, 41),), 6000, _timing),
    "city_hunter": Family(
        (Parameter("city", -8, 16, 17), Parameter("patience", 0, 14, 21)), 2400, _city_hunter
    ),
    "denier": Family(
        (Parameter("greed", 0, 2, 15), Parameter("patience", 0, 14, 21)), 3000, _denier
    ),
    "weigher4": Family(_FOUR, 2160, _weigher(_FOUR_NAMES), 512, 128),
    "weigher6": Family(_SIX, 2880, _weigher(WEIGHTS), 512, 128),
}
