"""Unrated: the bots that have no rating, because not a single game of theirs was played."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from arena.lanes.faults import BY_RULE, count_strikes
from arena.statistics.rows import Faults
from arena.tournament.schedule import Pairing

_IMPORT = "import"


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


def find_unrated(
    pairings: Sequence[Pairing], games: Mapping[int, int], faults: Iterable[Faults]
) -> set[str]:
    """Return the labels of bots that never load, and of those that met no other bots.

    A bot never loads if it has a fault of the kind `import`, and no game of it was begun:
    each is a forfeit of that kind or by rule. `games` are how many each pairing has.

    >>> pairings = [Pairing("a", "b"), Pairing("a", "broken"), Pairing("b", "broken")]
    >>> faults = [Faults(1, 1, "import", 10), Faults(2, 1, "max_faults", 10)]
    >>> find_unrated(pairings, {0: 10, 1: 10, 2: 10}, faults)
    {'broken'}
    """
    begun: Counter[str] = Counter()
    for number, count in games.items():
        for label in pairings[number]:
            begun[label] += count
    broken = set()
    for number, loser, kind, count in faults:
        if kind == _IMPORT:
            broken.add(pairings[number][loser])
        if kind in (_IMPORT, BY_RULE):
            begun.subtract(dict.fromkeys(pairings[number], count))
    never = {label for label in broken if not begun[label]}
    met = [pairings[number] for number in games if not never & {*pairings[number]}]
    return {*begun} - {label for pairing in met for label in pairing}
