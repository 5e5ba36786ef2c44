"""Small games solved exactly, algorithms that learn them, and one object for each module."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from itertools import product
from typing import Any

import pytest

from arena.addons.rl.exact import Exact, estimate
from arena.errors import InputError
from bench.studies.baselines import learned, runs
from bench.studies.baselines.game import Game
from bench.studies.baselines.runs import ALGORITHMS, OPENSPIEL, PLAYED, figures, stored
from bots.greedy import bot as greedy
from bots.responder import bot as responder
from engine import TAKE, Rules, View
from tests import ROOT
from tests.addons.rl.ground_truth import TRUTH, VARIANTS, uniform
from tests.kit import run_python
from tests.tiers import few

THREE = Rules((2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0, 1, 1, 1, 1)
"""Cards 5, 5 and 6: one in the row, one in each hand, a take is one card, one round."""


def first_legal(seen: View) -> dict[int, float]:
    """Play the lowest card, and take when there is none."""
    return {seen.legal[0]: 1.0}


def take_first(seen: View) -> dict[int, float]:
    return {seen.legal[-1]: 1.0}


def test_a_game_of_three_cards_by_hand() -> None:
    """Row a, hands b and c: to take at once is optimal, and wins as often as it loses.

    Who plays b is left the lower of a and c: of three equally likely deals b = 6 is lost, and the
    others are drawn. If seat 1 plays c, seat 0, who knows c, loses with b = 6 and else wins.
    """
    game = Exact(THREE)
    assert game.value == 0
    assert game.result(take_first, take_first) == pytest.approx(0)
    assert game.worst(0, take_first) == pytest.approx(0)
    assert game.worst(0, first_legal) == pytest.approx(-1 / 3)
    assert game.worst(1, first_legal) == pytest.approx(-1 / 3)
    assert game.exploitability(first_legal) == pytest.approx(1 / 3)
    assert game.exploitability(game.optimal()) == 0


@pytest.mark.parametrize("name", VARIANTS)
def test_the_values_are_known(name: str) -> None:
    """And optimal policies lose nothing."""
    game, truth = Exact(VARIANTS[name]), TRUTH[name]
    assert (game.value, len(game.views())) == (truth.value, truth.views)
    assert game.exploitability(game.optimal()) == pytest.approx(0, abs=1e-8)
    for policy, worst in (
        (uniform, truth.uniform),
        (estimate(greedy, game.rules, 1), truth.greedy),
    ):
        assert [game.worst(seat, policy) for seat in (0, 1)] == pytest.approx(worst, abs=1e-9)
        assert game.exploitability(policy) == pytest.approx(-sum(worst) / 2, abs=1e-8)


@pytest.mark.slow
def test_openspiel_says_the_same_of_policies_and_comes_to_the_same_value() -> None:
    """The optimal one loses nothing; CFR is as near as its exploitability allows."""
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    from arena.addons.rl.spiel import load_game
    from arena.addons.rl.spiel_bots import table

    for name in ("open", "points"):
        rules = VARIANTS[name]
        game, theirs = Exact(rules), pyspiel.load_game(f"cached_tree(game={load_game(rules)})")
        for policy in (uniform, estimate(greedy, rules, 1), game.optimal()):
            lost = pyspiel.exploitability(theirs, table(policy, game.views()))
            assert lost == pytest.approx(game.exploitability(policy), abs=1e-8)
        solver = pyspiel.CFRPlusSolver(theirs)
        for _ in range(60):
            solver.evaluate_and_update_policy()
        solved = solver.average_policy()
        value, _ = pyspiel.expected_returns(theirs.new_initial_state(), solved, -1, True)
        far = pyspiel.exploitability(theirs, solved)
        assert far < 0.002
        assert abs(value - TRUTH[name].value) <= 2 * far + 1e-9


def test_small_games_are_solved_by_hand_and_large_ones_refused() -> None:
    """A City wins at once; what is too large is refused while it is counted."""
    rules = Rules((2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1), 0, 1, 1, 1, 1, cities_needed=1)
    game = Exact(rules)
    # a third each: C in the row is taken at once, C of seat 0 is taken by seat 1 when it must be
    # played, and C of seat 1 stays under the 5 that seat 1 must take, one 5 each
    assert game.value == pytest.approx((1 - 1 + 0) / 3)
    opening = game.optimal()
    assert opening(View.from_text("0 5 C", rules)) == {0: 0.0, TAKE: 1.0}
    with pytest.raises(InputError, match="rules: the game has more than 100 sequences"):
        Exact(VARIANTS["open"], most=100)


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["greedy", "majority"])
def test_a_probe_takes_nine_tenths_of_what_can_be_taken(victim: Any) -> None:
    """Of what the best response wins, which is known exactly; and never more than that."""
    rules = VARIANTS["rounds"]
    game = Exact(rules)
    policy = estimate(import_module(f"bots.{victim}").bot, rules, 1)
    response = estimate(partial(responder, victim=victim), rules, 1)
    won = (game.result(response, policy) - game.result(policy, response)) / 2
    most = game.exploitability(policy)
    assert 0.9 * most - 1e-9 <= won <= most + 1e-9


CODE = """
import gymnasium, sys, warnings
warnings.filterwarnings("error", module="gymnasium")  # such as: it is registered again
import arena.rl.vector, arena.rl.env, arena.addons.rl.vector, arena.addons.rl.env
for name in ("arena.rl.env:DistrictNoir-v0", "arena.addons.rl.env:DistrictNoir-v0"):
    gymnasium.make(name)
    gymnasium.make_vec(name, num_envs=2)
