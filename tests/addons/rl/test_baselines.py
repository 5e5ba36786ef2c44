"""The baselines: each algorithm comes near to optimal play where uniform play is far from it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from bench.studies.baselines import learned, runs
from bench.studies.baselines.game import Game
from bench.studies.baselines.runs import ALGORITHMS, OPENSPIEL, PLAYED, figures, stored
from engine import Rules, View
from tests import ROOT
from tests.tiers import few

TINY = Game(Rules((2, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0), 0, 2, 1, 2, 1))
"""Uniform play loses 0.708 here."""

QUICK = {
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


def played(name: str, game: Game, steps: int, seed: int = 1) -> float:
    """Return the exploitability of an algorithm's policy."""
    if name in OPENSPIEL:
        pytest.importorskip("pyspiel", reason="OpenSpiel is not installed (extra openspiel)")
    return game.measure(ALGORITHMS[name].run(game, seed, steps))[0]


def test_each_algorithm_is_tried() -> None:
    """But two of OpenSpiel's that are slow, which others are compared with."""
    assert {*QUICK} == {*ALGORITHMS} - {"uniform", "spiel_dcfr", "spiel_xfp"}


@pytest.mark.parametrize("name", few(QUICK, 5))
def test_each_algorithm_learns_a_small_game(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tiny one, or `points` for those without luck, in half a second."""
    for size in ("GAMES", "BATCH"):
        monkeypatch.setattr(learned, size, 256)
    steps, bound = QUICK[name]
    game = TINY if ALGORITHMS[name].luck else runs.game_of("points")
    assert game.measure(game.uniform())[0] > 0.6
    assert played(name, game, steps) < bound


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


def test_arrays_and_sampled_play_are_those_of_the_game() -> None:
    """Plans, results and keys of views: a result by 20,000 sampled games is the exact one."""
    rng = np.random.default_rng(3)
    odds = {seen: rng.dirichlet(np.ones(len(seen.legal))) for seen in TINY.views}

    def policy(seen: View) -> dict[int, float]:
        return dict(zip(seen.legal, odds[seen].tolist(), strict=True))

    shares = TINY.from_policy(policy)
    exact = TINY.exact.result(policy, policy)
    plans = [TINY.plan(seat, shares[seat]) for seat in (0, 1)]
    assert plans[0] @ TINY.gains(0, plans[1]) == pytest.approx(exact)
    assert TINY.measure(shares)[0] == TINY.exact.exploitability(policy)
    assert np.allclose(TINY.behave(0, plans[0]), shares[0])
    sums = TINY.rows(shares).cumsum(axis=1)

    def choose(decisions: np.ndarray, *_: object) -> np.ndarray:
        luck = rng.random((len(decisions), 1)) * sums[decisions, -1:]
        return (sums[decisions] <= luck).sum(axis=1)

    assert TINY.play(20_000, rng, choose).mean() == pytest.approx(exact, abs=0.03)


def test_the_pages_have_the_stored_figures() -> None:
    """The page of the baselines and that of the studies have every row."""
    pages = [(ROOT / page).read_text() for page in ("docs/baselines.md", "bench/STUDIES.md")]
    for variant, (name, one) in product(PLAYED, ALGORITHMS.items()):
        if variant not in one.steps:
            continue
        found = [f for f in stored() if f[:2] == (variant, name) and f.steps == one.steps[variant]]
        assert [f.seed for f in found] == [*range(runs.SEEDS if one.luck else 1)]
        assert all(f"\n{runs.row(name, found)}\n" in page for page in pages), (variant, name)
