"""Show the standings so far of a run that is under way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from arena.insight.unrated import find_unrated
from arena.tournament.schedule import Pairing
from arena.tournament.tournament import Anchor

if TYPE_CHECKING:
    from arena.store.counting import Counts

_MOST_FITTED = 5000  # pairings: a fit of a hundred bots takes a tenth of a second


class Interim:
    """Keeps what games are counted into as they come; the tables are made when they are shown."""

    def __init__(self, pairings: Sequence[Pairing], anchor: Anchor | None = None) -> None:
        self.pairings = pairings
        self.anchor = anchor
        self.counts: list[Counts] = []

    def add(self, counts: Counts) -> None:
        """Add games to those that are counted."""
        self.counts.append(counts)

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the standings so far, of the bots that have played, best first.

        They have the columns that `insight.summary` shows. Bots without a rating, and all
        bots where there are too many to be rated in between, are in the order of their score.
        """
        from arena.insight.tables import make_sides, tally
        from arena.store.counting import add_up

        counts = add_up(self.counts)
        self.counts = [counts]
        unrated = find_unrated(self.pairings, counts.finished)
        table = tally(make_sides(self.pairings, counts.tallies), ["bot"])
        elo = self._rate([label for label in table["bot"] if label not in unrated], counts)
        rows = [
            {str(name): value for name, value in row.items()}
            | dict(
                zip(("elo", "elo_low", "elo_high"), elo.get(row["bot"], [None] * 3), strict=True)
            )
            for row in table.to_dict("records")
        ]
        rows.sort(key=lambda row: (row["elo"] is None, -(row["elo"] or row["score"]), row["bot"]))
        return [row | {"rank": rank} for rank, row in enumerate(rows, 1)]

    def _rate(self, labels: Sequence[str], counts: Counts) -> dict[str, Sequence[float | None]]:
        """Return the cells of these bots' ratings, by label."""
        from arena.statistics.field import Field

        totals = counts.played.pair_totals
        if not labels or len(totals) > _MOST_FITTED:
            return {}
        anchor = (self.anchor.bot, self.anchor.elo) if self.anchor else None
        ratings = Field(self.pairings, totals, labels, (), anchor).ratings()
        return {label: rating.cells for label, rating in ratings.items()}
