"""Cards: how often each kind is played and taken, and how that goes with winning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from arena.batch.replay import Ints
from arena.insight.card_worth import Sample, Worth
from arena.insight.columns_of import interval, make_frame
from arena.insight.sides import Sides
from arena.statistics.intervals import Moments
from engine import KINDS, Rules
from engine.cards import CHARS

MOST_PAIRS = 25_000
"""Pairs from which the worth of cards is estimated: 50,000 games, with 16 MB of takes."""


class Cards:
    """Counts the cards that each bot plays and takes in a game, and keeps a sample of takes.

    The sample has the first pairs of every pairing, as many as its `quota` says. Forfeited games
    that have begun count in how often cards are played and taken, and not in what they are worth.
    """

    def __init__(self, labels: Sequence[str], rules: Rules, quota: Ints) -> None:
        self.labels = labels
        self.played = Moments(len(labels) + 1, len(KINDS))
        self.taken = Moments(len(labels) + 1, len(KINDS))
        self.sample = Sample(quota, rules)

    def add(self, sides: Sides) -> None:
        """Count the cards of a batch."""
        replay = sides.batch.replay
        begun = np.broadcast_to(replay.plies > 0, (2, len(KINDS), sides.batch.games))
        counts = sides.add_up_all(begun.astype(np.int64))
        sides.add(self.played, counts, sides.add_up_all(replay.count_played()))
        sides.add(self.taken, counts, sides.add_up_all(replay.piles[-1].astype(np.int64)))
        self.sample.add(sides.batch)

    def table(self) -> pd.DataFrame:
        """Return a row for each bot and kind of card, and for all bots."""
        groups, kinds = len(self.labels) + 1, len(KINDS)
        bot, kind = np.indices((groups, kinds)).reshape(2, -1)
        games = self.played.counts.ravel()
        worth: Worth = self.sample.worth(groups)
        columns = {
            "bot": bot,
            "card": np.array([*CHARS])[kind],
            "games": games,
            **interval("played", "played", self.played.means()),
            **interval("taken", "taken", self.taken.means()),
            "sampled": worth.games.repeat(kinds),
            "won": worth.won.ravel(),
            "expected": worth.expected.ravel(),
            **interval("more", "more", worth.more),
            **interval("adds", "adds", worth.adds),
        }
        return make_frame(columns, self.labels, games > 0)
