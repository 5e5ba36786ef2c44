"""Course: the ratings of a run after its first pairs, from a few of them to all."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from arena.statistics.counts import PairTotals
from arena.statistics.field import Field
from arena.statistics.intervals import Estimate
from arena.store.store import Store
from arena.tournament.tournament import Tournament

_MOST_POINTS = 25
_MOST_WORK = 250_000  # squares of bots: of 100 bots a fit takes 0.03 s


def make_course(
    tournament: Tournament,
    store: Store,
    labels: Collection[str],
    unrated: Collection[str],
    pairs: int,
) -> dict[int, dict[str, Estimate]]:
    """Return the rating of each bot by the number of pairs that count of every pairing.

    `pairs` is how many the longest pairing has, and `labels` are the bots that have played. For
    many bots there are fewer numbers, so that the cost stays bounded. Prefixes in which bots are
    not connected that are connected in the end have no ratings.
    """
    points = min(_MOST_POINTS, pairs, _MOST_WORK // max(1, len(labels)) ** 2)
    if points < 2:
        return {}
    rated = [label for label in tournament.labels if label in labels]
    anchor = tournament.anchor
    fixed = (anchor.bot, anchor.elo) if anchor else None
    even = tournament.chooses_pairings
    fields = [
        (end, Field(tournament.pairings, totals, rated, unrated, fixed, even=even))
        for end, totals in _prefixes(store.count_parts(pairs, points), pairs, points)
    ]
    groups = len(fields[-1][1].groups)
    return {end: field.ratings() for end, field in fields if len(field.groups) == groups}


def _prefixes(
    rows: Iterable[tuple[int, int, float, int]], pairs: int, points: int
) -> Iterator[tuple[int, list[PairTotals]]]:
    """Yield the ends of the prefixes, and the totals of all pairings up to there.

    A row is a part of the pairs, a pairing, the score of its first bot in a pair, and how many
    pairs of the part have this score.
    """
    parts: list[list[tuple[int, float, int]]] = [[] for _ in range(points)]
    for part, pairing, score, number in rows:
        parts[part].append((pairing, score, number))
    sums: dict[int, tuple[int, float, float]] = {}
    for part, of_part in enumerate(parts):
        for pairing, score, number in of_part:
            count, total, squares = sums.get(pairing, (0, 0.0, 0.0))
            sums[pairing] = count + number, total + number * score, squares + number * score**2
        end = -(-pairs * (part + 1) // points)
        yield end, [PairTotals(pairing, *sums[pairing]) for pairing in sorted(sums)]
