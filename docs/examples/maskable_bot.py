"""Plays what the network of maskable_ppo.py likes best.

arena pack maskable_bot.py maskable_ppo.npz -o learner.py; arena play ./learner.py greedy
"""

import io
import pkgutil

import numpy as np

from engine import Action, Setup, View
from engine.encoding import encoder_of

weights = np.load(io.BytesIO(pkgutil.get_data(__name__, "maskable_ppo.npz")))
LAYERS = [
    (weights[f"{name}.weight"], weights[f"{name}.bias"])
    for name in ("mlp_extractor.policy_net.0", "mlp_extractor.policy_net.2", "action_net")
]


class Learner:
    """Plays the legal action that the network likes best."""

    def __init__(self, setup: Setup) -> None:
        self.encoder = encoder_of(setup.rules)

    def choose(self, view: View, /) -> Action:
        values = np.frombuffer(self.encoder.observation(view), np.int8).astype(np.float32)
        for matrix, bias in LAYERS[:-1]:
            values = np.tanh(matrix @ values + bias)
        matrix, bias = LAYERS[-1]
        chances = matrix @ values + bias
        return max(view.legal, key=chances.__getitem__)


bot = Learner
