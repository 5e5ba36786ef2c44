"""Runs that stop by themselves, under hostile truths: whether they are ever wrong, and their price.

An oracle that knows how the scores of pairs vary plays the same rounds with the same bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from functools import partial
from itertools import combinations
from typing import Literal, NamedTuple
from unittest.mock import patch
from zlib import crc32

import numpy as np

from arena.statistics.bradley_terry import Model
from arena.statistics.distributions import Floats, expit
from arena.statistics.ratings import ELO
from arena.threads import count_cores
from arena.tournament.rounds import Counts
from arena.tournament.schedule import Pairing
from arena.tournament.stop import Until
from arena.tournament.until_rounds import Standings, UntilRounds
from bench.studies.fields import EFFECT
from bench.studies.truths import CASES, Case, Truth, of_elo

SEED = 1970
RUNS = 100
FIRST, MOST = 20, 200
"""Pairs of the first round, and of a pairing at most, under hostile truths."""

WIDTH = 40.0
Target = Literal["resolved"] | float
_CLOSE = 1e-9  # log odds: equal bots


class Ending(NamedTuple):
    """What a run came to: whether two bots were ever apart wrongly, or outside their intervals.

    `missed` is that at the end, and `known` says that the run has found what it looked for.
    """

    wrong: bool
    missed: bool
    known: bool
    pairs: int


def play_run(
    case: Case, target: Target, first: int, most: int, oracle: bool, seed: Sequence[int]
) -> Ending:
    """Return what one simulated run came to, looked at after every round."""
    rng = np.random.default_rng(seed)
    truth = case.truth(rng)
    bots = len(truth.leads)
    met = [
        two
        for two in combinations(range(bots), 2)
        if case.panel is None or (two[0] in case.panel) != (two[1] in case.panel)
    ]
    labels = [f"{bot:02}" for bot in range(bots)]
    pairings = [Pairing(labels[one], labels[two]) for one, two in met]
    shares = [truth.shares(float(expit(truth.leads[two] / ELO))) for two in met]
    rounds = UntilRounds(pairings, first, Until(target, most))
    strengths = truth.strengths()
    counts: dict[int, Counts] = {}
    wrong, number = False, 0
    with patch.object(Model, "effects", _known_effects) if oracle else nullcontext():
        while ranges := rounds.next(number, counts, ()):
            for pairing, start, end in ranges:
                more = rng.multinomial(end - start, shares[pairing])
                counts[pairing] = tuple((counts.get(pairing, 0) + more).tolist())
            number += 1
            standings = Standings(pairings, counts, ())
            own = strengths[[int(label) for label in standings.labels]]
            wrong |= bool((standings.verdicts.apart & (own[:, None] - own < _CLOSE)).any())
        _, low, high = standings.verdicts.ratings(standings.scale)
        at = standings.scale.move(own)
        missed = bool(((at < low) | (at > high)).any())
        known = not rounds.find_open(counts, ())
    return Ending(wrong, missed, known, sum(map(sum, counts.values())))


def _known_effects(model: Model, strengths: Floats) -> Floats:
    return np.full(len(strengths[model.first]), EFFECT)


def play_runs(
    name: str,
    target: Target,
    runs: int,
    *,
    first: int = FIRST,
    most: int = MOST,
    oracle: bool = False,
    workers: int | None = None,
) -> Ending:
    """Return the means over so many runs of a field, played by so many processes."""
    one = partial(_play_named, name, target, first, most, oracle)
    if workers == 1:
        found = [*map(one, range(runs))]
    else:
        with ProcessPoolExecutor(workers or count_cores()) as pool:
            found = [*pool.map(one, range(runs), chunksize=5)]
    return Ending(*np.mean(found, axis=0).tolist())


def _play_named(name: str, target: Target, first: int, most: int, oracle: bool, run: int) -> Ending:
    case = CASES[name] if name in CASES else PRICED[name][0]
    return play_run(case, target, first, most, oracle, (SEED, crc32(name.encode()), run))


def ladder(bots: int, gap: float, deviation: float = 0.0) -> Case:
    """Return a field of which every two neighbours are as many Elo points apart."""

    def truth(rng: np.random.Generator) -> Truth:
        return Truth(of_elo(gap * np.arange(float(bots)), deviation, rng))

    return Case(truth, FIRST)


PRICED = {
    "6 bots 20 apart": (ladder(6, 20), 20_000),
    "6 bots 20 apart, deviation 38": (ladder(6, 20, 38), 20_000),
    "5 bots 60 apart": (ladder(5, 60), 2_000),
}
"""Fields of which the price is told, and the pairs of a pairing at most."""


def lines(runs: int = RUNS, workers: int | None = None) -> Iterator[str]:
    """Yield the tables of the section, each row as soon as it has been simulated."""
    play = partial(play_runs, runs=runs, workers=workers)
    yield (
        f"{runs:,} runs a row, looked at after every round, {FIRST} pairs of each pairing first\n"
        f"and {MOST} at most. Of 100 runs with `until: resolved`, in how many two bots were ever\n"
        "apart in the wrong order (of equal bots: at all); in how many all neighbours were told\n"
        f"apart, and after how many pairs. Of 100 with `until: {WIDTH:g}`, in how many a rating\n"
        "was outside its interval at the end, and in how many all intervals were so narrow.\n"
    )
    yield "| truth | ever wrong | told | pairs | outside | narrow | pairs |"
    yield "|---|---|---|---|---|---|---|"
    for name in CASES:
        told, narrow = play(name, "resolved"), play(name, WIDTH)
        yield (
            f"| {name} | {100 * told.wrong:.1f} | {100 * told.known:.0f} | {told.pairs:,.0f} "
            f"| {100 * narrow.missed:.1f} | {100 * narrow.known:.0f} | {narrow.pairs:,.0f} |"
        )
    yield "\nThe price, beside that of an oracle that knows how the scores of pairs vary:\n"
    yield "| field | most pairs | ever wrong | told | pairs | the oracle's | ratio |"
    yield "|---|---|---|---|---|---|---|"
    for name, (_, most) in PRICED.items():
        own, best = (play(name, "resolved", most=most, oracle=oracle) for oracle in (False, True))
        yield (
            f"| {name} | {most:,} | {100 * own.wrong:.1f} | {100 * own.known:.0f} "
            f"| {own.pairs:,.0f} | {best.pairs:,.0f} | {own.pairs / best.pairs:.2f} |"
        )
