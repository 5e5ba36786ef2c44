"""Takes: when bots take, how many cards, and worth how much at that moment."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from arena.batch.replay import Ints
from arena.batch.tally import find_points
from arena.insight.columns_of import interval, make_frame
from arena.insight.sides import Sides
from arena.statistics.intervals import Moments
from engine import Rules

_MEANS = ("cards", "gain", "lead")
_SHARES = ("early", "forced")


class Takes:
    """Adds up the takes of each bot by round and action: which of its actions in the round.

    Takes of forfeited games count. `gain` is what a take adds to the points of its pile,
    `lead` to the lead over the other one (R12-R15). A take is `early` if the row has fewer
    cards than a take may bring, and `forced` if the hand is empty (R8).
    """

    def __init__(self, labels: Sequence[str], rules: Rules) -> None:
        self.labels = labels
        self.rules = rules
        self.actions = rules.hand_size + 1
        keys = rules.rounds * self.actions + rules.rounds + 1  # by action, by round, and all
        self.share = Moments(len(labels) + 1, keys)
        self.moments = {name: Moments(len(labels) + 1, keys) for name in (*_MEANS, *_SHARES)}

    def add(self, sides: Sides) -> None:
        """Count the takes of a batch."""
        takes = sides.batch.replay.takes
        gain = find_points(takes.after, self.rules) - find_points(takes.before, self.rules)
        own = gain[takes.seat, np.arange(len(takes.seat))]
        cards = takes.cards.sum(axis=0)
        values = {
            "cards": cards,
            "gain": own,
            "lead": 2 * own - gain.sum(axis=0),
            "early": cards < self.rules.take_size,
            "forced": takes.action == self.actions,
        }
        # a damaged record may have more actions of a seat in a round
        key = (takes.round - 1) * self.actions + np.minimum(takes.action, self.actions) - 1

        def added(values: Ints | None = None) -> Ints:
            keys = self.rules.rounds * self.actions
            return self._with_totals(sides.add_up(takes.game, takes.seat, key, keys, values))

        counts = added()
        sides.add(self.share, self._out_of(counts), counts)
        for name, of_takes in values.items():
            sides.add(self.moments[name], counts, added(of_takes))

    def _with_totals(self, sums: Ints) -> Ints:
        """Return sums by action, then by round, then of all."""
        by_round = sums.reshape(self.rules.rounds, self.actions, -1).sum(axis=1)
        return np.concatenate([sums, by_round, by_round.sum(axis=0, keepdims=True)])

    def _out_of(self, counts: Ints) -> Ints:
        """Return how many takes each count is a share of: those of its round, or of all."""
        rounds = self.rules.rounds
        by_round, total = counts[-rounds - 1 : -1], counts[-1:]
        parts = [by_round.repeat(self.actions, axis=0), total.repeat(rounds, axis=0), total]
        return np.concatenate(parts)

    def table(self) -> pd.DataFrame:
        """Return a row for each bot, round and action; then for its rounds, and for all of them."""
        groups, rounds = len(self.labels) + 1, self.rules.rounds
        numbers = np.arange(1, rounds + 1)
        number = np.concatenate([numbers.repeat(self.actions), numbers, [-1]])
        action = np.concatenate(
            [np.tile(np.arange(1, self.actions + 1), rounds), [-1] * (rounds + 1)]
        )
        number, action = np.tile(number, groups), np.tile(action, groups)
        takes = self.share.totals.ravel()
        columns = {
            "bot": np.arange(groups).repeat(len(number) // groups),
            "round": number,
            "action": action,
            "takes": takes,
            **interval("share", "share", self.share.shares()),
        }
        for name in _MEANS:
            columns |= interval(name, name, self.moments[name].means())
        for name in _SHARES:
            columns |= interval(name, name, self.moments[name].shares())
        return make_frame(columns, self.labels, takes > 0)
