"""Perfect-information Monte Carlo: alpha-beta in sampled worlds.

Every action is judged in each of some worlds by a search that sees all hands, and the one with
the best average is played. In the last round all worlds are searched to the end. Source: Levy, "The
Million Pound Bridge Program", 1989; Long, Sturtevant, Buro, Furtak, "Understanding the
Success of Perfect Information Monte Carlo Sampling in Game Tree Search", 2010.
"""

from __future__ import annotations

from math import inf

from bots.endgame import Exact
from bots.majority import Promise
from engine import Action, Seat, Setup, State, View, cards_of, pack_of, sample
from engine.cards import UNIT


class Pimc:
    """Searches `plies` actions deep in each of `worlds` worlds.

    Where the search stops, piles are worth what they promise, and a seat that has not taken
    is credited with the end of the row, or with average cards if those are better.
    `positions` bounds the exact search of the last round; 0 switches it off.
    """

    def __init__(
        self, setup: Setup, worlds: int = 2, plies: int = 6, positions: int = 10_000
    ) -> None:
        self.rng = setup.rng
        self.worlds = worlds
        self.plies = plies
        self.promise = Promise(setup.rules)
        self.exact = Exact(setup.rules, positions=positions)
        self.size = setup.rules.take_size
        self.par = 0.0

    def choose(self, view: View, /) -> Action:
        """Return the action with the best average, the first if several tie."""
        best = self.exact.best(view)
        if len(best) == 1:
            return best[0]
        self.par = self.average(view)
        worth = dict.fromkeys(best, 0.0)
        for _ in range(self.worlds):
            world = sample(view, self.rng)
            world.deck = b""  # the search ends with this round
            for action in best:
                worth[action] -= self.after(world, action, self.plies - 1, -inf, inf)
        return max(worth, key=worth.__getitem__)

    def average(self, view: View) -> float:
        """Return what a take of unseen cards promises on average."""
        lead = self.promise.lead(view.piles)
        first, second = view.piles
        unseen = cards_of(view.unseen)
        takes = [UNIT[kind] for kind in unseen]
        each = [after - lead for after in self.promise.leads_after(first, second, takes)]
        return self.size * sum(each) / max(1, len(unseen))

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

    def promised(self, world: State, seat: Seat) -> float:
        """Return the lead that a position promises a seat."""
        (first, second), end = world.piles, pack_of(world.row[-self.size :])
        now = lead = self.promise.lead(world.piles)
        if not (world.over or world.taken[0]):
            gain = self.promise.lead((first + end, second)) - now
            lead += max(gain, self.par) if world.hands[0] else gain
        if not (world.over or world.taken[1]):
            gain = now - self.promise.lead((first, second + end))
            lead -= max(gain, self.par) if world.hands[1] else gain
        return lead if seat == 0 else -lead


bot = Pimc
