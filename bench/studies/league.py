"""A newcomer to a league: how well its interval covers its Elo against all, and how narrow it is.

The true leads of a simulated league differ from the Elo of its bots by numbers with the standard
deviation that our own bots have, 38 Elo points. Its bots have played one another for a while. A
newcomer then meets opponents as a rule chooses them, and the league's own code rates all. The truth
is the newcomer's Elo against all others, from an equal round robin without luck, above the mean of
the panel.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from arena.addons.league.league_ratings import BLOCK, Contender, choose_meetings, rate
from arena.addons.league.league_tables import ACTIVE, Pairs, Version
from arena.statistics.distributions import Floats, expit
from arena.statistics.ratings import ELO, Fit, PairScores
from bench.studies.fields import score_shares

SEED: Final = 3012
BUDGETS: Final = (300, 600, 1200, 1500, 3000)  # pairs of the newcomer
PANEL: Final = 6
RULES: Final = ("greatest drop", "30 nearest", "uniform")
ONLY: Final = "the panel only"
_FIELD = 250.0  # Elo points: the standard deviation of the bots of a league
_BEFORE = 1200  # pairs of each bot before the newcomer comes
_MET = 40  # others that a bot met before, in a large league
_MANY = 1_000_000  # pairs of a round robin without luck, as it were
_TARGET = 15.0
_OWN = 5.0  # Elo points between near copies
_SPREAD = 38.0  # Elo points by which results differ from the Elo


class Arrival(NamedTuple):
    """Whether the interval covered the truth at each budget, and half its width."""

    covered: list[bool]
    half: list[float]


class _World:
    """A league of bots with a newcomer, the last of them, and its true leads in log odds.

    The first bots, its panel, are families of so many near copies, which play alike against others.
    """

    def __init__(self, bots: int, copies: int, seed: Sequence[int]) -> None:
        self.random = np.random.default_rng([*seed])
        strengths = self.random.normal(0, _FIELD / ELO, bots)
        beyond = np.triu(self.random.normal(0, _SPREAD / ELO, (bots, bots)), 1)
        model = np.arange(bots)  # whose play a bot copies
        model[:PANEL] -= model[:PANEL] % copies
        own = self.random.normal(0, _OWN / ELO, bots) * (model != np.arange(bots))
        strengths = strengths[model] + own
        beyond = (beyond - beyond.T)[np.ix_(model, model)]
        self.leads: Floats = strengths[:, None] - strengths[None, :] + beyond
        self.bots = bots
        self.counts: dict[tuple[int, int], list[int]] = {}
        steps = min(_MET // 2, (bots - 2) // 2)
        for bot in range(bots - 1):
            for step in range(1, steps + 1):
                self.play(bot, (bot + step) % (bots - 1), _BEFORE // (2 * steps))

    def play(self, bot: int, opponent: int, pairs: int) -> None:
        """Play some pairs of two bots."""
        two = min(bot, opponent), max(bot, opponent)
        shares = score_shares(float(expit(self.leads[two])))
        drawn = self.random.multinomial(pairs, np.array(shares) / sum(shares))
        before = self.counts.get(two, [0] * 5)
        self.counts[two] = [a + int(b) for a, b in zip(before, drawn, strict=True)]

    def truth(self) -> float:
        """Return the newcomer's Elo above the panel in a round robin of all without luck."""
        scores = []
        for bot in range(self.bots):
            for opponent in range(bot + 1, self.bots):
                total = 2 * _MANY * float(expit(self.leads[bot, opponent]))
                scores.append(PairScores(bot, opponent, _MANY, total, total**2 / _MANY))
        strengths = Fit(self.bots, scores).strengths
        return ELO * float(strengths[-1] - strengths[:PANEL].mean())

    def rated(self) -> tuple[list[Contender], Floats, float, float, float]:
        """Return the contenders, their pairs, the spread, and the newcomer's bounds."""
        versions = [
            Version(bot, f"bot{bot}", 1, "", "", "", 0.1, bot < PANEL, ACTIVE, "", "")
            for bot in range(self.bots)
        ]
        played = [Pairs(*two, tuple(by_score)) for two, by_score in self.counts.items()]
        found = rate(versions, played, ())
        new = self.bots - 1
        zero = math.fsum(found.rows[bot].elo for bot in range(PANEL)) / PANEL
        row = found.rows.get(new)
        contenders = [
            Contender(found.rows[bot].elo, 5.0, 0.1, 1 << 30) for bot in range(self.bots - 1)
        ]
        contenders.append(Contender(row.elo if row else zero, math.inf, 0.1, 1 << 30))
        pairs = np.zeros((self.bots, self.bots))
        for (bot, opponent), counts in self.counts.items():
            pairs[bot, opponent] = pairs[opponent, bot] = sum(counts)
        low = -math.inf if row is None or row.low is None else row.low - zero
        high = math.inf if row is None or row.high is None else row.high - zero
        return contenders, pairs, found.spread[0], low, high


