"""The headline of a run: how often each kind of its sentences is wrong, in every form of run.

Each pairing's true lead differs from the Elo by a number of its own, with the spread of the case.
The truth is the Elo of an equal round robin of all bots with endless pairs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from arena.lanes.cleanup import count_cores
from arena.statistics.counts import PairTotals
from arena.statistics.cycles import Field, find_misfits
from arena.statistics.distributions import expit
from arena.statistics.ratings import ELO
from arena.statistics.two_bots import pair_scores
from arena.tables.headline import Headline, find_headline
from arena.tournament.rounds import Counts
from arena.tournament.schedule import Pairing, gauntlet, round_robin
from arena.tournament.stop import Until
from arena.tournament.swiss_rounds import SwissRounds
from arena.tournament.until_rounds import UntilRounds
from bench.studies.fields import Simulated
from bench.studies.swiss import make_swiss
from bench.studies.truths import true_elos

SEED = 32
RUNS = 100
DEVIATION = 38.0
_EQUAL = 1e-6  # Elo points


class Case(NamedTuple):
    """A run: the Elo of its bots, pairs of each pairing, the spread, and its form.

    It is a gauntlet with a `panel`, a Swiss tournament with `rounds`, a run that stops by itself
    with `max_pairs`, and one that was `stopped` has any number of the pairs of each pairing.
    """

    name: str
    elos: Sequence[float]
    pairs: int
    spread: float = 0.0
    panel: int = 0
    rounds: int = 0
    max_pairs: int = 0
    stopped: bool = False

    def labels(self) -> list[str]:
        """Return a label for each bot."""
        return [f"b{number:03}" for number in range(len(self.elos))]

    def pairings(self) -> list[Pairing]:
        """Return the pairings of which the run plays all or some."""
        labels = self.labels()
        if self.panel:
            return gauntlet(labels[: -self.panel], labels[-self.panel :])
        return round_robin(labels)

    def generator(self, run: int) -> np.random.Generator:
        """Return a generator that is seeded by the case and the number of the run."""
        numbers = len(self.elos), self.pairs, self.spread, self.panel, self.rounds, self.max_pairs
        return np.random.default_rng([SEED, *map(int, numbers), self.stopped, run])


def _far(bots: int) -> list[float]:
    return [60.0 * bot for bot in range(bots)]


def _close(bots: int) -> list[float]:
    return [10.0 * bot for bot in range(bots)]


_ONE_AHEAD = [100.0, *[0.0] * 11]
_TWO_AHEAD = [100.0, 100.0, *[0.0] * 6]
CASES = (
    Case("2 equal bots", [0, 0], 5),
    Case("2 equal bots", [0, 0], 100),
    Case("2 bots 30 apart", [0, 30], 100),
    Case("2 bots 300 apart", [0, 300], 20),
    Case("4 equal bots", [0] * 4, 20),
    Case("4 equal bots", [0] * 4, 500, DEVIATION),
    Case("4 bots 60 apart", _far(4), 100),
    Case("4 bots 60 apart", _far(4), 100, DEVIATION),
    Case("8 equal bots", [0] * 8, 20),
    Case("8 bots 10 apart", _close(8), 20),
    Case("8 bots 10 apart", _close(8), 500, DEVIATION),
    Case("8 bots, two 100 ahead", _TWO_AHEAD, 100),
    Case("8 bots 60 apart", _far(8), 5),
    Case("8 bots 60 apart", _far(8), 100, DEVIATION),
    Case("12 equal bots", [0] * 12, 100),
    Case("12 equal bots", [0] * 12, 100, DEVIATION),
    Case("12 bots, one 100 ahead", _ONE_AHEAD, 20),
    Case("12 bots, one 100 ahead", _ONE_AHEAD, 500),
    Case("12 bots, one 100 ahead", _ONE_AHEAD, 100, DEVIATION),
    Case("12 bots 60 apart", _far(12), 100, DEVIATION),
    Case("8 bots, one 1200 ahead", [1200.0, *_close(7)], 20),
    Case("gauntlet of 1 against 5 equal", [50, *[0] * 5], 100, panel=5),
    Case("gauntlet of 1 against 5 equal", [50, *[0] * 5], 100, DEVIATION, panel=5),
    Case("gauntlet of 3 against 5", [*_far(3), *_far(5)], 100, DEVIATION, panel=5),
    Case("gauntlet of 3 equal against 3", [0, 0, 0, 150, 0, -150], 500, DEVIATION, panel=3),
    Case("Swiss, 16 equal bots", [0] * 16, 20, DEVIATION, rounds=6),
    Case("Swiss, 16 bots 60 apart", _far(16), 20, DEVIATION, rounds=6),
    Case("until resolved, 4 equal bots", [0] * 4, 20, DEVIATION, max_pairs=200),
    Case("until resolved, 5 bots 60 apart", _far(5), 20, max_pairs=300),
    Case("until resolved, 5 bots 60 apart", _far(5), 20, DEVIATION, max_pairs=300),
    Case("stopped, 8 equal bots", [0] * 8, 100, DEVIATION, stopped=True),
    Case("stopped, 8 bots 60 apart", _far(8), 100, DEVIATION, stopped=True),
)

KINDS = ("strongest", "lead", "apart", "misfits", "share")
"""The first bot is the strongest, and leads by so much; the order; pairings; a score."""


class Said(NamedTuple):
    """What the headlines of some runs came to.

    `said` and `wrong` count the runs by kind of sentence. `likely` is the sum of the probabilities
    that the first bot is the stronger of two, and `right` how often it was, of `runs`.
    """

    runs: int
    said: Counter[str]
    wrong: Counter[str]
    likely: float
    right: int
    apart: float


class Run(NamedTuple):
    """The headline of one run, and the truth: the Elo of the bots, and the share of the first."""

    found: Headline
    elos: Mapping[str, float]
    share: float


def play(case: Case, run: int) -> Run:
    """Return the headline of one simulated run, whose bots have their Elo in any order."""
    rng = case.generator(run)
    labels, everyone = case.labels(), round_robin(case.labels())
    elos = [*map(float, case.elos)] if case.panel else rng.permutation(case.elos).tolist()
    noise = (case.spread * rng.normal(size=len(everyone))).tolist()
    beyond = dict(zip(everyone, noise, strict=True))
    seed = int(rng.integers(2**32))
    played = Simulated(dict(zip(labels, elos, strict=True)), seed, beyond=beyond)
    counts = _play_rounds(case, played, rng)
    found = _headline(case, counts)
    panel = [Pairing(labels[0], label) for label in labels[-case.panel :]] if case.panel else []
    shares = [float(expit(played.lead(two) / ELO)) for two in panel]
    return Run(found, true_elos(labels, played), math.fsum(shares) / max(1, len(shares)))


def _play_rounds(case: Case, played: Simulated, rng: np.random.Generator) -> dict[int, Counts]:
    """Return the counts of the pairings that a run has played."""
    pairings = case.pairings()
    if case.rounds:
        cup = make_swiss(len(case.elos), case.pairs, case.rounds)
        return [*played.rounds(SwissRounds(cup), pairings)][-1]
    if case.max_pairs:
        rounds = UntilRounds(pairings, case.pairs, Until("resolved", case.max_pairs))
        return [*played.rounds(rounds, pairings)][-1]
    pairs = np.full(len(pairings), case.pairs)
    if case.stopped:
        pairs = rng.integers(0, case.pairs, len(pairings), endpoint=True)
    given = zip(pairings, pairs.tolist(), strict=True)
    return {number: played.play(two, many) for number, (two, many) in enumerate(given) if many}


def _headline(case: Case, counts: Mapping[int, Counts]) -> Headline:
    """Return what the report says of a run."""
    totals = [
        PairTotals(number, *pair_scores(0, 1, five)[2:], five) for number, five in counts.items()
    ]
    labels = case.labels()
    looks = bool(case.max_pairs) or case.stopped
    field = Field(case.pairings(), totals, labels, even=bool(case.max_pairs), looks=looks)
    misfits = len(find_misfits(field)), field.residuals.tested
    challenger = labels[0] if case.panel == len(labels) - 1 else None
    return find_headline(field, misfits, challenger)


def judge(case: Case, run: Run) -> dict[str, bool]:
    """Return of every kind of sentence that a headline has whether it is wrong."""
    found, elos = run.found, run.elos
    gaps = [elos[upper] - elos[lower] for upper, lower in pairwise(found.order)]
    wrong = {}
    if any(found.apart):
        orders = zip(found.apart, gaps, strict=True)
        wrong["apart"] = any(apart and gap <= _EQUAL for apart, gap in orders)
    if top := found.top:
        if top.apart:
            others = [elo for label, elo in elos.items() if label != top.bot]
            wrong["strongest"] = elos[top.bot] - max(others) <= _EQUAL
        _, low, high, *_ = top.verdict
        wrong["lead"] = not round(low, 0) <= gaps[0] <= round(high, 0)
    if found.misfits:
        wrong["misfits"] = not case.spread
    if found.share:
        wrong["share"] = not found.share.share.low <= run.share <= found.share.share.high
    return wrong


def _play_and_judge(case: Case, run: int) -> tuple[dict[str, bool], float, bool, float]:
    """Return what is wrong, how likely the first bot was said to be the stronger, and is; apart."""
    made = play(case, run)
    apart = sum(made.found.apart) / max(1, len(made.found.apart))
    top = made.found.top
    if not top:
        return judge(case, made), 0.0, False, apart
    is_right = made.elos[top.bot] > made.elos[top.second]
    return judge(case, made), top.verdict.likely, is_right, apart


def simulate(case: Case, runs: int = RUNS, workers: int = 1) -> Said:
    """Return what the headlines of so many runs came to, played by so many processes."""
    one = partial(_play_and_judge, case)
    if workers == 1:
        made = [one(run) for run in range(runs)]
    else:
        with ProcessPoolExecutor(workers) as pool:
            made = [*pool.map(one, range(runs), chunksize=20)]
    said: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for by_kind, *_ in made:
        said.update(by_kind.keys())
        wrong.update(kind for kind, is_wrong in by_kind.items() if is_wrong)
    _, likely, right, apart = zip(*made, strict=True)
    return Said(runs, said, wrong, math.fsum(likely), sum(right), math.fsum(apart) / runs)


def lines(runs: int = RUNS, cases: Sequence[Case] = CASES) -> Iterator[str]:
    """Yield the tables of the section, each row as soon as it has been simulated."""
    yield (
        f"{runs:,} runs a row. `spread` is by how much Elo results lie around the ratings. Of\n"
        "each kind of sentence: in how many of 100 runs it was said, and in how many it was\n"
        "wrong, of which there may be 5. `strongest`: the first bot is. `lead`: its lead over the\n"
        "next one is in the interval, as it is shown. `apart`: neighbours that are apart are in\n"
        "the right order; said is the share of neighbours. `misfits`: pairings\n"
        "are not as Elo says. `share`: that of a challenger is in its interval. `likely`: how\n"
        "likely the first bot is said to be stronger than the next one, on average, and how\n"
        "often it is.\n"
    )
    yield (
        "| run | pairs | spread | strongest | lead | apart | misfits | share | likely |\n"
        "|---|---|---|---|---|---|---|---|---|"
    )
    for case in cases:
        found = simulate(case, runs, count_cores())
        cells = [case.name, f"{case.pairs:,}", f"{case.spread:g}"]
        cells += [_cell(found, kind) for kind in KINDS]
        cells.append(f"{100 * found.likely / runs:.1f} / {100 * found.right / runs:.1f}")
        yield f"| {' | '.join(cells)} |"


def _cell(found: Said, kind: str) -> str:
    """Return in how many of 100 runs a sentence was said, and wrong."""
    if not found.said[kind]:
        return "-"
    said = found.apart if kind == "apart" else found.said[kind] / found.runs
    return f"{100 * said:.1f} / {100 * found.wrong[kind] / found.runs:.1f}"
