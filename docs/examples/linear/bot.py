"""Plays what a linear policy likes best; what it likes was learned by learn.py."""

import io
import pkgutil
from functools import cache

import numpy as np

from engine import TAKE, Action, Setup, View

KINDS = 11
FEATURES = 4 * KINDS + 2


class Linear:
    """Plays the action that its weights like best."""

    def __init__(self, setup: Setup) -> None:
        self.rng = setup.rng
        self.weights = weights()

    def choose(self, view: View, /) -> Action:
        liked = {action: int(features(view, action) @ self.weights) for action in view.legal}
        best = max(liked.values())
        return self.rng.choice([action for action in liked if liked[action] == best])


@cache
def weights() -> np.ndarray:
    """Return what was learned: whole numbers, which add up alike on every machine."""
    content = pkgutil.get_data(__name__, "weights.npz")
    return np.load(io.BytesIO(content))["weights"]


def features(view: View, action: Action) -> np.ndarray:
    """Return an action in this view as numbers."""
    found = np.zeros(FEATURES, dtype=np.int64)
    late = view.taken[view.opponent]
    if action == TAKE:
        found[-1] = 1
        found[-2] = view.opponent_cards
        for kind in view.row[-view.rules.take_size :]:
            found[kind] += 1
    else:
        found[(2 if late else 1) * KINDS + action] = 1
        if action in view.row:
            found[3 * KINDS + action] = 1
    return found


bot = Linear
