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
from arena.addons.league.ledger import ACTIVE, Version
from arena.statistics.counts import PairTotals
from arena.statistics.distributions import Floats, expit
from arena.statistics.ratings import ELO, Fit, PairScores
from bench.studies.fields import score_shares

SEED: Final = 3012
BUDGETS: Final = (300, 600, 1200, 1500, 3000)  # pairs of the newcomer
PANEL: Final = 6
RULES: Final = ("league", "30 nearest", "uniform")
_FIELD = 250.0  # Elo points: the standard deviation of the bots of a league
_BEFORE = 1200  # pairs of each bot before the newcomer comes
_MET = 40  # others that a bot met before, in a large league
_MANY = 1_000_000  # pairs of a round robin without luck, as it were
_SPREAD = 38.0  # Elo points by which results differ from the Elo


class Arrival(NamedTuple):
    """Whether the interval covered the truth at each budget, and half its width."""

    covered: list[bool]
    half: list[float]


class _World:
    """A league of bots with a newcomer, the last of them, and its true leads in log odds."""

    def __init__(self, bots: int, seed: Sequence[int]) -> None:
        self.random = np.random.default_rng([*seed])
        strengths = self.random.normal(0, _FIELD / ELO, bots)
        beyond = np.triu(self.random.normal(0, _SPREAD / ELO, (bots, bots)), 1)
        self.leads: Floats = strengths[:, None] - strengths[None, :] + beyond - beyond.T
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

    def rated(self) -> tuple[list[Contender], Floats, float, float]:
        """Return the contenders, their pairs, and the newcomer's bounds."""
        versions = [
            Version(bot, f"bot{bot}", 1, "", "", "", 0.1, bot < PANEL, ACTIVE, "", "")
            for bot in range(self.bots)
        ]
        scores = np.arange(5) / 2
        totals = [
            PairTotals(n, sum(by), float(scores @ by), float(scores**2 @ by), tuple(by))
            for n, by in enumerate(self.counts.values())
        ]
        pairings = [(f"bot{bot}", f"bot{opponent}") for bot, opponent in self.counts]
        rows = {row.version: row for row in rate(versions, pairings, totals)}
        new = self.bots - 1
        zero = math.fsum(rows[bot].elo for bot in range(PANEL)) / PANEL
        row = rows.get(new)
        contenders = [Contender(rows[bot].elo, 5.0, 0.1, 1 << 30) for bot in range(self.bots - 1)]
        contenders.append(Contender(row.elo if row else zero, math.inf, 0.1, 1 << 30))
        pairs = np.zeros((self.bots, self.bots))
        for (bot, opponent), counts in self.counts.items():
            pairs[bot, opponent] = pairs[opponent, bot] = sum(counts)
        low = -math.inf if row is None or row.low is None else row.low - zero
        high = math.inf if row is None or row.high is None else row.high - zero
        return contenders, pairs, low, high


def arrive(bots: int, rule: str, run: int) -> Arrival:
    """Return what became of one newcomer to a league with so many bots, itself included."""
    world = _World(bots, [SEED, bots, run])
    truth = world.truth()
    covered, half, done = [], [], 0
    found = world.rated()
    for budget in BUDGETS:
        while done < budget:
            step = min(300, budget - done)
            for opponent, pairs in _choose(rule, found, step):
                world.play(bots - 1, opponent, pairs)
            done += step
            if rule != "uniform" or done == budget:
                found = world.rated()
        low, high = found[2:]
        covered.append(low <= truth <= high)
        half.append((high - low) / 2)
    return Arrival(covered, half)


def _choose(
    rule: str, found: tuple[list[Contender], Floats, float, float], step: int
) -> list[tuple[int, int]]:
    """Return the newcomer's next opponents, and the pairs against each."""
    contenders, pairs = found[:2]
    new = len(contenders) - 1
    if rule == RULES[0]:
        chosen = choose_meetings(contenders, pairs, step)
        return [(min(two), number) for two, number in chosen.items()]
    others = np.arange(new)
    if rule == "30 nearest":
        elos = np.array([contender.elo for contender in contenders])
        others = np.argsort(np.abs(elos[:new] - elos[new]), kind="stable")[:30]
    least = others[np.argsort(pairs[new, others], kind="stable")]
    blocks = [int(least[number % len(least)]) for number in range(step // BLOCK)]
    for opponent in blocks:
        pairs[new, opponent] += BLOCK
    return [(opponent, BLOCK) for opponent in blocks]


def lines(runs: int = 200) -> Iterator[str]:
    """Yield the table of the section, each row as soon as it has been simulated."""
    yield "Half the width of a newcomer's interval, in Elo points, and how often it covers."
    yield ""
    yield "| bots | rule | arrivals | " + " | ".join(f"{b:,} pairs" for b in BUDGETS) + " |"
    yield "|---|---|---|" + "---|" * len(BUDGETS)
    cases = ((12, RULES[:1]), (50, RULES), (200, RULES[:1]))
    for bots, rule in ((bots, rule) for bots, rules in cases for rule in rules):
        arrivals = [arrive(bots, rule, run) for run in range(runs)]
        cells = [
            f"{np.median([one.half[n] for one in arrivals]):.1f}, "
            f"{np.mean([one.covered[n] for one in arrivals]):.0%}"
            for n in range(len(BUDGETS))
        ]
        yield f"| {bots} | {rule} | {runs} | " + " | ".join(cells) + " |"
