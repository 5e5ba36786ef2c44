"""Which policies a bot plays like, and what is believed of its hand by them."""

from __future__ import annotations

from itertools import combinations, product
from math import log
from typing import Any

import numpy as np
import pytest

import arena
from arena.batch.beliefs import Belief, Mix
from arena.runs.judge_games import fit_models
from arena.tournament.judged import Recorded
from bots.grandmaster import Grandmaster
from engine import STANDARD, Setup, State, View, cards_of, hands
from engine.notation import parse_actions, parse_deal
from engine.seeds import stream
from engine.view import view


def test_bots_are_known_by_their_moves() -> None:
    """Those that the arena knows, and one that plays at random like none of them."""
    bots = ("journeyman", "timing", "uniform")
    run = arena.run(bots, pairs=3, seed=65, progress=False)
    places = product(combinations(bots, 2), range(3), (0, 1))
    games = [run.game(*two, pair, seat) for two, pair, seat in places]
    recorded = [Recorded("", one.record.deal, one.record.actions) for one in games]
    models = fit_models(recorded, [one.seats for one in games])
    for known in bots[:2]:
        (likeliest, weight), *_ = models[known]
        assert (likeliest, weight > 0.8) == (known, True)
    assert sum(weight for _, weight in models["uniform"]) < 0.3


@pytest.mark.parametrize("plays", [True, False])
def test_hands_are_weighed_by_the_chances_of_an_action(plays: bool) -> None:
    """Of a policy with probability .8, and of any legal action: Bayes' rule."""

    def policy(games: Any) -> Any:
        scores = np.zeros((games.count, 12))
        scores[:, -1] = 1 if plays else -1  # a take
        return scores

    seen = View.from_text("1 5678C xy T")
    belief = Belief([Mix([policy], [0.8])])
    belief.update(seen)
    weights = dict(zip(belief.hands, belief.weights.tolist(), strict=True))
    start = View.from_text("1 5678C xy")
    for hand, ways in hands(start):
        chance = 0.8 * plays + 0.2 / (len({*cards_of(hand)}) + 1)
        assert weights[hand] == pytest.approx(ways * chance)


def test_a_second_judge_that_knows_the_opponent_knows_more_of_its_hand() -> None:
    """The hand that the opponent held is likelier than without a model of it."""
    record = arena.play("uniform", "journeyman", seed=65).record
    state = State(parse_deal(record.deal), STANDARD)
    plain, told = (Grandmaster(Setup(stream(65), 0, STANDARD)) for _ in range(2))
    told.expect({"journeyman": 0.97})
    gained = 0.0
    for action in parse_actions(record.actions):
        if state.to_act == 0:
            held = []
            for judge in (plain, told):
                judge.belief.update(seen := view(state, 0))
                chances = judge.belief.weights / judge.belief.weights.sum()
                held.append(chances[judge.belief.hands.index(state.hands[seen.opponent])])
            gained += log(held[1] / held[0])
        state.apply(action)
    assert gained > 1.0  # nats
