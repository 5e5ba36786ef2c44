"""How often the verdicts, intervals and probabilities of a run are wrong, under hostile truths."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from zlib import crc32

import numpy as np

from arena.statistics.distributions import Floats
from arena.statistics.model import Flags
from arena.statistics.verdicts import LEANS, Verdicts
from bench.studies.truths import CASES, Case, play

SEED = 46
RUNS = 400
_CLOSE = 1e-9  # log odds: equal bots


def simulate(name: str, case: Case, runs: int, seed: int = SEED) -> dict[str, float]:
    """Return how often each thing happened in so many runs."""
    rng = np.random.default_rng([seed, crc32(name.encode())])
    found: dict[str, float] = defaultdict(float)
    for _ in range(runs):
        truth = case.truth(rng)
        played = play(truth, case.pairs, rng, case.panel)
        count(Verdicts(played.fit(), played.met), truth.strengths(), found)
    return found


def count(verdicts: Verdicts, strengths: Floats, found: dict[str, float]) -> None:
    """Count what a run said, and what of it was wrong; equal bots have no stronger one."""
    found["runs"] += 1
    true = strengths[:, None] - strengths
    is_equal = abs(true) < _CLOSE
    found["wrong"] += bool((verdicts.apart & (is_equal | (true < 0))).any())
    found["missed"] += bool((true > verdicts.ends + _CLOSE).any())
    scale = verdicts.fit.scale()
    _, low, high = verdicts.ratings(scale)
    at = scale.move(strengths)
    outside = (at < low) | (at > high)
    found["ratings missed"] += bool(outside.any())
    found["leader missed"] += bool(outside[verdicts.fit.strengths.argmax()])
    unequal = np.triu(~is_equal)
    if unequal.any():
        found["pairs"] += int(unequal.sum())
        found["told"] += int((verdicts.apart & (true > 0)).sum())
        _count_likely(verdicts, true, unequal, found)
        _count_forecasts(verdicts, true, found)
        _count_first(verdicts, strengths, found)


def _count_likely(
    verdicts: Verdicts, true: Floats, unequal: Flags, found: dict[str, float]
) -> None:
    likely = verdicts.likely
    said = np.where(likely > 0.5, likely, likely.T)
    right = np.where(likely > 0.5, true > 0, true < 0)
    sure = unequal & (said >= LEANS)
    found["likely"] += int(sure.sum())
    found["likely said"] += float(said[sure].sum())
    found["likely right"] += int(right[sure].sum())


def _count_forecasts(verdicts: Verdicts, true: Floats, found: dict[str, float]) -> None:
    order = np.argsort(-verdicts.fit.strengths, kind="stable")
    for two in pairwise(order.tolist()):
        if times := verdicts.forecast(*two):
            found["forecasts"] += 1
            needed = verdicts.times(*two, abs(float(true[two])))
            found["forecasts held"] += times[0] <= needed <= times[1]


def _count_first(verdicts: Verdicts, strengths: Floats, found: dict[str, float]) -> None:
    first = verdicts.first()
    best = int(first.argmax())
    if (abs(strengths - strengths[best]) < _CLOSE).sum() == 1:
        found["first"] += 1
        found["first said"] += float(first[best])
        found["first right"] += bool(strengths.argmax() == best)


def lines(runs: int = RUNS, names: Iterable[str] = tuple(CASES)) -> Iterator[str]:
    """Yield the table of the section, each row as soon as it has been simulated."""
    yield (
        "| truth | wrong order | lead missed | rating missed | leader's missed | told apart "
        "| likely: said / right | first: said / right | forecasts held |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for name in names:
        yield row(name, simulate(name, CASES[name], runs))


def row(name: str, found: dict[str, float]) -> str:
    """Return the row of a truth."""
    of_runs = [
        f"{found[what] / found['runs']:.1%}"
        for what in ("wrong", "missed", "ratings missed", "leader missed")
    ]
    told = f"{found['told'] / found['pairs']:.0%}" if found["pairs"] else "-"
    chances = [
        f"{found[f'{what} said'] / found[what]:.3f} / {found[f'{what} right'] / found[what]:.3f}"
        if found[what]
        else "-"
        for what in ("likely", "first")
    ]
    held = f"{found['forecasts held'] / found['forecasts']:.0%}" if found["forecasts"] else "-"
    return f"| {name} | {' | '.join([*of_runs, told, *chances, held])} |"
