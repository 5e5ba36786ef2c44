"""Knows its opponent's policy: the best response, one ply ahead.

It weighs every hand that the opponent may hold by the probability that the policy of the `victim`
would have played the opponent's actions in this round. Each action is followed by a rollout to the
end of the round against the likeliest hands: `journeyman` plays its own seat, which is open-hand in
the last round, and the victim's policy plays the opponent's. The end is valued by `champion`, or
under other rules by `ismcts`.
Source: Lisy and Bowling, "Equilibrium Approximation Quality of Current No-Limit Poker Bots", 2017.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal, TypeAlias

from bots.champion import values_after
from bots.ismcts import SPREAD
from bots.majority import Promise
from engine import CITY, STANDARD, Action, Bot, Setup, View

Victim: TypeAlias = Literal[
    "apprentice", "city_hunter", "denier", "greedy", "journeyman", "majority", "timing"
]


SHORT = 16  # plies: shorter games are played to their end


class Responder:
    """Plays the action of the highest value against a known policy.

    The policy is that of the `victim`, which has the method `scores`; the victim deviates from it
    with probability `doubt`. Actions are tried against at most `worlds` hands. Actions at the next
    decisions are tried, too, as long as that takes at most `games` games in all. If it is `blind`,
    it learns nothing about the hand from what the victim plays.
    """

    def __init__(
        self,
        setup: Setup,
        victim: Victim = "apprentice",
        worlds: int = 60,
        games: int = 1000,
        doubt: float = 0.02,
        blind: bool = False,
    ) -> None:
        self.rng = setup.rng
        self.rules = setup.rules
        self.promise = Promise(setup.rules)
        self.worlds = worlds
        self.games = games
        self.doubt = doubt
        self.blind = blind
        own: Any = import_module("bots.journeyman").bot(setup)
        self.policies = [own.scores, own.scores]
        self.meet(setup, import_module(f"bots.{victim}").bot)

    def meet(self, setup: Setup, victim: Bot) -> Responder:
        """Respond to this bot from now on; raises TypeError if it has no method `scores`."""
        from arena.batch.beliefs import Belief, Model

        strategy = victim(setup._replace(seat=1 - setup.seat))
        scores = getattr(strategy, "scores", None)
        if not callable(scores):
            raise TypeError(f"{type(strategy).__name__} has no method scores(games)")
        self.policies[1 - setup.seat] = scores
        self.belief = Belief([Model(None if self.blind else scores, self.doubt)])
        return self

    def choose(self, view: View, /) -> Action:
        """Return the action with the highest worth, the first if several tie."""
        if len(view.legal) == 1:
            return view.legal[0]
        worths = self.worths(view)
        return max(view.legal, key=worths.__getitem__)

    def worths(self, view: View) -> dict[Action, int]:
        """Return the worth of each legal action, a whole number that is not normalised."""
        from arena.batch.rollouts import respond

        self.belief.update(view)
        games, weights = self.draw(view)
        worths = respond(games, weights, view.seat, self.policies, self.values, self.games)
        return {action: int(worths[action]) for action in view.legal}

    def draw(self, view: View) -> tuple[Any, Any]:
        """Return the worlds in which the actions are tried, and their whole weights.

        They end with the round, except in a short game: there they continue to its end, with
        several deals of the later cards for each hand.
        """
        import numpy as np

        from arena.batch.lockstep import Lockstep

        some, weights = self.belief.sample(self.worlds)
        if self.rules.game_plies > SHORT or view.round == self.rules.rounds:
            return self.belief.games.select(some), weights
        hands, times = self.belief.hands, -(-self.worlds // len(some))
        luck = np.random.default_rng(self.rng.getrandbits(64))
        held = [hands[place] for place in some] * times
        return Lockstep.from_view(view, held, luck), np.tile(weights, times)

    def values(self, games: Any) -> Any:
        """Return the chance of seat 0 to win in games of `arena.batch` that ended with a round."""
        import numpy as np

        if self.rules == STANDARD:
            return values_after(games)
        leads = self.promise.leads(*games.piles.view(np.int8))
        is_over = games.piles[:, CITY].max(axis=0) >= self.rules.cities_needed
        is_over |= games.round + 1 == self.rules.rounds
        return np.where(is_over, games.results(), 1 / (1 + np.exp(-leads / SPREAD)))


bot = Responder
