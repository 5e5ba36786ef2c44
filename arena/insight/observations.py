"""Count the observations of a sequential test, in all and at each of its looks."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from arena.statistics.sprt import looks
from arena.store.store import Store
from arena.tournament.sprt_rounds import weigh
from arena.tournament.stop import Sprt
from arena.tournament.tournament import Tournament


class Look(NamedTuple):
    """The ratio after so many pairs; against other bots they are those of both versions."""

    pairs: int
    ratio: float


def count_observations(
    tournament: Tournament, store: Store, first: int, end: int
) -> dict[int, tuple[int, ...]]:
    """Return the pairs from `first` to `end` of each pairing, by the score of its first bot.

    Of two versions that met the same opponents they are by the difference of their scores.
    """
    return {
        number: store.count_differences(number, tournament.old_pairing(number), first, end)
        if number in tournament.new_pairings
        else store.count_pairs(number, first, end)
        for number in range(len(tournament.pairings))
    }


def read_path(
    tournament: Tournament, stop: Sprt, store: Store, played: int, out: Collection[str] = ()
) -> list[Look]:
    """Return the log-likelihood ratio at each look of the test, from the first one on.

    `played` are the pairs that were observed, of all opponents that are not `out`.
    """
    paired = [
        n for n in sorted(tournament.new_pairings) if tournament.pairings[n].opponent not in out
    ]
    path: list[Look] = []
    counts, before = count_observations(tournament, store, 0, 0), 0
    for look in looks(played // max(1, len(paired))):
        for number, more in count_observations(tournament, store, before, look).items():
            counts[number] = tuple(map(sum, zip(counts[number], more, strict=True)))
        evidence = weigh(tournament, stop, counts, out)
        path.append(Look(evidence.pairs, evidence.ratio))
        before = look
    return path
