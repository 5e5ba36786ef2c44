"""Rate the bots of a run after its first pairs, from a few of them to all."""

from __future__ import annotations

from collections.abc import Collection

from arena.statistics.field import Field
from arena.statistics.intervals import Estimate
from arena.store.counting import Counts
from arena.tournament.tournament import Tournament


def make_course(
    tournament: Tournament, counts: Counts, labels: Collection[str], unrated: Collection[str]
) -> dict[int, dict[str, Estimate]]:
    """Return the rating of each bot by the number of pairs that count of every pairing.

    The numbers are the ends of the parts in which the run was counted; `labels` are the bots that
    have played. Prefixes in which bots are not connected that are connected in the end have no
    ratings.
    """
    if len(counts.ends) < 2:
        return {}
    rated = [label for label in tournament.labels if label in labels]
    anchor = tournament.anchor
    fixed = (anchor.bot, anchor.elo) if anchor else None
    even, played = tournament.chooses_pairings, counts.whole.played
    fields = []
    for part, end in enumerate(counts.ends):
        totals = played.where(played.part <= part).pair_totals
        fields.append((end, Field(tournament.pairings, totals, rated, unrated, fixed, even=even)))
    groups = len(fields[-1][1].groups)
    return {end: field.ratings() for end, field in fields if len(field.groups) == groups}