def arrive(bots: int, rule: str, run: int, copies: int = 1) -> Arrival:
    """Return what became of one newcomer to a league with so many bots, itself included.

    Its panel are families of so many near copies.
    """
    world = _World(bots, copies, [SEED, bots, run])
    truth = world.truth()
    covered, half, done = [], [], 0
    found = world.rated()
    for budget in BUDGETS:
        while done < budget:
            step = min(300, budget - done)
            for opponent, pairs in _choose(rule, found, step):
                world.play(bots - 1, opponent, pairs)
            done += step
            if rule not in ("uniform", ONLY) or done == budget:
                found = world.rated()
        low, high = found[3:]
        covered.append(low <= truth <= high)
        half.append((high - low) / 2)
    return Arrival(covered, half)


def _choose(
    rule: str, found: tuple[list[Contender], Floats, float, float, float], step: int
) -> list[tuple[int, int]]:
    """Return the newcomer's next opponents, and the pairs against each."""
    contenders, pairs, spread = found[:3]
    new = len(contenders) - 1
    if rule == "greatest drop":
        chosen = choose_meetings(contenders, pairs, spread, step, _TARGET)
        return [(min(two), number) for two, number in chosen.items()]
    others = np.arange(PANEL if rule == ONLY else new)
    if rule == "30 nearest":
        elos = np.array([contender.elo for contender in contenders])
        others = np.argsort(np.abs(elos[:new] - elos[new]), kind="stable")[:30]
    least = others[np.argsort(pairs[new, others], kind="stable")]
    blocks = [int(least[number % len(least)]) for number in range(step // BLOCK)]
    for opponent in blocks:
        pairs[new, opponent] += BLOCK
    return [(opponent, BLOCK) for opponent in blocks]


def lines(runs: int = 400) -> Iterator[str]:
    """Yield the table of the section, each row as soon as it has been simulated."""
    yield "Half the width of a newcomer's interval, in Elo points, and how often it covers."
    yield ""
    cases = ((12, RULES[:1]), (50, RULES), (200, RULES[:1]))
    yield from _table([(bots, rule, 1) for bots, rules in cases for rule in rules], runs)


def copies(runs: int = 150) -> Iterator[str]:
    """Yield the same of leagues whose panel of six are near copies, or two families of three."""
    yield "Half the width of a newcomer's interval, in Elo points, and how often it covers, where"
    yield "the six bots of the panel are families of so many near copies: these are 5 Elo points"
    yield "from one another, and deviate alike from their Elo against every other bot. Before they"
    yield "counted as a family (commit 433ae585, 60 to 300 arrivals) intervals of the first three"
    yield "rows covered in 91 to 96 %, 56 to 81 % and 60 to 75 %."
    yield ""
    cases = [(12, RULES[0], 6), (12, ONLY, 6), (50, ONLY, 6), (50, ONLY, 3)]
    yield from _table(cases, runs)


def _table(cases: Sequence[tuple[int, str, int]], runs: int) -> Iterator[str]:
    """Yield a row for each number of bots, rule and number of copies of each bot of the panel."""
    yield (
        "| bots | rule | copies | arrivals | " + " | ".join(f"{b:,} pairs" for b in BUDGETS) + " |"
    )
    yield "|---|---|---|---|" + "---|" * len(BUDGETS)
    for bots, rule, of_each in cases:
        arrivals = [arrive(bots, rule, run, of_each) for run in range(runs)]
        cells = [
            f"{np.median([one.half[n] for one in arrivals]):.1f}, "
            f"{np.mean([one.covered[n] for one in arrivals]):.0%}"
            for n in range(len(BUDGETS))
        ]
        yield f"| {bots} | {rule} | {of_each} | {runs} | " + " | ".join(cells) + " |"
