"""Learns to choose as `timing` does, and writes weights.npz."""

import numpy as np
from bot import FEATURES, features

from bots.timing import bot as teacher
from engine import Action, Setup, View, play_game

GAMES = 100
STEPS = 200

seen: list[tuple[View, Action]] = []


class Watched:
    """Plays as the teacher does, and writes down its choices."""

    def __init__(self, setup: Setup) -> None:
        self.teacher = teacher(setup)

    def choose(self, view: View, /) -> Action:
        action = self.teacher.choose(view)
        if len(view.legal) > 1:
            seen.append((view, action))
        return action


for seed in range(GAMES):
    play_game(Watched, Watched, seed=seed)

options = np.zeros((len(seen), 12, FEATURES))
legal = np.zeros((len(seen), 12), dtype=bool)
chosen = np.zeros((len(seen), 12))
for number, (view, action) in enumerate(seen):
    chosen[number, action] = 1
    for other in view.legal:
        legal[number, other] = True
        options[number, other] = features(view, other)

weights = np.zeros(FEATURES)
for _ in range(STEPS):  # climb the likelihood of the teacher's choices
    liked = np.where(legal, options @ weights, -np.inf)
    shares = np.exp(liked - liked.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    weights += np.tensordot(chosen - shares, options, axes=2) / len(seen)

liked = np.where(legal, options @ weights, -np.inf)
alike = np.mean(liked.argmax(axis=1) == chosen.argmax(axis=1))
np.savez("weights.npz", weights=np.rint(1000 * weights).astype(np.int64))
print(f"{len(seen):,} choices of {GAMES} games; {alike:.0%} are the teacher's")
