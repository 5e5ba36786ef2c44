"""The benchmark of searches for good parameters: its harness, and its games."""

from __future__ import annotations

import numpy as np
import pytest

from arena.statistics.distributions import Floats
from bench.studies.branching import Halves
from bench.studies.families import FAMILIES, PANEL, SEED
from bench.studies.tables import Table
from bench.studies.tune import BUDGETS, SEARCHES, regrets, searches
from bench.studies.weigher import Weigher
from bots.city_hunter import CityHunter
from bots.denier import Denier
from bots.greedy import Greedy
from bots.majority import Majority
from bots.timing import Timing
from engine import STANDARD, Setup, State, Strategy, outcome
from engine.play import draw, play, setup
from engine.seeds import address
from tests.tiers import few


class Hill:
    """A landscape made of a formula: the best is at 0.4, and luck is shared by all settings."""

    name = "hill"

    def __init__(self, dims: int) -> None:
        self.dims = dims
        self.steps = (41,) * dims

    def play(self, settings: Floats, deals: int, rng: np.random.Generator) -> Floats:
        """Return the scores of pairs per game, a row for each setting."""
        luck = rng.random(deals)[None, :]
        return np.asarray((luck < self._shares(settings)[:, None]).astype(float))

    def regret(self, setting: Floats) -> float:
        """Return how far a setting is below the best, as it were in Elo points."""
        return float(700 * (0.6 - self._shares(setting[None, :])[0]))

    def _shares(self, settings: Floats) -> Floats:
        return np.asarray(0.6 - 1.5 * ((settings - 0.4) ** 2).mean(1))


@pytest.mark.slow
@pytest.mark.parametrize("dims", [1, 2])
def test_searches_find_the_top_of_a_hill(dims: int) -> None:
    """On common deals that all settings share with all their luck, each search comes near."""
    for name in (
        "arena tune",
        "grid",
        "halving",
        "race",
        "SPSA, gain 0.3, width 0.15",
        "quadratic",
    ):
        found = regrets(Hill(dims), name, SEARCHES[name], 5)
        assert np.median(found) <= 12, name
        assert found.tolist() == regrets(Hill(dims), name, SEARCHES[name], 5).tolist()


def test_no_search_plays_more_than_its_budget_or_looks_at_the_truth() -> None:
    """The harness refuses both."""

    def greedily(landscape: Hill, budget: int, rng: np.random.Generator) -> Floats:
        landscape.play(np.zeros((2, 1)), budget // 2 + 1, rng)
        return np.zeros(1)

    with pytest.raises(ValueError, match="played 1602 pairs of 1600"):
        regrets(Hill(1), "greedily", greedily, 1)
    with pytest.raises(PermissionError):
        regrets(Hill(1), "peeking", lambda hill, *_: np.array([hill.regret(np.zeros(1))]), 1)


@pytest.mark.parametrize("dims", few(BUDGETS, 0, 1))
def test_every_search_keeps_to_its_budget_in_all_dimensions(dims: int) -> None:
    """One run each."""
    for name in SEARCHES.keys() & searches(dims).keys():
        assert len(regrets(Hill(dims), name, SEARCHES[name], 1)) == 1


def test_a_table_answers_with_its_own_scores() -> None:
    """Settings are rounded to the lattice, meet the same deals, and the truth is the mean."""
    quarters: Halves = np.random.default_rng(1).integers(0, 5, (5001, 5), dtype=np.uint8)
    quarters[:, 3] = 4 - (quarters[:, 3] == 0)
    table = Table("made", (5,), np.linspace(0, 1, 5)[:, None], quarters)
    settings = np.array([[0.74], [0.76], [0.0]])
    scores = table.play(settings, 30, np.random.default_rng(2))
    assert scores.shape == (3, 30)
    assert (scores[0] == scores[1]).all()
    assert table.regret(np.array([0.75])) == 0
    assert table.regret(np.array([0.5])) > 100


def _setup() -> Setup:
    return setup(0, 0, STANDARD)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("greedy", lambda patience: Greedy(_setup(), patience)),
        ("timing", lambda patience: Timing(_setup(), patience)),
        ("city_hunter", lambda city, patience: CityHunter(_setup(), city, patience)),
        ("weigher6", None),
    ],
)
def test_a_deal_of_all_settings_has_the_games_that_the_referee_plays(name: str, make) -> None:
    """Three deals, one against each bot of the panel, and three settings."""
    family = FAMILIES[name]
    places = np.random.default_rng(3).random((6, len(family.parameters)))
    quarters = family.play(places, SEED, range(3))
    names = [parameter.name for parameter in family.parameters]
    panel = [Majority(_setup()), Denier(_setup()), Timing(_setup())]
    assert len(panel) == len(PANEL)
    for column, values in enumerate(family.values(places).tolist()):
        bot: Strategy = (
            make(*values) if make else Weigher(_setup(), **dict(zip(names, values, strict=True)))
        )
        for deal in range(3):
            halves = 0
            for seat in (0, 1):
                state = State(draw(address(SEED, "landscape", deal)).deal)
                play(state, [bot, panel[deal]] if seat == 0 else [panel[deal], bot])
                winner = outcome(state.piles).winner
                halves += 1 if winner is None else 2 * (winner == seat)
            assert halves == quarters[deal, column]
