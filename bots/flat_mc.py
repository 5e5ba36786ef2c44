"""Flat Monte Carlo: plays every action on at random, in many worlds.

Source: Ginsberg, "GIB: Imperfect Information in a Computationally Challenging Game", 2001,
for sampling worlds; with random play instead of a solver.
"""

from engine import Action, Setup, View, outcome
from engine.play import playout
from engine.worlds import sample


class FlatMc:
    """Averages the results of random games, the same worlds for every action.

    `worlds` are drawn for each decision, and each of them is played on once for each legal
    action.
    """

    def __init__(self, setup: Setup, worlds: int = 100) -> None:
        self.rng = setup.rng
        self.worlds = worlds

    def choose(self, view: View, /) -> Action:
        """Return the action that won most, the first among equals."""
        if len(view.legal) == 1:
            return view.legal[0]
        won = dict.fromkeys(view.legal, 0.0)
        for _ in range(self.worlds):
            world = sample(view, self.rng)
            for action in view.legal:
                game = world.copy()
                game.apply(action)
                playout(game, self.rng)
                winner = outcome(game.piles, view.rules).winner
                won[action] += 0.5 if winner is None else winner == view.seat
        return max(won, key=won.__getitem__)


bot = FlatMc
