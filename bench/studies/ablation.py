"""The intervals of `arena ablate`: how often they hold the true change."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from arena.addons.studies.ablation import COUNTED, MEASURES, difference
from arena.statistics.counts import RESULTS, WIN_TYPES
from arena.statistics.intervals import Ints

SEED = 13
RUNS = 1000
SHARED = 0.8
"""How often a game under the changed rules has the luck of the one under the base's."""

COLUMNS: Final = [*product((0, 1), WIN_TYPES, range(RESULTS))]
"""The counts of games, in order: by seat of the first bot, win type and result."""

_BY_NAME: Final = {measure.name: measure for measure in MEASURES}
_LEAD = 30  # points at most


class Setup(NamedTuple):
    """A run of some pairings and pairs; City shares under the base's rules and the changed ones.

    They are those of the middle pairing: the others have up to half as many more, or fewer.
    """

    pairings: int
    pairs: int
    base: float
    changed: float

    def shares(self, middle: float) -> npt.NDArray[np.float64]:
        """Return the true City share of each pairing."""
        steps = np.linspace(-0.5, 0.5, self.pairings) if self.pairings > 1 else np.zeros(1)
        return middle + steps * min(middle, 1 - middle)


SETUPS: Final = [
    Setup(pairings, pairs, *shares)
    for pairings, pairs in ((1, 12), (1, 50), (6, 5), (6, 50))
    for shares in ((0, 0.02), (0.02, 0.06), (0.15, 0.2), (0.5, 0.55), (0.93, 0.97))
]


class Held(NamedTuple):
    """How often the interval held the true change: of the City share and of the margin.

    `said` is how often there was one for the margin; the others do not count.
    """

    city: float
    margin: float
    said: float


def play(luck: npt.NDArray[np.float64], shares: npt.NDArray[np.float64]) -> Ints:
    """Return the counts of a run by the luck of its games, of the shape pairings, pairs, 2, 2.

    The first luck of a game decides whether it is won by City, the second one the lead. Each bot
    wins the game that it begins.
    """
    city = luck[..., 0] < shares[:, None, None]
    lead = np.floor(_LEAD * luck[..., 1]).astype(np.int64) * ~city
    counts = np.zeros((*luck.shape[:2], COUNTED), np.int64)
    for seat, result in ((0, 0), (1, 1)):
        counts[:, :, COLUMNS.index((seat, "city", result))] = city[:, :, seat]
        counts[:, :, COLUMNS.index((seat, "points", result))] = ~city[:, :, seat]
    counts[:, :, len(COLUMNS)] = lead.sum(axis=2)
    return counts


def hold(setup: Setup, runs: int = RUNS) -> Held:
    """Return how often the intervals of a setup hold the truth, which for the margin is 0."""
    rng = np.random.default_rng([SEED, *(round(1000 * number) for number in setup)])
    shape = (setup.pairings, setup.pairs, 2, 2)
    shares = [setup.shares(middle) for middle in (setup.base, setup.changed)]
    truth = {"city": float(shares[1].mean() - shares[0].mean()), "margin": 0.0}
    held: dict[str, list[bool]] = {name: [] for name in truth}
    for _ in range(runs):
        luck = rng.random(shape)
        other = np.where(rng.random(shape) < SHARED, luck, rng.random(shape))
        both = play(luck, shares[0]), play(other, shares[1])
        for name, true in truth.items():
            _, low, high = difference(*both, _BY_NAME[name]).cells
            if low is not None and high is not None:
                held[name].append(low <= true <= high)
    city, margin = held.values()
    return Held(sum(city) / runs, sum(margin) / max(1, len(margin)), len(margin) / runs)


def lines() -> Iterator[str]:
    """Yield the lines of the section."""
    yield f"{RUNS:,} runs a row. The City share of a game is the one in the table; with six"
    yield "pairings it differs between them. The lead in points has the same mean under both rules."
    yield f"{SHARED:.0%} of what is luck in a game is common to both. The interval of the margin's"
    yield "change needs ten scored games under each; `said` is how often there was one."
    yield ""
    yield "| pairings | pairs | City before | City after | change of City held | of margin | said |"
    yield "|---|---|---|---|---|---|---|"
    for setup in SETUPS:
        held = hold(setup)
        margin = f"{held.margin:.1%}" if held.said else ""
        numbers = f"| {setup.pairings} | {setup.pairs} | {setup.base:.0%} | {setup.changed:.0%} |"
        yield f"{numbers} {held.city:.1%} | {margin} | {held.said:.0%} |"
