"""The sequential test of `arena compare`: wrong verdicts, pairs, and the interval's coverage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from arena.entries.resolve import resolve
from arena.statistics.sequential_test import (
    DIFFERENCES,
    FIRST_LOOK,
    PAIR_SCORES,
    bounds,
    elo_of,
    share_of,
)
from arena.tournament.sprt_rounds import Evidence, SprtRounds, weigh
from arena.tournament.stop import Sprt
from arena.tournament.tournament import Tournament
from engine import STANDARD

SEED = 13
RUNS, COVERED, RACES = 300, 100, 500
NEAR = (0.16, 0.002, 0.676, 0.002, 0.16)
"""Shares of the pair scores of greedy against a near copy, greedy(patience=2.5), made even."""
FAR = (0.3, 0.015, 0.37, 0.015, 0.3)
"""Shares of the pair scores of two bots that seldom do the same."""
NAMES = {"near": NEAR, "far": FAR}

PANEL = (0.25, 0.5, 0.85)
"""The old version's shares of the score against three opponents."""
SAME = 0.8
"""How often the new version's score of a deal is the old one's."""
ERROR_RATE = 0.05
ENDS = bounds(ERROR_RATE, ERROR_RATE)
MOST = 10**6
_ENOUGH, _NEWTON, _LEAST = 8_000, 12, 1e-12  # pairs that decide a test of 30 points; steps

Array = npt.NDArray[np.float64]
Counted = npt.NDArray[np.int_]
TWO = Tournament("compare", 0, 1, [resolve(f"{name}=greedy") for name in ("a", "b")], STANDARD)
_VERSIONS = Tournament(
    *("compare", 0, 1, [resolve(f"{name}=greedy") for name in ("new", "old", *"abc")], STANDARD),
    panel=len(PANEL),
    paired=True,
)
"""Two versions that meet three opponents; none of them is played."""


class Setup(NamedTuple):
    """What is simulated: a test of 0 against `elo1` with errors of 5 %, and the truth.

    `shares` are those of the five pair scores of two even bots.
    """

    shares: Sequence[float]
    elo: float
    elo1: float
    most: int = MOST

    def generator(self) -> np.random.Generator:
        """Return a generator that is seeded by the setup."""
        numbers = (self.shares[0], self.elo + 1000, self.elo1)
        return np.random.default_rng([SEED, *(round(1000 * n) for n in numbers), self.most])


def tilted(shares: npt.ArrayLike, values: npt.ArrayLike, mean: float) -> Array:
    """Return the shares of values with another mean, exponentially tilted."""

    def weights(tilt: float) -> Array:
        raw = np.asarray(shares) * np.exp(tilt * np.asarray(values))
        return np.asarray(raw / raw.sum())

    def excess(tilt: float) -> float:
        return float((weights(tilt) * np.asarray(values)).sum()) - mean

    return weights(scipy.optimize.brentq(excess, -20.0, 20.0))


def play_tests(setup: Setup, runs: int = RUNS) -> list[Evidence]:
    """Return so many simulated comparisons of two bots."""
    rng = setup.generator()
    truth = tilted(setup.shares, PAIR_SCORES, 2 * share_of(setup.elo))
    return [_play_test(setup, truth, rng) for _ in range(runs)]


def _play_test(setup: Setup, truth: Array, rng: np.random.Generator) -> Evidence:
    stop = Sprt(0.0, setup.elo1, ERROR_RATE, ERROR_RATE, setup.most)
    rounds, counts = SprtRounds(TWO, stop), np.zeros(len(PAIR_SCORES), dtype=int)
    while legs := rounds.next(0, seen := {0: tuple(counts.tolist())}, ()):
        counts += rng.multinomial(legs[0].end - legs[0].first, truth)
    return weigh(TWO, stop, seen)


def play_differences(setup: Setup, runs: int = RUNS) -> list[Evidence]:
    """Return so many simulated comparisons of two versions against the panel."""
    rng = setup.generator()
    truths = [_both_scores(setup, share) for share in PANEL]
    return [_play_difference(setup, truths, rng) for _ in range(runs)]


