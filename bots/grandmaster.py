"""Three opinions of an action: tree, network, games played on.

The tree is `champion`'s, the network `apprentice`'s. For the third opinion every action is tried
against the same hands of the opponent. The round is played on by the network in both seats, and its
end is valued by `champion`'s table. The hands are all possible ones if they are few, and otherwise
drawn at random. Sources: those of `champion` and `apprentice`; Tesauro, Galperin, "On-line Policy
Improvement using Monte-Carlo Search", 1996, for the rollouts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from bots.champion import Champion, values_after
from bots.ismcts import Node
from engine import Action, Setup, View, sample

_MOST = 300  # hands in which actions are tried
_SHARE = 0.04  # of a model of the opponent, before the first round
_DOUBTS = 1 / 64, 0.5  # a model plays as its bot does, or half of the time
_PARTS = 4  # of the hands, of which an appraisal in the last round has one
_SEARCHES = 1000  # iterations of the search after an action


class Grandmaster(Champion):
    """Plays the action with the highest sum of three opinions.

    They are its share of the visits of the tree, `prior` times its probability under the policy of
    the network, and `weight` times the share of wins of its rollouts minus the best action's.
    `budget` is the effort: 1 takes some 30 ms, and the number of iterations and of rollouts grow
    with it. With `models` the hands of the rollouts are those of an opponent that may play as
    `apprentice`, as `timing`, or as neither; if it is certain to play as one of them, the rollouts
    weigh 1 + `trust` times as much. Under other rules than the published ones it plays as
    `champion`.
    """

    def __init__(
        self,
        setup: Setup,
        budget: float = 1.0,
        prior: float = 0.5,
        weight: float = 4.0,
        models: bool = True,
        trust: float = 9.0,
    ) -> None:
        super().__init__(setup, iterations=max(1, round(1000 * budget)), prior=prior)
        self.weight = weight
        self.decisions = round(6000 * budget)
        self.models = models
        self.trust = trust
        if self.published:
            self.belief, self.policies = self.believe(setup)

    def believe(self, setup: Setup) -> tuple[Any, list[Any]]:
        """Return the belief about the opponent's hand, and the opponent's policy in each model."""
        from arena.batch.beliefs import Belief, Model
        from bots.apprentice import own_network
        from bots.timing import bot as timing

        network, rule = own_network().scores_in, timing(setup).scores
        policies = (network, rule) if self.models else ()
        known = [(policy, doubt) for policy in policies for doubt in _DOUBTS]
        models = [Model(policy, doubt, _SHARE) for policy, doubt in known]
        nothing = Model(None, share=1 - _SHARE * len(models))
        return Belief([nothing, *models]), [network, *(policy for policy, _ in known)]

    def expect(self, opponent: Mapping[str, float]) -> None:
        """Believe that the opponent plays as these bots, by name, with these probabilities.

        They have a method `scores`. What is left of the probability is that of any action.
        """
        from arena.batch.beliefs import Belief, Mix, Model

        own = Setup(self.rng, 0, self.rules)
        policies = [import_module(f"bots.{name}").bot(own).scores for name in opponent]
        nothing, mix = Model(None, share=_SHARE), Mix(policies, [*opponent.values()])
        self.belief = Belief([nothing, mix])
        self.policies = [self.policies[0], policies[0]]

    def worths(self, view: View) -> dict[Action, float]:
        """Return the sum of the three opinions of each action."""
        worths = super().worths(view)
        if self.published:
            wins = self.rollouts(view)
            best = max(wins.values())
            surely = float(self.belief.chances[1 :: len(_DOUBTS)].sum())
            weight = self.weight * (1 + self.trust * surely)
            for action, won in wins.items():
                worths[action] += weight * (won - best)
        return worths

    def rollouts(self, view: View) -> dict[Action, float]:
        """Return the share of wins of each legal action, from its rollouts."""
        policies = [self.policies[0]] * 2
        self.belief.update(view)
        policies[view.opponent] = self.policies[int(self.belief.chances.argmax())]
        return self.played_on(view, policies, slice(None))

    def played_on(self, view: View, policies: Sequence[Any], part: slice) -> dict[Action, float]:
        """Return the share of wins of each legal action if policies play on, in a part of hands."""
        from arena.batch.rollouts import WHOLE, action_values

        left = self.rules.round_plies - len(view.history) % self.rules.round_plies
        most = max(1, self.decisions // (left * len(view.legal)))
        some, weights = self.belief.sample(min(most, _MOST))
        if weights[part].any():  # some hands are next to impossible
            some, weights = some[part], weights[part]
        hands = self.belief.hands
        found = action_values(view, [hands[place] for place in some], policies, values_after)
        whole = WHOLE * int(weights.sum())
        return {
            action: int(row @ weights) / whole
            for action, row in zip(view.legal, found, strict=True)
        }

    def appraise(self, view: View, number: int = 0, /) -> dict[Action, float]:
        """Return the chance to win after each legal action, by one of two opinions in turn.

        Hands are those of the belief. Appraisals with an even `number` search each action on its
        own, with the same hands for all: both seats find their replies in the tree. The others are
        rollouts. What the two opinions differ by says how sure they are. In the last round both
        seats play on as `journeyman` does, which knows its own cards only; an appraisal has a part
        of the hands. Only under the published rules.
        """
        if view.round == self.rules.rounds:
            from bots.journeyman import Journeyman

            self.belief.update(view)
            part = slice(number % _PARTS, None, _PARTS)
            return self.played_on(view, [Journeyman().scores] * 2, part)
        return self.rollouts(view) if number % 2 else self.searched(view)

    def searched(self, view: View) -> dict[Action, float]:
        """Return the chance to win after each legal action, from a search of its own for each.

        1,000 iterations take some 25 ms an action.
        """
        self.belief.update(view)
        weights = self.belief.weights.tolist()
        drawn = self.rng.choices(self.belief.hands, weights, k=_SEARCHES)
        self.look(view)
        self.known.clear()
        self.after.clear()
        world, chances = sample(view, self.rng), {}
        world.deck = b""  # a world ends with the round
        for action in view.legal:
            root, won = Node(), 0.0
            for hand in drawn:
                tried = world.copy()
                tried.hands[view.opponent] = hand
                tried.apply(action)
                won += self.iterate(root, tried)
            share = won / _SEARCHES
            chances[action] = share if view.seat == 0 else 1.0 - share
        return chances


bot = Grandmaster
