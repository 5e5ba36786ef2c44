"""Compare two versions of a bot by the deals that both have played against the same opponents."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from arena.errors import counted
from arena.leagues.ledger import Ledger, Version
from arena.statistics.difference import Values, compare_means
from arena.statistics.intervals import Estimate
from arena.statistics.wording import write_estimate

_HALVES = 4  # half points of a pair
_FEWEST = 10  # pairs


class Change(NamedTuple):
    """By how much a version scores more than an older one, 0 to 1, on so many common deals."""

    old: Version
    estimate: Estimate
    pairs: int
    opponents: int

    def describe(self) -> str:
        """Return it as a sentence; points are of 100."""
        points = write_estimate(self.estimate.scaled(100), "+.1f", " points of 100")
        against = counted(self.opponents, "opponent")
        return (
            f"It scores {points} beside version {self.old.number}, "
            f"on {counted(self.pairs, 'common deal')} against {against}."
        )


def find_change(ledger: Ledger, new: Version, old: Version) -> Change | None:
    """Return the difference of two versions; None where they have few deals in common.

    Each opponent weighs the same. The pair is the unit; pairs on one deal go together.
    """
    ours, theirs = (_by_deal(ledger, version) for version in (new, old))
    strata = []
    for opponent in sorted(ours.keys() & theirs.keys()):
        common = sorted(ours[opponent].keys() & theirs[opponent].keys())
        if common:
            base, other = (
                np.array([of[opponent][pair] for pair in common], dtype=float) / _HALVES
                for of in (theirs, ours)
            )
            strata.append(Values(base, other, len(common)))
    pairs = sum(values.shared for values in strata)
    if pairs < _FEWEST:
        return None
    return Change(old, compare_means(strata).estimate, pairs, len(strata))


def _by_deal(ledger: Ledger, version: Version) -> dict[int, dict[int, int]]:
    """Return the half points of a version by opponent and by the number of the pair."""
    found: defaultdict[int, dict[int, int]] = defaultdict(dict)
    for result in ledger.results_of(version.id):
        for place, score in enumerate(result.scores):
            if score != "-":
                found[result.opponent][result.first + place] = int(score)
    return found
