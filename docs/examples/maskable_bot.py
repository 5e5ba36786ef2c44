"""Plays what the network of maskable_ppo.py likes best.

It is the bot.py of a folder with maskable_ppo.npz; arena play ./masked/ greedy
"""

import io
import pkgutil

import numpy as np

from bots.timing import bot as plain_bot
from engine import STANDARD, Action, Setup, Strategy, View
from engine.encoding import encoder_of

weights = np.load(io.BytesIO(pkgutil.get_data(__name__, "maskable_ppo.npz")))
LAYERS = [
    (weights[f"{name}.weight"], weights[f"{name}.bias"])
    for name in ("mlp_extractor.policy_net.0", "mlp_extractor.policy_net.2", "action_net")
]


class Learner:
    """Plays the legal action that the network likes best."""

    def choose(self, view: View, /) -> Action:
        values = np.frombuffer(encoder_of(view.rules).observation(view), np.int8)
        for matrix, bias in LAYERS[:-1]:
            values = np.tanh(matrix @ values + bias)
        matrix, bias = LAYERS[-1]
        chances = matrix @ values + bias
        return max(view.legal, key=chances.__getitem__)


def bot(setup: Setup) -> Strategy:
    """Return the strategy for one game; under rules that it has not learned it is `timing`."""
    return Learner() if setup.rules == STANDARD else plain_bot(setup)
