"""Flat Monte Carlo: every action played out in many worlds.

Source: Ginsberg, "GIB: Imperfect Information in a Computationally Challenging Game", 2001,
for sampling worlds; with random play instead of a solver.
"""

from bots.endgame import Exact
from engine import Action, Setup, Thought, View, outcome, playout, sample


class FlatMc:
    """Averages the results of random games, the same worlds for every action.

    `worlds` are drawn for each decision, and each is played on once after each
    action. `positions` bounds the exact search of the last round; 0 switches it off.
    """

    def __init__(self, setup: Setup, worlds: int = 100, positions: int = 10_000) -> None:
        self.rng = setup.rng
        self.worlds = worlds
        self.exact = Exact(setup.rules, positions=positions)
        self.won: dict[Action, float] = {}

    def choose(self, view: View, /) -> Action:
        """Return the action that won most, the first if several tie."""
        best = self.exact.best(view)
        won = self.won = dict.fromkeys(best, 0.0)
        if len(best) == 1:
            return best[0]
        for _ in range(self.worlds):
            world = sample(view, self.rng)
            for action in best:
                game = world.copy()
                game.apply(action)
                playout(game, self.rng)
                winner = outcome(game.piles, view.rules).winner
                won[action] += 0.5 if winner is None else winner == view.seat
        return max(won, key=won.__getitem__)

    def thoughts(self) -> list[Thought]:
        """Return the exact values of the last choice, or how many of its games each action won."""
        won, games = self.won, self.worlds
        if self.exact.values or len(won) == 1:
            return self.exact.thoughts()
        return [Thought(action, wins / games, games) for action, wins in won.items()]


bot = FlatMc