def _both_scores(setup: Setup, share: float) -> Array:
    """Return how likely each two pair scores of the new version (row) and the old one are."""
    values = np.array(PAIR_SCORES)
    old = tilted(setup.shares, values, 2 * share)
    both = SAME * np.diag(old) + (1 - SAME) * np.outer(old, old)

    def changed(tilt: float) -> Array:
        raw = both * np.exp(tilt * values[:, None])
        return np.asarray(raw / raw.sum(axis=0) * old)  # the old version's are as they were

    def excess(tilt: float) -> float:
        return float(changed(tilt).sum(axis=1) @ values) - 2 * share_of(elo_of(share) + setup.elo)

    return changed(scipy.optimize.brentq(excess, -20.0, 20.0))


def _play_difference(setup: Setup, truths: Sequence[Array], rng: np.random.Generator) -> Evidence:
    """Return a comparison that `arena compare` decides: its rounds, and its evidence."""
    stop = Sprt(0.0, setup.elo1, ERROR_RATE, ERROR_RATE, len(PANEL) * setup.most)
    rounds, both = SprtRounds(_VERSIONS, stop), _no_deals(truths)
    while legs := rounds.next(0, seen := _pairing_counts(both), ()):
        deals = legs[0].end - legs[0].first  # as many of every pairing
        for number, truth in enumerate(truths):
            both[number] += rng.multinomial(deals, truth.ravel()).reshape(truth.shape)
    return weigh(_VERSIONS, stop, seen)


def _no_deals(truths: Sequence[Array]) -> Counted:
    return np.zeros((len(truths), len(PAIR_SCORES), len(PAIR_SCORES)), dtype=int)


def _pairing_counts(both: Counted) -> dict[int, tuple[int, ...]]:
    """Return the counts by pairing: deals by difference, and pairs by the old version's score."""
    size = len(PAIR_SCORES)
    gaps = np.subtract.outer(range(size), range(size)) + size - 1  # 0 for the least difference
    counts = {}
    for number, seen in enumerate(both):
        differences = np.bincount(gaps.ravel(), seen.ravel(), len(DIFFERENCES))
        counts[number] = tuple(differences.astype(int).tolist())
        counts[_VERSIONS.old_pairing(number)] = tuple(seen.sum(axis=0).tolist())
    return counts


def share_better(tests: Sequence[Evidence]) -> float:
    """Return the share of tests that ended at the upper bound."""
    return sum(test.ratio >= ENDS.high for test in tests) / len(tests)


def share_not_better(tests: Sequence[Evidence]) -> float:
    """Return the share of tests that ended at the lower bound."""
    return sum(test.ratio <= ENDS.low for test in tests) / len(tests)


def mean_pairs(tests: Sequence[Evidence]) -> float:
    """Return the mean number of pairs."""
    return sum(test.pairs for test in tests) / len(tests)


class Coverage(NamedTuple):
    """How often the interval had the truth, and the estimate exceeded it."""

    covered: float
    above: float


def coverage(tests: Sequence[Evidence], setup: Setup) -> Coverage:
    """Return how good the estimates are after these tests, in Elo points."""
    found = [[*map(test.elo, test.estimate()[:3])] for test in tests]
    value, low, high = np.array(found).T
    held = (low <= setup.elo) & (setup.elo <= high)
    return Coverage(float(held.mean()), float((value > setup.elo).mean()))


def race(setup: Setup, runs: int = RACES) -> tuple[float, float]:
    """Return the mean pairs of a test, and those that fishtest's takes of the same pairs."""
    rng, truth = setup.generator(), tilted(setup.shares, PAIR_SCORES, 2 * share_of(setup.elo))
    drawn = rng.choice(len(truth), (runs, _ENOUGH), p=truth)
    own, other = race_pairs(drawn, 2 * share_of(setup.elo1)).mean(axis=1).tolist()
    return own, other


