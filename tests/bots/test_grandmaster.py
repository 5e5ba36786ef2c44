"""Grandmaster: three opinions of an action."""

from __future__ import annotations

from importlib import import_module
from math import comb
from random import Random

import pytest

from arena.batch.rollouts import WHOLE, action_values
from bots.apprentice import own_network
from bots.champion import values_after
from bots.grandmaster import Grandmaster
from engine import STANDARD, State, View, hands, size
from engine.play import setup
from engine.state import random_deal
from engine.view import view
from tests.batch.test_rollouts import states, views


def grandmaster(**parameters: float) -> Grandmaster:
    return Grandmaster(setup(0, 0, STANDARD), **parameters)


def late() -> list[View]:
    """Return what seats see of last rounds in which more than one action is legal."""
    seen = [view(state, state.to_act) for state in states(40, seed=2, plies=43)]
    return [one for one in seen if len(one.legal) > 1]


@pytest.mark.slow
def test_the_highest_sum_of_the_three_opinions_is_played() -> None:
    """Weighed as its parameters say; no opinion alone would have played the same everywhere."""
    network, differed = own_network(), [0, 0, 0]
    for _, seen in views(30, seed=3):
        if len(seen.legal) == 1 or seen.round == STANDARD.rounds:
            continue
        bot = Recorded(setup(0, 0, STANDARD), budget=0.05, prior=0.5, weight=4.0, trust=0.0)
        chosen = bot.choose(seen)
        visits = {action: child.visits for action, child in bot.tree.children.items()}
        wins, policy = bot.found, network.policy(seen)
        best = max(wins.values())
        share = {action: visits[action] / sum(visits.values()) for action in seen.legal}
        sums = {
            action: share[action] + 0.5 * policy[action] + 4.0 * (wins[action] - best)
            for action in seen.legal
        }
        assert sums[chosen] == max(sums.values())
        for place, opinion in enumerate((share, policy, wins)):
            differed[place] += opinion[chosen] < max(opinion.values())
    assert all(differed)


class Recorded(Grandmaster):
    """Keeps what its rollouts found."""

    found: dict[int, float]

    def rollouts(self, view: View) -> dict[int, float]:
        self.found = super().rollouts(view)
        return self.found


@pytest.mark.slow
def test_few_hands_are_all_tried_as_often_as_they_are_dealt() -> None:
    """So the opinion is exact where nothing is thought of the opponent."""
    for seen in late():
        found = [*hands(seen)]
        policies = [own_network().scores_in] * 2
        values = action_values(seen, [hand for hand, _ in found], policies, values_after)
        deals = comb(size(seen.unseen), seen.opponent_cards)
        wins = grandmaster(models=False).rollouts(seen)
        for action, row in zip(seen.legal, values.tolist(), strict=True):
            won = sum(chance * ways for chance, (_, ways) in zip(row, found, strict=True))
            assert wins[action] == pytest.approx(won / WHOLE / deals, abs=1e-5)


@pytest.mark.slow
def test_it_finds_out_how_the_opponent_plays() -> None:
    """By the rounds that are finished; of one that plays as none of them it thinks nothing."""
    for name, number in (("uniform", 0), ("apprentice", 1), ("timing", 3)):
        bot = grandmaster(budget=0.02)
        other = import_module(f"bots.{name}").bot(setup(5, 1, STANDARD))
        state = State(random_deal(Random(5), STANDARD), STANDARD)
        while not state.over and len(state.history) < 2 * STANDARD.round_plies + 2:
            seen = view(state, state.to_act)
            state.apply((bot if seen.seat == 0 else other).choose(seen))
        assert bot.belief.shares.argmax() == number
        assert bot.belief.shares[number] > 0.9
