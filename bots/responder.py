"""Knows its opponent's policy: the best response, one ply ahead.

It weighs every hand that the opponent may hold by what the opponent has played in this round, as
the policy of the `victim` would have. Each action is played on against the likeliest hands to the
end of the round: by `apprentice` for itself, and for the opponent by the victim's policy. What that
leads to is worth what `champion` has learned, or under other rules what `ismcts` expects. Source:
Lisy and Bowling, "Equilibrium Approximation Quality of Current No-Limit Poker Bots", 2017.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal, TypeAlias

from bots.champion import values_after
from bots.ismcts import SPREAD
from bots.majority import Promise
from engine import CITY, STANDARD, Action, Bot, Setup, View

Victim: TypeAlias = Literal["apprentice", "city_hunter", "denier", "greedy", "majority", "timing"]


SHORT = 16  # plies of a game that is played to its end


class Responder:
    """Plays the action that is worth most against a policy that it knows.

    The policy is that of the `victim`, which has the method `scores`, and of which the victim
    deviates with the chance of a `doubt`. Actions are tried against `worlds` hands at most. Those
    of the next decisions are, too, as long as there are at most so many `games` for them together.
    """

    def __init__(
        self,
        setup: Setup,
        victim: Victim = "apprentice",
        worlds: int = 60,
        games: int = 1000,
        doubt: float = 0.02,
    ) -> None:
        self.rng = setup.rng
        self.rules = setup.rules
        self.promise = Promise(setup.rules)
        self.worlds = worlds
        self.games = games
        self.doubt = doubt
        own: Any = import_module("bots.apprentice").bot(setup)
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
        self.belief = Belief([Model(scores, self.doubt)])
        return self

    def choose(self, view: View, /) -> Action:
        """Return the action with the highest worth, the first among equals."""
        if len(view.legal) == 1:
            return view.legal[0]
        worths = self.worths(view)
        return max(view.legal, key=worths.__getitem__)

    def worths(self, view: View) -> dict[Action, int]:
        """Return the worth of each legal action, a whole number without a common scale."""
        from arena.batch.responses import respond

        self.belief.update(view)
        games, weights = self.draw(view)
        worths = respond(games, weights, view.seat, self.policies, self.values, self.games)
        return {action: int(worths[action]) for action in view.legal}

    def draw(self, view: View) -> tuple[Any, Any]:
        """Return the worlds in which the actions are tried, and their whole weights.

        They end with the round. Only in a game of few plies they go on to its end, with several
        draws of the cards to come for each hand.
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
