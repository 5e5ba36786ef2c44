"""Perfect-information Monte Carlo: alpha-beta in sampled worlds.

Every action is judged in each of some worlds by a search that sees all hands, and the best
average is played; in the last round all worlds are searched to the end. Source: Levy, "The
Million Pound Bridge Program", 1989; Long, Sturtevant, Buro, Furtak, "Understanding the
Success of Perfect Information Monte Carlo Sampling in Game Tree Search", 2010.
"""

from __future__ import annotations

from math import inf

from bots.endgame import Exact
from bots.majority import Promise
from engine import Action, Setup, State, View
from engine.cards import pack_of
from engine.worlds import sample


class Pimc:
    """Searches `plies` actions deep in each of `worlds` worlds.

    Where the search stops, whoever has not taken takes at once, and the piles are worth
    what they promise. `positions` bounds the exact search of the last round.
    """

    def __init__(
        self, setup: Setup, worlds: int = 20, plies: int = 4, positions: int = 10_000
    ) -> None:
        self.rng = setup.rng
        self.worlds = worlds
        self.plies = plies
        self.promise = Promise(setup.rules)
        self.exact = Exact(setup.rules, positions=positions)
        self.size = setup.rules.take_size

    def choose(self, view: View, /) -> Action:
        """Return the action with the best average, the first among equals."""
        best = self.exact.best(view)
        if len(best) == 1:
            return best[0]
        worth = dict.fromkeys(best, 0.0)
        for _ in range(self.worlds):
            world = sample(view, self.rng)
            world.deck = b""  # what is dealt after this round is nobody's to see
            for action in best:
                worth[action] -= self.after(world, action, self.plies - 1, -inf, inf)
        return max(worth, key=worth.__getitem__)

    def after(self, world: State, action: Action, plies: int, low: float, high: float) -> float:
        """Return what an action leaves to the opponent, in promised points."""
        rival = 1 - world.to_act
        world = world.copy()
        world.apply(action)
        if world.over or not plies:
            return self.promised(world, rival)
        best = -inf
        for reply in reversed(world.legal()):  # the take, if legal, comes first
            best = max(best, -self.after(world, reply, plies - 1, -high, -max(low, best)))
            if best >= high:
                break
        return best

    def promised(self, world: State, seat: int) -> float:
        """Return the lead of a seat, once both have taken."""
        piles, row = [*world.piles], world.row
        for taker in (seat, 1 - seat):
            if not (world.over or world.taken[taker]):
                piles[taker] += pack_of(row[-self.size :])
                row = row[: -self.size]
        lead = self.promise.lead((piles[0], piles[1]))
        return lead if seat == 0 else -lead


bot = Pimc
