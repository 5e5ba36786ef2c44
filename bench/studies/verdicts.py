"""How often the verdicts, intervals and probabilities of a run are wrong, under hostile truths."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from zlib import crc32

import numpy as np

from arena.statistics.bradley_terry import Flags
from arena.statistics.distributions import Floats
from arena.statistics.verdicts import LEANS, Verdicts
from arena.tables.headline import RIVAL
from arena.threads import count_cores
from bench.studies.truths import CASES, Case, play

SEED = 46
RUNS = 1000
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
    order = np.argsort(-verdicts.fit.strengths, kind="stable")
    for rank, bot in enumerate(order.tolist()):
        found[f"rank {rank} missed"] += bool(outside[bot])
    first = verdicts.first()
    _count_strongest(verdicts.apart, first, strengths, order.tolist(), found)
    unequal = np.triu(~is_equal)
    if unequal.any():
        found["pairs"] += int(unequal.sum())
        found["told"] += int((verdicts.apart & (true > 0)).sum())
        _count_likely(verdicts, true, unequal, found)
        _count_first(first, strengths, found)


def _count_strongest(
    apart: Flags, chances: Floats, strengths: Floats, order: Sequence[int], found: dict[str, float]
) -> None:
    """Count the sentences "is the strongest" and "the next ones may be, too" of a headline."""
    top = order[0]
    if apart[top].sum() == len(order) - 1:
        found["strongest"] += 1
        found["strongest wrong"] += bool(
            (np.delete(strengths, top) > strengths[top] - _CLOSE).any()
        )
        return
    named = [top, *(bot for bot in order if chances[bot] >= RIVAL)]
    found["named"] += 1
    found["named wrong"] += bool(strengths.max() > strengths[named].max() + _CLOSE)


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


def _count_first(first: Floats, strengths: Floats, found: dict[str, float]) -> None:
    best = int(first.argmax())
    if (abs(strengths - strengths[best]) < _CLOSE).sum() == 1:
        found["first"] += 1
        found["first said"] += float(first[best])
        found["first right"] += bool(strengths.argmax() == best)


def lines(
    runs: int = RUNS, names: Iterable[str] = tuple(CASES), workers: int | None = None
) -> Iterator[str]:
    """Yield the table of the section, each row as soon as it has been simulated."""
    yield (
        f"{runs:,} runs a row. Of 100 runs: in how many two bots are apart in the wrong order (of\n"
        "equal bots: at all), any lead is outside its ends, any rating outside its interval, and\n"
        "the rating at the rank that is worst off. `told`: the share of unequal bots that are\n"
        "apart. `strongest`: of 100 runs, in how many the first bot is said to be, and wrongly.\n"
        "`named`: else, in how many the strongest is not among the first one and those named\n"
        "beside it. Of what is at least 0.9 likely, and of the first bot's chance: what is said,\n"
        "on average, and what is right.\n"
    )
    yield (
        "| truth | order | leads | ratings | rank | told, % | strongest | named | likely | first |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|"
    names, whole = [*names], Counter[str]()
    one = partial(_simulate, runs)
    with ProcessPoolExecutor(workers or count_cores()) as pool:
        for name, found in zip(names, pool.map(one, names), strict=True):
            whole.update(found)
            yield row(name, found)
    yield f"| all | | | | | | | | {_said(whole, 'likely')} | {_said(whole, 'first')} |"


def _simulate(runs: int, name: str) -> dict[str, float]:
    return simulate(name, CASES[name], runs)


def row(name: str, found: Mapping[str, float]) -> str:
    """Return the row of a truth."""
    worst = max(missed for what, missed in found.items() if what.startswith("rank "))
    of_runs = [found["wrong"], found["missed"], found["ratings missed"], worst]
    cells = [f"{100 * one / found['runs']:.1f}" for one in of_runs]
    cells.append(f"{100 * found['told'] / found['pairs']:.0f}" if found["pairs"] else "-")
    cells += [
        f"{100 * found[what] / found['runs']:.1f} / "
        f"{100 * found[f'{what} wrong'] / found['runs']:.1f}"
        if found[what]
        else "-"
        for what in ("strongest", "named")
    ]
    cells += [_said(found, what) for what in ("likely", "first")]
    return f"| {name} | {' | '.join(cells)} |"


def _said(found: Mapping[str, float], what: str) -> str:
    """Return what was said on average, and how often it was right."""
    if not found[what]:
        return "-"
    return " / ".join(f"{found[f'{what} {how}'] / found[what]:.3f}" for how in ("said", "right"))