objects = {}
for name, module in [*sys.modules.items()]:
    if name.partition(".")[0] in ("arena", "bots", "engine"):
        objects.setdefault(module.__file__, {})[id(module)] = name
assert len(objects) > 10
print(*[[*names.values()] for names in objects.values() if len(names) > 1], sep="\\n", end="")
"""


def test_an_environment_is_registered_once_by_either_name() -> None:
    """Nor are there two sets of classes, whose pickles and `isinstance` disagree."""
    done = run_python("-c", CODE, folder=ROOT)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


TINY = Game(Rules((2, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0), 0, 2, 1, 2, 1))
"""Uniform play loses 0.708 here."""

STEPS = {
    "lp": (1, 1e-6),
    "cfr": (100, 0.001),
    "dcfr": (100, 0.0004),
    "xfp": (100, 0.015),
    "mmd": (100, 0.005),
    "psro": (20, 0.15),
    "spiel_cfr": (30, 0.015),
    "mccfr": (2000, 0.05),
    "ppo_low": (25, 0.1),
    "ppo_middle": (25, 0.1),
    "ppo_high": (25, 0.1),
    "nfsp": (100, 0.45),
    "ismcts": (20, 0.25),
}
"""Steps of each algorithm, and what its policy loses at most."""


SLOW = {"uniform", "spiel_dcfr", "spiel_xfp"}
"""Two of OpenSpiel's that others are compared with, and one that learns nothing."""


@pytest.mark.parametrize("name", few(STEPS, 5))
def test_each_algorithm_learns_a_small_game(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tiny one, or `points` for those without luck, in half a second."""
    assert {*STEPS} == {*ALGORITHMS} - SLOW
    if name in OPENSPIEL:
        pytest.importorskip("pyspiel", reason="OpenSpiel is not installed (extra openspiel)")
    for size in ("GAMES", "BATCH"):
        monkeypatch.setattr(learned, size, 256)
    steps, bound = STEPS[name]
    game = TINY if ALGORITHMS[name].luck else runs.game_of("points")
    assert game.measure(game.uniform())[0] > 0.6
    assert game.measure(ALGORITHMS[name].run(game, 1, steps))[0] < bound


@pytest.mark.study
@pytest.mark.parametrize("variant", PLAYED)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_stored_figures_come_again(name: str, variant: str) -> None:
    """The first seed of each; elsewhere sums may be rounded otherwise, and training goes apart."""
    if variant not in ALGORITHMS[name].steps:
        pytest.skip("too large for it")
    if name in OPENSPIEL:
        pytest.importorskip("pyspiel", reason="OpenSpiel is not installed (extra openspiel)")
    kept = [one.exploitability for one in figures(variant, name, runs.SEEDS)]
    far = runs.compute(variant, name, 0).exploitability
    assert min(kept) / 2 - 0.002 < far < max(kept) * 2 + 0.002


def test_the_pages_have_the_stored_figures() -> None:
    """The page of the baselines and that of the studies have every row."""
    pages = [(ROOT / page).read_text() for page in ("docs/baselines.md", "bench/STUDIES.md")]
    for variant, (name, one) in product(PLAYED, ALGORITHMS.items()):
        if variant not in one.steps:
            continue
        found = [f for f in stored() if f[:2] == (variant, name) and f.steps == one.steps[variant]]
        assert [f.seed for f in found] == [*range(runs.SEEDS if one.luck else 1)]
        assert all(f"\n{runs.row(name, found)}\n" in page for page in pages), (variant, name)
