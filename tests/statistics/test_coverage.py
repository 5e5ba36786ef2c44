"""Intervals cover the truth in simulated runs, and what is stored of the ladder is its pairs'."""

from __future__ import annotations

import math

import numpy as np
import pytest

from arena.entries.catalogue import ELO, STRENGTHS
from arena.statistics.bradley_terry import LADDER_SPREAD
from arena.statistics.two_bots import pair_scores
from bench import ladder
from bench.studies.fields import EFFECT, score_shares
from bench.studies.ratings import SETUPS, Setup, pair_shares, simulate
from tests.tiers import few

NAMES = [setup.name for setup in SETUPS]
FAR_WEAKER = SETUPS[-1]


@pytest.mark.parametrize("setup", few(SETUPS), ids=NAMES)
def test_intervals_cover_the_truth(setup: Setup) -> None:
    """In a hundred runs: 90 to 99 % over all pairings; more of the Elo, which hold at once."""
    found = simulate(setup, 50, 100)
    assert found.elo.mean() >= 0.9
    assert 0.9 <= found.score.mean() <= 0.99
    assert found.named <= 0.12


@pytest.mark.slow
def test_the_intervals_of_a_far_weaker_bot_are_not_too_narrow() -> None:
    """It lost nearly all of 20 pairs to each: with a pair of credit for each pairing its Elo was
    covered in half of the runs, and with no least variance its scores in a third.
    """
    found = simulate(FAR_WEAKER, 20, 100)
    assert found.elo[0] >= 0.9
    assert found.score.min() >= 0.85


RATED = ladder.rate(ladder.read())


def test_the_elo_of_the_catalogue_and_the_spread_are_those_of_the_stored_pairs() -> None:
    """Of all bots of `configs/ladder.yaml`, each of which met each other one equally often."""
    assert {name: elo for name, elo in RATED.elos.items() if name in ELO} == ELO
    assert all(one.elo == RATED.elos[one.bot] for one in STRENGTHS)
    assert tuple(LADDER_SPREAD[:3]) == RATED.spread
    pairs = {sum(by_score) for by_score in ladder.read().values()}
    assert len(pairs) == 1
    assert len(ladder.read()) == math.comb(len(RATED.elos), 2)


def test_the_pairs_of_studies_vary_as_those_of_the_ladder() -> None:
    """Over all its pairings: their variance, over that of two independent games."""
    own = independent = 0.0
    for by_score in ladder.read().values():
        _, _, pairs, total, squares = pair_scores(0, 1, by_score)
        own += (squares - total**2 / pairs) * pairs / (pairs - 1)
        independent += total * (1 - total / pairs / 2)
    assert round(own / independent, 2) == EFFECT


def test_simulated_pairs_have_their_share_and_their_variance() -> None:
    """An Elo gap of 191 is a mean score of 3/4 (Elo 1978); luck makes sweeps more likely."""
    lost, split, won = pair_shares(190.85)
    assert split / 2 + won == pytest.approx(0.75, abs=1e-4)
    assert lost + split + won == pytest.approx(1)
    assert split > 2 * 0.75 * 0.25  # what is good luck in one game is bad luck in the other
    # The latter where that leaves room, which it does not where one bot wins nearly all.
    for share in (0.5, 0.8, 0.15, 0.1, 0.99):
        likely, scores = np.array(score_shares(share)), np.arange(5) / 2
        assert likely.min() >= 0
        assert likely.sum() == pytest.approx(1)
        assert likely @ scores / 2 == pytest.approx(share)
        variance = likely @ scores**2 - (likely @ scores) ** 2
        assert share in (0.1, 0.99) or variance == pytest.approx(EFFECT * 2 * share * (1 - share))
