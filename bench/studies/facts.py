"""What landscapes look like: their ranges, the places of the best, and how sure they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from arena.statistics.distributions import Floats
from arena.statistics.ratings import ELO
from bench.studies.families import FAMILIES, PANEL, SEED, Family
from bench.studies.landscapes import load
from bench.studies.surfaces import Surface
from bench.studies.tables import Table

NEAR: Final = 5.0  # Elo points
_PLACES: Final = 20_000
_AGAIN: Final = 16  # settings of a model that play real games again
_DEALS: Final = 1500


def facts(name: str) -> Iterator[str]:
    """Yield sentences about a landscape."""
    landscape = load(name)
    family = FAMILIES[name]
    if isinstance(landscape, Table):
        yield from _table(landscape, family)
    elif isinstance(landscape, Surface):
        yield from _surface(landscape, family)


def _table(table: Table, family: Family) -> Iterator[str]:
    best = int(table.elos.argmax())
    below = table.elos[best] - table.elos
    near = np.flatnonzero(below <= NEAR)
    scores = table.quarters / 4
    yield f"{table.name}: {len(below)} settings, {len(scores):,} deals each"
    yield f"  range {below.max():.0f} Elo, median {np.median(below):.0f} below the best"
    yield f"  the best: {_words(family, table.places[best])}"
    yield f"  within {NEAR:g} Elo: {len(near)} settings, {_box(family, table.places[near])}"
    differences = scores - scores[:, [best]]
    errors = _error(differences) * _slope(scores[:, best].mean())
    hot = np.flatnonzero((below > 0) & (below <= 20))
    yield (
        f"  standard error of a difference to the best, settings within 20 Elo: "
        f"{errors[hot].mean():.1f} Elo (far ones: {errors[below > 100].mean():.1f})"
    )
    if not np.array_equal(table.raw, table.quarters):
        moved = (table.raw.mean(0) - table.quarters.mean(0)) / 4 * _slope(0.5)
        part = (table.raw != table.quarters).mean()
        yield f"  smoothed by {moved.std():.1f} Elo: {part:.2%} of the scores changed by a quarter"
    correlations = np.asarray(np.corrcoef(scores.T))
    apart = np.abs(table.places - table.places[best]).sum(1)
    beside = np.argsort(apart, kind="stable")[1 : 1 + 2 * table.dims]
    any_two = correlations[np.triu_indices(len(correlations), 1)]
    yield (
        f"  correlation of pair scores: the best and its neighbours "
        f"{correlations[best, beside].mean():.2f}, any two settings {np.nanmean(any_two):.2f}"
    )


def _surface(surface: Surface, family: Family) -> Iterator[str]:
    rng = np.random.default_rng(SEED)
    places = rng.random((_PLACES, surface.dims))
    top = float(surface.shares(surface.best[None, :])[0])
    below = np.array([surface.regret(place) for place in places[:2000]])
    yield f"{surface.name}: a model of {family.settings} settings, {family.deals:,} deals"
    yield f"  range {below.max():.0f} Elo, median {np.median(below):.0f} below the best"
    yield f"  the best: {_words(family, surface.best)}, {top:.1%} of the score"
    local = np.clip(surface.best + rng.normal(0, 0.15, places.shape), 0, 1)
    regrets = np.array([surface.regret(place) for place in local[:5000]])
    near = local[:5000][regrets <= NEAR]
    yield f"  within {NEAR:g} Elo: {(below <= NEAR).mean():.2%} of the space, {_box(family, near)}"
    for number, parameter in enumerate(family.parameters):
        line = np.tile(surface.best, (101, 1))
        line[:, number] = np.linspace(0, 1, 101)
        inside = line[[surface.regret(place) <= NEAR for place in line], number]
        yield f"  {parameter.name} by itself: {inside.min():.2f} to {inside.max():.2f} of its range"
    slope = _slope(top)
    yield (
        f"  noise of a recorded mean {surface.mean.noise * slope:.1f} Elo, standard error of the "
        f"mean at the recorded settings {surface.mean.error * slope:.1f} Elo"
    )
    spots = surface.best + np.array([0.02, 0.05, 0.1, 0.2])[:, None] / np.sqrt(surface.dims)
    fields = surface.luck.fields(surface.best[None, :], spots)[0]
    words = ", ".join(f"{share:.2f}" for share in surface.luck.scores(fields))
    yield f"  correlation of pair scores at a distance of 0.02, 0.05, 0.1, 0.2: {words}"
    any_two = surface.luck.scores(surface.luck.fields(places[:500], places[500:1000])).mean()
    yield f"  of any two settings {any_two:.2f}"
    yield _again(surface, family, near)


def _again(surface: Surface, family: Family, near: Floats) -> str:
    """Return how far real games on other deals are from the model near its best."""
    rng = np.random.default_rng(SEED)
    around = np.clip(surface.best + rng.normal(0, 0.1, (_AGAIN, surface.dims)), 0, 1)
    some = near[rng.permutation(len(near))[: _AGAIN - 1]]
    places = np.vstack([surface.best, some, around])
    scores = family.play(places, SEED + 1, range(_DEALS)) / 4
    slope = _slope(float(scores[:, 0].mean()))
    rest = (scores.mean(0) - surface.shares(places)) * slope
    error = _error(scores - scores.mean(1, keepdims=True)) * slope

    def wrong(part: slice) -> float:
        return float(np.sqrt(max(0.0, rest[part].var(ddof=1) - (error[part] ** 2).mean())))

    inner, outer = slice(0, 1 + len(some)), slice(1 + len(some), None)
    return (
        f"  on {_DEALS:,} other deals, beside the noise of {error.mean():.1f} Elo, the model is "
        f"wrong by {wrong(inner):.1f} among {1 + len(some)} settings within {NEAR:g} Elo, by "
        f"{wrong(outer):.1f} at {len(around)} that are 0.1 away in each parameter, where it is "
        f"{rest[inner].mean() - rest[outer].mean():+.1f} Elo too high in comparison; its best is "
        f"{rest[0] - rest[inner].mean():+.1f} beside those near it"
    )


def _error(differences: Floats) -> Floats:
    """Return standard errors of means over deals against the panel in turn."""
    parts = [differences[side :: len(PANEL)].var(0, ddof=1) for side in range(len(PANEL))]
    return np.asarray(np.sqrt(np.mean(parts, axis=0) / len(differences)))


def _slope(share: float) -> float:
    return float(ELO / (share * (1 - share)))


def _words(family: Family, place: Floats) -> str:
    values = family.values(place[None, :])[0]
    return ", ".join(
        f"{parameter.name} {value:.2f} of {parameter.low:g}..{parameter.high:g}"
        for parameter, value in zip(family.parameters, values, strict=True)
    )


def _box(family: Family, places: Floats) -> str:
    values = family.values(places)
    return ", ".join(
        f"{parameter.name} {column.min():.2f} to {column.max():.2f}"
        for parameter, column in zip(family.parameters, values.T, strict=True)
    )
