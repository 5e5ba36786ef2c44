"""Field: the bots of a run that are rated, and the fit of their games against one another."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import pandas as pd
from scipy.special import ndtr

from arena.statistics.ratings import Anchor, Fit, PairScores, Rating
from arena.statistics.rows import PairTotals
from arena.tournament.schedule import Pairing


class Field:
    """Rated bots, by label, in the order of the run; games against others are left out.

    `anchor` is a label with its Elo; that of a bot that is not rated is not used.
    """

    def __init__(
        self,
        pairings: Sequence[Pairing],
        totals: Iterable[PairTotals],
        labels: Sequence[str],
        unrated: Collection[str] = (),
        anchor: tuple[str, float] | None = None,
    ) -> None:
        self.labels = [label for label in labels if label not in unrated]
        self.numbers: Mapping[str, int] = {label: n for n, label in enumerate(self.labels)}
        self.scores = [
            PairScores(self.numbers[bot], self.numbers[opponent], pairs, total, squares)
            for number, pairs, total, squares in totals
            for bot, opponent in [pairings[number]]
            if bot in self.numbers and opponent in self.numbers
        ]
        self.fit = Fit(len(self.labels), self.scores)
        self.anchor = None
        if anchor and anchor[0] in self.numbers:
            self.anchor = Anchor(self.numbers[anchor[0]], anchor[1])

    @property
    def groups(self) -> list[list[str]]:
        """The labels of the groups of bots between which there were no games."""
        groups: dict[int, list[str]] = {}
        for label, group in zip(self.labels, self.fit.groups.tolist(), strict=True):
            groups.setdefault(group, []).append(label)
        return list(groups.values())

    def ratings(self) -> dict[str, Rating]:
        """Return the rating of each bot."""
        return dict(zip(self.labels, self.fit.ratings(self.anchor), strict=True))


def make_superiority(field: Field, labels: Sequence[str]) -> pd.DataFrame:
    """Return the likelihood that the bot of a row is stronger than that of a column, 0 to 1.

    Rows and columns have the order of `labels`. It is empty for a bot and itself, for bots
    without a rating, and for two that no chain of games connects.
    """
    fit = field.fit
    gaps = fit.strengths[:, None] - fit.strengths[None, :]
    errors = fit.gap_errors.copy()
    errors[errors == 0] = float("nan")  # a bot and itself
    table = pd.DataFrame(ndtr(gaps / errors), index=field.labels, columns=field.labels)
    table = table.round(4).reindex(index=[*labels], columns=[*labels])
    table.index.name = "bot"
    return table
