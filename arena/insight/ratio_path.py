"""RatioPath: how the log-likelihood ratio of a comparison went as its pairs were played."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from arena.statistics.sprt import looks
from arena.store.store import Store
from arena.tournament.sprt_evidence import weigh
from arena.tournament.stop import Sprt
from arena.tournament.tournament import Tournament


class Look(NamedTuple):
    """The ratio after so many pairs; against other bots they are those of both versions."""

    pairs: int
    ratio: float


def read_path(
    tournament: Tournament, stop: Sprt, store: Store, played: int, out: Collection[str] = ()
) -> list[Look]:
    """Return the ratio at each look of the test, from the first one on.

    `played` are the pairs that were observed, of all opponents that are not `out`.
    """
    twins = [n for n in sorted(tournament.twins) if tournament.pairings[n].opponent not in out]
    path, counts = [], _no_counts(tournament)
    before = 0
    for look in looks(played // max(1, len(twins))):
        for number, seen in counts.items():
            more = _count(tournament, store, number, before, look)
            counts[number] = tuple(map(sum, zip(seen, more, strict=True)))
        evidence = weigh(tournament, stop, counts, out)
        path.append(Look(evidence.pairs, evidence.ratio))
        before = look
    return path


def _no_counts(tournament: Tournament) -> dict[int, tuple[int, ...]]:
    return {
        number: (0,) * (9 if number in tournament.twins else 5)
        for number in range(len(tournament.pairings))
    }


def _count(
    tournament: Tournament, store: Store, number: int, first: int, end: int
) -> tuple[int, ...]:
    """Return the pairs of a pairing by score, or of the new version by difference."""
    if number in tournament.twins:
        return store.count_differences(number, tournament.old_pairing(number), first, end)
    return store.count_pairs(number, first, end)
