"""Tries each action in worlds that fit, and plays the round on.

The opponent's hands are drawn at random, the same for every action. The network of `apprentice`
plays both seats to the end of the round, and `champion`'s table says what that is worth.
"""

from arena.batch.rollouts import action_values
from bots.apprentice import own_network
from bots.champion import values_after
from bots.timing import bot as plain_bot
from engine import STANDARD, sample_hand

network = own_network()


class Rollouts:
    """Plays the action that wins most in its worlds."""

    def __init__(self, setup, worlds):
        self.rng = setup.rng
        self.worlds = worlds

    def choose(self, view, /):
        if len(view.legal) == 1:
            return view.legal[0]
        hands = [sample_hand(view, self.rng) for _ in range(self.worlds)]
        policies = network.scores_in, network.scores_in
        values = action_values(view, hands, policies, values_after)  # (action, hand)
        return view.legal[values.sum(axis=1).argmax()]


def bot(setup, worlds: int = 50):
    """Return the strategy for one game: under other rules than the published ones, `timing`."""
    return Rollouts(setup, worlds) if setup.rules == STANDARD else plain_bot(setup)
