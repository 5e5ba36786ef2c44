"""Plays by a network, and the last round open-hand; no search.

The network is that of `apprentice`, trained further for these rounds (docs/training.md). In the
last one every action is worth the mean result of best play by both seats with all cards open, over
all hands that the opponent may hold: the same values as those of `endgame`, found in some ms by
`arena.batch.last_round`. Of equally good actions it plays the one that the network prefers. Under
other rules than the published ones it plays as `timing` does.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from bots.apprentice import Apprentice, Network, Numbers, load
from bots.endgame import OpenHand
from bots.timing import bot as plain_bot
from engine import STANDARD, Action, Setup, Strategy, Thought, View

SHA256: Final = "b7b5b62ac5cd284e8b3799d5396b0189b9678c9c4a65216ea16885f261f48fa5"
"""The hash of journeyman.npz: with other weights the source, and so the bot, is another."""

_RANK = 1 / (1 << 14)  # ranks add up to less than a difference of two values: 1/112 at least


class Journeyman(Apprentice):
    """Plays the best action of the last round, and before it that of the network."""

    def __init__(self) -> None:
        super().__init__(own_network())
        self.exact = OpenHand(STANDARD)

    def choose(self, view: View, /) -> Action:
        """Return the action."""
        best = self.exact.best(view)
        if len(best) == 1:
            return best[0]
        scores = self.network.scores(view)
        return max(best, key=scores.__getitem__)

    def scores(self, games: Any, /) -> Numbers:
        """Return the score of each action in many games (game, action).

        In the last round it is the open-hand value, from 0 to 1, and a little more for the action
        that the network prefers of equally good ones.
        """
        from arena.batch.last_round import expect_actions

        scores = super().scores(games)
        late = np.flatnonzero((games.round + 1 == STANDARD.rounds) & ~games.over)
        if len(late):
            some = games.select(late, to_come=False)
            rank = (scores[late, :, None] > scores[late, None, :]).sum(axis=2)
            scores[late] = expect_actions(some) + _RANK * rank
        return scores

    def thoughts(self) -> list[Thought]:
        """Return the open-hand values of the last view (`engine.Thinker`)."""
        return self.exact.thoughts()


def own_network() -> Network:
    """Return the network of this bot; raises ValueError for a file that is not its own."""
    return load("journeyman", SHA256)


def bot(setup: Setup) -> Strategy:
    """Return the strategy for one game."""
    return Journeyman() if setup.rules == STANDARD else plain_bot(setup)
