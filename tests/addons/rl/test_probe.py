"""In small games, of which everything is known, a probe takes what there is to take."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

import pytest

from arena.addons.rl.exact import Exact, estimate
from bots.responder import bot as responder
from tests.addons.rl.ground_truth import VARIANTS

VICTIMS = ("apprentice", "city_hunter", "denier", "greedy", "majority", "timing")
QUICK = (("rounds", "greedy"), ("rounds", "majority"))
CASES = [
    pytest.param(name, victim, marks=[] if (name, victim) in QUICK else [pytest.mark.study])
    for name in VARIANTS
    for victim in VICTIMS
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "victim"), CASES)
def test_a_probe_takes_nine_tenths_of_what_can_be_taken(name: str, victim: Any) -> None:
    """Of what the best response wins, which is known exactly; and never more than that."""
    rules = VARIANTS[name]
    game = Exact(rules)
    policy = estimate(import_module(f"bots.{victim}").bot, rules, 1)
    response = estimate(partial(responder, victim=victim), rules, 1)
    won = (game.result(response, policy) - game.result(policy, response)) / 2
    most = game.exploitability(policy)
    assert 0.9 * most - 1e-9 <= won <= most + 1e-9
