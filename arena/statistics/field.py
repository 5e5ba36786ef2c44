"""Field: the bots of a run that are rated, and the fit of their games against one another."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from arena.statistics.apart import Evidence
from arena.statistics.counts import PairTotals, ScoreCounts
from arena.statistics.letters import give_letters
from arena.statistics.ratings import Fit, PairScores, Rating
from arena.statistics.superiority import find_superiority


class Field:
    """Rated bots, by label, in the order of the run; games against others are left out.

    `pairings` are two labels each, and `anchor` a label and its Elo. An anchor that is not rated
    is not used. With `even` every pairing weighs the same (`Fit`).
    """

    def __init__(
        self,
        pairings: Sequence[tuple[str, str]],
        totals: Iterable[PairTotals],
        labels: Sequence[str],
        unrated: Collection[str] = (),
        anchor: tuple[str, float] | None = None,
        *,
        even: bool = False,
    ) -> None:
        self.labels = [label for label in labels if label not in unrated]
        self.numbers: Mapping[str, int] = {label: n for n, label in enumerate(self.labels)}
        self.scores: list[PairScores] = []
        self.met: dict[tuple[int, int], ScoreCounts] = {}
        for number, pairs, total, squares, by_score in totals:
            bot, opponent = pairings[number]
            if bot in self.numbers and opponent in self.numbers:
                two = self.numbers[bot], self.numbers[opponent]
                self.scores.append(PairScores(*two, pairs, total, squares))
                self.met[two] = by_score
        self.fit = Fit(len(self.labels), self.scores, even=even)
        self.anchor = None
        if anchor and anchor[0] in self.numbers:
            self.anchor = self.numbers[anchor[0]], anchor[1]

    def give_letters(self, order: Sequence[str]) -> list[str | None]:
        """Return the letters of each bot: two bots share one if they were not told apart.

        `order` are labels, the strongest first; a bot that is not in the field has none.
        """
        rated = [label for label in order if label in self.numbers]
        evidence = Evidence(self.fit, self.met)

        def is_apart(upper: int, lower: int) -> bool:
            return evidence.is_apart(self.numbers[rated[upper]], self.numbers[rated[lower]])

        by_label = dict(zip(rated, give_letters(len(rated), is_apart), strict=True))
        return [by_label.get(label) for label in order]

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

    def unbounded(self) -> Iterator[tuple[str, str, float | None, float | None]]:
        """Yield the bots whose interval lacks an end: label, why, and both ends, None for none."""
        scale = self.fit.scale(self.anchor[0] if self.anchor else None)
        played = np.zeros(len(self.labels))
        points = np.zeros(len(self.labels))
        for bot, opponent, pairs, total, _ in self.scores:
            played[[bot, opponent]] += 2 * pairs
            points[[bot, opponent]] += total, 2 * pairs - total
        for label, rating in self.ratings().items():
            bot = self.numbers[label]
            if scale.no_high[bot]:
                record = "unbeaten" + ("" if points[bot] == played[bot] else " by the rest")
            elif scale.no_low[bot]:
                record = "winless" + ("" if points[bot] == 0 else " against the rest")
            else:
                continue
            yield label, record, *rating.cells[1:]


def make_superiority(field: Field, labels: Sequence[str]) -> pd.DataFrame:
    """Return the likelihood that the bot of a row is stronger than that of a column, 0 to 1.

    Rows and columns have the order of `labels`. It is empty for a bot and itself, for bots
    without a rating, and for two that no chain of games connects.
    """
    likely = find_superiority(field.fit)
    table = pd.DataFrame(likely, index=field.labels, columns=field.labels)
    table = table.round(4).reindex(index=[*labels], columns=[*labels])
    table.index.name = "bot"
    return table
