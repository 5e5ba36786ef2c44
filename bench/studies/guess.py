"""The rating that ends a check: whether its interval holds the bot's Elo against the whole ladder.

Each true lead over a bot of the ladder differs from the Elo by a number of its own. The truth is
the rating of endless pairs against the ladder, each of its bots met equally often.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np

from arena.check import GAMES, RATING
from arena.check.sparring import Climb
from arena.entries.catalogue import ELO as LADDER
from arena.statistics.distributions import expit, find_root
from arena.statistics.ratings import ELO, fit_one
from arena.statistics.two_bots import pair_scores
from arena.threads import count_cores
from arena.tournament.schedule import Pairing
from bench import ladder
from bench.studies.fields import score_shares

SEED = 46
RUNS = 400
ELOS = (1100, 1400, 1700)
SPREADS = (0.0, 20.0, 38.0, 60.0)
PAIRS = RATING * GAMES // 2
_REAL = 400


class Guessed(NamedTuple):
    """Whether the interval held the truth, half its width, and how many anchors were met."""

    held: float
    half: float
    met: float


def guess(elo: float, spread: float, run: int) -> Guessed:
    """Return what a check guesses of a bot, of this Elo before its pairings deviate."""
    rng = np.random.default_rng([SEED, round(elo), round(spread), run])
    anchors = np.array([*LADDER.values()], dtype=float)
    shares = expit((elo + rng.normal(0, spread, len(anchors)) - anchors) / ELO)
    truth = find_root(
        lambda at: float((expit((at - anchors) / ELO) - shares).sum()), -1e4, 1e4, 1e-6
    )
    by_score = [np.cumsum(score_shares(share)) for share in shares.tolist()]
    climb = Climb(LADDER, lambda anchor: np.searchsorted(by_score[anchor], rng.random()).item() / 2)
    climb.play(PAIRS)
    _, low, high, _ = climb.rating()
    return Guessed(low <= truth <= high, (high - low) / 2, sum(map(bool, climb.scores)))


def guess_real(bot: str, run: int) -> Guessed:
    """Return what a check guesses of a bot of the ladder, whose pairs are drawn of the stored ones.

    The truth is the rating by all of these.
    """
    rng = np.random.default_rng([SEED, [*LADDER].index(bot), run])
    anchors = {anchor: elo for anchor, elo in LADDER.items() if anchor != bot}
    stored = ladder.read()
    stored |= {Pairing(*two[::-1]): by_score[::-1] for two, by_score in stored.items()}
    met = [stored[Pairing(bot, anchor)] for anchor in anchors]
    scores = [pair_scores(len(anchors), anchor, by_score) for anchor, by_score in enumerate(met)]
    truth = fit_one([*anchors.values()], scores).value
    by_score = [np.cumsum(one) / sum(one) for one in met]
    climb = Climb(anchors, lambda one: np.searchsorted(by_score[one], rng.random()).item() / 2)
    climb.play(PAIRS)
    _, low, high, _ = climb.rating()
    return Guessed(low <= truth <= high, (high - low) / 2, sum(map(bool, climb.scores)))


def guess_often(elo: float, spread: float, runs: int, workers: int = 1) -> Guessed:
    """Return the means over these runs."""
    play = partial(guess, elo, spread)
    if workers == 1:
        return Guessed(*np.mean([*map(play, range(runs))], axis=0).tolist())
    with ProcessPoolExecutor(workers) as pool:
        found = [*pool.map(play, range(runs), chunksize=100)]
    return Guessed(*np.mean(found, axis=0).tolist())


def lines(runs: int = RUNS, workers: int | None = None) -> Iterator[str]:
    """Yield the table of the section, each row as soon as it has been simulated."""
    yield (
        f"{runs:,} simulated checks a row, {PAIRS} pairs each. Each true lead over a bot of the\n"
        "ladder differs from the Elo by a number of its own, with the standard deviation\n"
        "`spread`. How often the interval held the rating of endless pairs against the whole\n"
        "ladder, half of its width, and how many of the ladder's bots were met.\n"
    )
    yield "| Elo | spread | covered, % | half of the interval | met |"
    yield "|---|---|---|---|---|"
    for elo in ELOS:
        for spread in SPREADS:
            held, half, met = guess_often(elo, spread, runs, workers or count_cores())
            yield f"| {elo} | {spread:g} | {100 * held:.1f} | {half:.0f} Elo | {met:.1f} |"
    yield f"\nThe same of real bots, {_REAL} checks each, with pairs drawn of the ladder's own:\n"
    yield "| bot | Elo | covered, % | half of the interval | met |"
    yield "|---|---|---|---|---|"
    for bot, elo in LADDER.items():
        found = [guess_real(bot, run) for run in range(min(runs, _REAL))]
        held, half, met = np.mean(found, axis=0).tolist()
        yield f"| {bot} | {elo} | {100 * held:.1f} | {half:.0f} Elo | {met:.1f} |"