def race_pairs(drawn: Counted, mean1: float) -> Array:
    """Return the pairs of each test of some scores (2, n): the arena's, and fishtest's.

    Fishtest's is looked at from the first pair on, and its bounds are nearer by half of the mean
    square over the mean of the steps to a new extreme.
    """
    leads = np.array(PAIR_SCORES) - np.array([[[1.0]], [[mean1]]])
    left, found = np.arange(len(drawn)), np.zeros((2, len(drawn)))
    counts, pulls = np.zeros((len(drawn), len(PAIR_SCORES))), np.zeros((2, len(drawn), 1))
    far, squares = np.zeros((2, len(drawn), 2))
    for pairs, scores in enumerate(drawn.T, 1):
        counts[left, scores[left]] += 1
        seen, pull = np.maximum(counts[left], 1e-3), pulls[:, left]
        shares = seen / seen.sum(axis=1, keepdims=True)
        low, high = ((shares[:, [end]] / 2 - 1) / leads[..., [end]] for end in (-1, 0))
        for _ in range(_NEWTON):
            terms = leads / (1 + pull * leads)
            excess, slope = ((shares * terms**power).sum(axis=-1) for power in (1, 2))
            pull = np.clip(pull + (excess / slope)[..., None], low, high)
        pulls[:, left] = pull
        ratio = -np.diff((seen * np.log1p(pull * leads)).sum(axis=-1), axis=0)[0]
        sizes = np.stack([-ratio, ratio], axis=1)
        steps = np.maximum(sizes - far[left], 0)
        far[left], squares[left] = far[left] + steps, squares[left] + steps**2
        over = squares[left] / np.maximum(2 * far[left], _LEAST)
        own = (sizes >= ENDS.high).any(axis=1) & (pairs >= FIRST_LOOK)
        ended = np.stack([own, (sizes > ENDS.high - over).any(axis=1)])
        found[:, left] = np.where(ended & (found[:, left] == 0), pairs, found[:, left])
        left = left[(found[:, left] == 0).any(axis=0)]
        if not len(left):
            break
    return found


SETUPS = [
    Setup(shares, elo, elo1, most)
    for shares in (NEAR, FAR)
    for elo, elo1, most in (
        *((elo, 15.0, MOST) for elo in (0.0, 7.5, 15.0, 60.0)),
        *((elo, 30.0, MOST) for elo in (0.0, 30.0)),
        *((elo, 60.0, MOST) for elo in (0.0, 60.0)),
        *((elo, 15.0, 800) for elo in (0.0, 15.0)),
    )
]
DIFFERENCE_SETUPS = [Setup(FAR, elo, 15.0) for elo in (0.0, 15.0)]


def lines() -> Iterator[str]:
    """Yield the tables of the section, each row as soon as it has been simulated."""
    yield (
        f"Tests of 0 against `elo1` with errors of 5 %, {RUNS:,} runs a row. Pair scores are as\n"
        "spread as those of greedy against greedy(patience=2.5) (near), or more (far). Of the\n"
        f"first {COVERED}: `covered` is how often the 95 % interval had the true Elo, and `above`\n"
        "how often the estimate was more.\n"
    )
    yield from _table(SETUPS, play_tests)
    shares = ", ".join(f"{share:.0%}" for share in PANEL)
    yield (
        "\nThe same for `--against`: two versions meet three opponents, against which the old one\n"
        f"has {shares} of the score; the new one's score of a deal is the old one's in\n"
        f"{SAME:.0%} of the deals. Pairs are deals that both versions played.\n"
    )
    yield from _table(DIFFERENCE_SETUPS, play_differences)


def races() -> Iterator[str]:
    """Yield the table of pairs beside those of fishtest's test."""
    yield (
        "Pairs over those of fishtest's pentanomial test, which is looked at from the first one\n"
        f"on and allows for how far its ratio oversteps: {RACES} runs, both with the same pairs.\n"
    )
    yield "| pair scores | elo1 | Elo 0 | midway | elo1 |\n|---|---|---|---|---|"
    for name, elo1 in product(NAMES, (30.0, 60.0)):
        pairs = [race(Setup(NAMES[name], part * elo1, elo1)) for part in (0.0, 0.5, 1.0)]
        ratios = [f"{own / other:.2f}" for own, other in pairs]
        yield f"| {name} | {elo1:g} | {' | '.join(ratios)} |"


def _table(setups: Sequence[Setup], play: Callable[[Setup], list[Evidence]]) -> Iterator[str]:
    yield (
        "| pair scores | true Elo | elo1 | most pairs | better | not better | mean pairs "
        "| covered | above |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for setup in setups:
        tests = play(setup)
        shares = (share_better(tests), share_not_better(tests))
        cells = [
            "near" if setup.shares == NEAR else "far",
            f"{setup.elo:g}",
            f"{setup.elo1:g}",
            "none" if setup.most == MOST else f"{setup.most:,}",
            *(f"{share:.1%}" for share in shares),
            f"{mean_pairs(tests):,.0f}",
            *(f"{share:.1%}" for share in coverage(tests[:COVERED], setup)),
        ]
        yield f"| {' | '.join(cells)} |"
