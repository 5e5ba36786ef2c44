"""Find the bots that had too many faults, and those without a finished game, which are unrated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from arena.lanes.faults import BY_RULE, count_strikes
from arena.statistics.counts import Faults
from arena.tournament.schedule import Pairing


def find_out(pairings: Sequence[Pairing], faults: Iterable[Faults], max_faults: int) -> set[str]:
    """Return the labels of the bots that had too many faults.

    >>> faults = [Faults(0, 1, "exception", 3), Faults(0, 1, "max_faults", 10)]
    >>> find_out([Pairing("a", "b")], faults, max_faults=3)
    {'b'}
    """
    counts: Counter[str] = Counter()
    for pairing, loser, kind, games in faults:
        if kind != BY_RULE:
            counts[pairings[pairing][loser]] += games * count_strikes(kind, max_faults)
    return {label for label, count in counts.items() if count >= max_faults}


def count_faults(faults: Iterable[Faults]) -> int:
    """Return how many games a fault has ended, without those that were not played by rule.

    >>> count_faults([Faults(0, 1, "exception", 3), Faults(0, 1, "max_faults", 10)])
    3
    """
    return sum(games for _, _, kind, games in faults if kind != BY_RULE)


def find_unrated(pairings: Sequence[Pairing], finished: Mapping[int, int]) -> set[str]:
    """Return the labels of the bots without one finished game: one that no fault has ended.

    `finished` are how many such games each pairing has, by number.

    >>> pairings = [Pairing("a", "b"), Pairing("a", "broken"), Pairing("b", "broken")]
    >>> find_unrated(pairings, {0: 10, 1: 0})
    {'broken'}
    """
    rated = {label for number, games in finished.items() if games for label in pairings[number]}
    return {label for pairing in pairings for label in pairing} - rated
