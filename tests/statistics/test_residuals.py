"""Residuals: against a second derivation by whole matrices, and cases worked out by hand."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from arena.statistics.counts import PairTotals
from arena.statistics.cycles import Field, find_misfits, make_residuals
from arena.statistics.intervals import correct
from arena.statistics.two_bots import pair_scores
from arena.tournament.schedule import Pairing, round_robin
from bench.studies.fields import score_shares

RING = [(40, 60.0, 100.0), (40, 20.0, 20.0), (40, 60.0, 100.0)]
"""Of a - b, a - c, b - c: a scores 3/4 of b, b 3/4 of c, and c 3/4 of a. All bots are even."""


def field(labels: str, scores: list[tuple[int, float, float]]) -> Field:
    """Return the field of a round robin."""
    totals = [PairTotals(number, *one) for number, one in enumerate(scores)]
    return Field(round_robin([*labels]), totals, [*labels])


def test_a_ring_of_three_even_bots_is_worked_out_by_hand() -> None:
    """Every gap is 0, so the share 1/2, and the residual is a quarter.

    With half a pair of credit the weight of each pairing is 40.5 / 2, its leverage 2/3. The fitted
    gap is a third of one way round and two thirds of the other, so W^2 x its variance is
    spread x (4/9 + 2/9); the residual's variance is spread x (1 - 4/3 + 2/3) = spread / 3. It
    scores 60.5 - 40.5 = 20. The spread is about the own mean, which lends 20 even pairs: with
    squares of 101 and a total of 60.5 about 80.5 / 121. It is drawn to itself, with 120 pairs less
    two strengths.
    """
    table = pd.DataFrame(make_residuals(field("abc", RING))).set_index(["bot", "opponent"])
    own, weight = 80.5 / 121, 40.5 / 2
    seen = 101 - 4 * own * 60.5 + 4 * own**2 * 40.5
    seen /= 1 - (1 - (20 / 60.5) ** 2) / 40.5
    spread = (seen + 5 * seen / weight * 120 / 118) / (weight + 5) * weight
    z = 20 / math.sqrt(spread / 3)
    for one, other in ("ab", "bc", "ca"):
        row, mirrored = table.loc[(one, other)], table.loc[(other, one)]
        assert row["expected"] == pytest.approx(0.5)
        assert row["residual"] == pytest.approx(0.25)
        assert row["residual_z"] == pytest.approx(z)
        assert mirrored["residual"] == pytest.approx(-0.25)
        assert mirrored["residual_z"] == pytest.approx(-z)
        assert row["residual_q"] == mirrored["residual_q"] < 1e-9


def test_the_error_is_that_of_whole_matrices() -> None:
    """The residuals of all pairings are (1 - weights x contrast x inverse x contrast') x scores."""
    rng = np.random.default_rng(5)
    scores = []
    for _ in combinations(range(5), 2):
        _, half, one, most, both = rng.multinomial(60, [0.2, 0.1, 0.3, 0.1, 0.3]).tolist()
        total = half / 2 + one + 1.5 * most + 2 * both
        scores.append((60, total, half / 4 + one + 2.25 * most + 4.0 * both))
    made = field("abcde", scores)
    model, strengths = made.fit.model, made.fit.strengths
    contrast = np.zeros((10, 5))
    contrast[range(10), model.first], contrast[range(10), model.second] = 1, -1
    share = 1 / (1 + np.exp(-contrast @ strengths))
    weights = np.diag(2 * model.pairs * share * (1 - share))
    hat = weights @ contrast @ np.linalg.pinv(contrast.T @ weights @ contrast) @ contrast.T
    spreads = model.effects(strengths) * np.diag(weights)
    covariance = (np.eye(10) - hat) @ np.diag(spreads) @ (np.eye(10) - hat).T
    z = (model.total - 2 * model.pairs * share) / np.sqrt(np.diag(covariance))
    assert make_residuals(made)["residual_z"][:10] == pytest.approx(z, rel=1e-6)


def test_a_bot_that_loses_nearly_everything_is_no_misfit() -> None:
    """a, b and c are even; a has won 200 games of 200 against d, where the ratings say 196.

    Pairs that were all won do not tell how much their scores vary. With the variance that was
    seen it would be 3.0 errors, and a misfit; with that which such pairs must have it is 2.2.
    """
    even, most = (100, 100.0, 150.0), (100, 194.0, 382.0)
    made = field("abcd", [even, even, (100, 200.0, 400.0), even, most, most])
    table = pd.DataFrame(make_residuals(made)).set_index(["bot", "opponent"])
    assert table.loc[("a", "d"), "expected"] == pytest.approx(0.979, abs=0.001)
    assert 2 < table["residual_z"].abs().max() < 2.5
    assert not find_misfits(made)


def test_what_no_other_game_tests_is_empty() -> None:
    """In a chain and a gauntlet of one, every rating rests on one pairing: it fits anything."""
    pairings = [Pairing("a", "b"), Pairing("a", "c")]
    totals = [PairTotals(0, 30, 60.0, 120.0), PairTotals(1, 30, 1.0, 1.0)]
    chain = Field(pairings, totals, [*"abc"])
    table = pd.DataFrame(make_residuals(chain))
    assert table["residual_z"].isna().all()
    assert table["residual_q"].isna().all()
    assert np.isfinite(table[["expected", "residual"]].to_numpy()).all()
    assert not find_misfits(chain)
    assert not chain.residuals.tested


def test_a_field_without_games_has_no_residuals() -> None:
    """The table has its columns, and no rows."""
    empty = Field([], [], [])
    assert pd.DataFrame(make_residuals(empty)).empty
    assert not find_misfits(empty)


def test_misfits_are_named_from_the_bot_that_comes_first_the_worst_first() -> None:
    """b has scored most beyond its rating against c; d is not part of the ring."""
    scores = [RING[0], RING[1], (40, 40.0, 60.0), (80, 140.0, 260.0), (40, 40.0, 60.0)]
    scores.append((40, 40.0, 60.0))
    totals = [PairTotals(number, *one) for number, one in enumerate(scores)]
    made = Field(round_robin([*"abcd"]), totals, [*"dcba"])
    found = find_misfits(made)
    assert found[0][:2] == ("c", "b")
    assert found[0][3] < 0
    table = pd.DataFrame(make_residuals(made)).set_index(["bot", "opponent"])
    assert [shares for *_, shares in found] == [table.loc[one[:2], "residual"] for one in found]
    size = [abs(table.loc[one[:2], "residual_z"]) for one in found]
    assert size == sorted(size, reverse=True)


def test_many_pairings_are_corrected_for() -> None:
    """Benjamini and Hochberg 1995: p x number / rank, and never more than a larger one's."""
    corrected = correct(np.array([0.04, 0.001, math.nan, 0.03, 0.8]))
    assert corrected[[1, 3, 0, 4]] == pytest.approx([0.004, 0.16 / 3, 0.16 / 3, 0.8])
    assert math.isnan(corrected[2])


@pytest.mark.slow
@pytest.mark.parametrize("even", [False, True])
def test_residuals_are_in_errors_also_where_pairings_have_unequal_pairs(even: bool) -> None:
    """Whether every pair counts alike or every pairing: their spread is 1, in 60 simulated runs."""
    rng, labels = np.random.default_rng(2), [*"abcde"]
    pairings, seen = round_robin(labels), []
    for _ in range(60):
        totals = []
        for number in range(len(pairings)):
            by_score = rng.multinomial(30 if number % 3 else 600, score_shares(0.5)).tolist()
            scores = pair_scores(0, 1, by_score)
            totals.append(PairTotals(number, *scores[2:], tuple(by_score)))
        table = pd.DataFrame(make_residuals(Field(pairings, totals, labels, even=even)))
        seen += table["residual_z"].tolist()[: len(pairings)]
    assert 0.9 < float(np.std(seen)) < 1.1
