"""Runs that stop by themselves: how often they ever tell equal bots apart, or wrongly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from arena.tournament.barrier import Standings
from arena.tournament.schedule import Pairing, gauntlet, round_robin
from arena.tournament.stop import Until
from arena.tournament.until_rounds import UntilRounds
from bench.studies.fields import Simulated

SEED = 1970
RUNS = 400


class Case(NamedTuple):
    """A field, by the Elo of its bots, and a run; with a `panel` it is a gauntlet."""

    name: str
    elos: Sequence[float]
    pairs: int
    max_pairs: int
    panel: int = 0

    def pairings(self) -> list[Pairing]:
        """Return the pairings of the bots, whose labels are letters."""
        labels = self.labels()
        if self.panel:
            return gauntlet(labels[: -self.panel], labels[-self.panel :])
        return round_robin(labels)

    def labels(self) -> list[str]:
        """Return a label for each bot."""
        return [chr(ord("a") + number) for number in range(len(self.elos))]


CASES = (
    Case("2 equal bots", [1500, 1500], 5, 2000),
    Case("2 equal bots, from 1 pair on", [1500, 1500], 1, 500),
    Case("6 equal bots", [1500] * 6, 5, 500),
    Case("6 equal bots, from 1 pair on", [1500] * 6, 1, 200),
    Case("3 equal bots and a far weaker one", [1500, 1500, 1500, 800], 5, 500),
    Case("2 equal bots between others", [1700, 1600, 1600, 1500], 20, 1000),
    Case("2 bots 5 Elo apart", [1500, 1505], 10, 3000),
    Case("gauntlet of 3 equal bots", [1500, 1500, 1500, 1800, 1500, 1200], 5, 500, panel=3),
)


class Rates(NamedTuple):
    """How often a run told bots apart that are equal, or in the wrong order; mean pairs."""

    wrong: float
    pairs: float


def ever_wrong(case: Case, runs: int) -> Rates:
    """Return how often runs were ever wrong, at any of their barriers."""
    labels, pairings = case.labels(), case.pairings()
    elos = dict(zip(labels, case.elos, strict=True))
    wrong = pairs = 0
    for run in range(runs):
        rounds = UntilRounds(pairings, case.pairs, Until("resolved", case.max_pairs))
        ever = False
        for counts in Simulated(elos, SEED, run).rounds(rounds, pairings):
            standings = Standings(pairings, counts, ())
            for upper, lower in zip(*standings.verdicts.apart.nonzero(), strict=True):
                ever |= elos[standings.labels[upper]] <= elos[standings.labels[lower]]
        wrong += ever
        pairs += sum(standings.played.values())
    return Rates(wrong / runs, pairs / runs)


def lines(runs: int = RUNS) -> Iterator[str]:
    """Yield the table of the section, each row as soon as it has been simulated."""
    yield f"{runs:,} runs each, looked at after every round. At most 5 % may be wrong.\n"
    yield "| field | first pairs | most pairs | pairs played | ever apart wrongly |"
    yield "|---|---|---|---|---|"
    for case in CASES:
        rates = ever_wrong(case, runs)
        yield (
            f"| {case.name} | {case.pairs} | {case.max_pairs:,} | {rates.pairs:,.0f} "
            f"| {rates.wrong:.1%} |"
        )
