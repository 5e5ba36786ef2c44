"""What is stored of the ladder is what its pairs say."""

from __future__ import annotations

import numpy as np
import pytest

from arena.entries.catalogue import ELO, STRENGTHS
from arena.statistics.model import LADDER_SPREAD
from arena.statistics.two_bots import pair_scores
from bench import ladder
from bench.studies.fields import EFFECT, score_shares
from tests import ROOT

RATED = ladder.rate(ladder.read())


def test_the_elo_of_the_catalogue_is_that_of_the_stored_pairs() -> None:
    """Of all bots of `configs/ladder.yaml`, each of which met each other one equally often."""
    assert {name: elo for name, elo in RATED.elos.items() if name in ELO} == ELO
    assert all(one.elo == RATED.elos[one.bot] for one in STRENGTHS)
    pairs = {sum(by_score) for by_score in ladder.read().values()}
    assert len(pairs) == 1
    bots = len(RATED.elos)
    assert len(ladder.read()) == bots * (bots - 1) // 2


def test_the_spread_of_the_ladder_is_that_of_the_stored_pairs() -> None:
    """Its interval, too; and the pages say the same."""
    assert tuple(LADDER_SPREAD[:3]) == RATED.spread
    said = "about {:.0f} points ({:.0f} to {:.0f})".format(*RATED.spread)
    for page in ("ladder.md", "results.md"):
        assert said in " ".join((ROOT / "docs" / page).read_text().split()), page


def test_pairs_that_deviate_more_have_a_greater_spread() -> None:
    """With every second pairing turned to its first bot it is above the stored interval."""
    turned = {
        two: by_score if number % 2 else (0, 0, *by_score[:2], sum(by_score[2:]))
        for number, (two, by_score) in enumerate(ladder.read().items())
    }
    assert ladder.rate(turned).spread[1] > RATED.spread[2]


def test_the_pairs_of_studies_vary_as_those_of_the_ladder() -> None:
    """Over all its pairings: their variance, over that of two independent games."""
    own = independent = 0.0
    for by_score in ladder.read().values():
        _, _, pairs, total, squares = pair_scores(0, 1, by_score)
        own += (squares - total**2 / pairs) * pairs / (pairs - 1)
        independent += total * (1 - total / pairs / 2)
    assert round(own / independent, 2) == EFFECT


def test_pairs_of_studies_have_their_share_and_their_variance() -> None:
    """The latter where that leaves room, which it does not where one bot wins nearly all."""
    for share in (0.5, 0.8, 0.15, 0.1, 0.99):
        likely, scores = np.array(score_shares(share)), np.arange(5) / 2
        assert likely.min() >= 0
        assert likely.sum() == pytest.approx(1)
        assert likely @ scores / 2 == pytest.approx(share)
        variance = likely @ scores**2 - (likely @ scores) ** 2
        assert share in (0.1, 0.99) or variance == pytest.approx(EFFECT * 2 * share * (1 - share))
