"""Three opinions of an action: tree, network, games played on.

The tree is `champion`'s, the network `apprentice`'s. For the third opinion every action is tried
against the same hands of the opponent. The round is played on by the network in both seats, and
what it ends with is worth what `champion`'s table says. The hands are all that fit where they are
few, and else drawn at random. Sources: those of `champion` and `apprentice`; Tesauro, Galperin,
"On-line Policy Improvement using Monte-Carlo Search", 1996, for the rollouts.
"""

from __future__ import annotations

from math import comb

from bots.champion import Champion, values_after
from engine import Action, Pack, Setup, View, size
from engine.worlds import hands, sample_hand

_FEW = 300  # deals of a hand, up to which all of them are tried


class Grandmaster(Champion):
    """Plays the action with the highest sum of three opinions.

    They are its share of the visits of the tree, `prior` times its probability under the policy of
    the network, and `weight` times what its rollouts win less often than those of the best one.
    `budget` is the effort: 1 takes some 40 ms, and the number of iterations and of rollouts grow
    with it. Under other rules than the published ones it plays as `champion`.
    """

    def __init__(
        self, setup: Setup, budget: float = 1.0, prior: float = 0.5, weight: float = 4.0
    ) -> None:
        super().__init__(setup, iterations=max(1, round(1000 * budget)), prior=prior)
        self.weight = weight
        self.decisions = round(6000 * budget)

    def worths(self, view: View) -> dict[Action, float]:
        """Return the sum of the three opinions of each action."""
        worths = super().worths(view)
        if self.published:
            wins = self.rollouts(view)
            best = max(wins.values())
            for action, won in wins.items():
                worths[action] += self.weight * (won - best)
        return worths

    def rollouts(self, view: View) -> dict[Action, float]:
        """Return the share of wins of each legal action, from its rollouts."""
        from arena.batch.rollouts import WHOLE, action_values
        from bots.apprentice import own_network

        worlds = self.worlds_of(view)
        policies = [own_network().scores_in] * 2
        found = action_values(view, [hand for hand, _ in worlds], policies, values_after)
        ways = [count for _, count in worlds]
        whole = WHOLE * sum(ways)
        return {
            action: int((row * ways).sum()) / whole
            for action, row in zip(view.legal, found, strict=True)
        }

    def worlds_of(self, view: View) -> list[tuple[Pack, int]]:
        """Return hands that the opponent may hold, each with how often it counts."""
        held, unseen = view.opponent_cards, size(view.unseen)
        if comb(unseen, held) <= _FEW:
            return [*hands(view)]
        left = self.rules.round_plies - len(view.history) % self.rules.round_plies
        count = max(1, self.decisions // (left * len(view.legal)))
        return [(sample_hand(view, self.rng), 1) for _ in range(min(count, _FEW))]


bot = Grandmaster
