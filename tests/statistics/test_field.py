"""The field of rated bots: anchors, groups, cycles, and residuals by whole matrices."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pandas as pd
import pytest

from arena.statistics.counts import PairTotals
from arena.statistics.cycles import Field, describe_cycle, find_beats, find_misfits, make_residuals
from arena.statistics.distributions import Floats, normal_below
from arena.statistics.intervals import Estimate, correct
from arena.statistics.ratings import ELO, Fit, PairScores
from arena.statistics.two_bots import pair_scores
from arena.statistics.verdicts import Verdicts
from arena.tables.findings import describe_dependence
from arena.tournament.schedule import Pairing, round_robin
from tests.statistics.test_ratings import fit

Random = np.random.Generator
AB, AC, BC, DE = (Pairing(*two) for two in ("ab", "ac", "bc", "de"))
NINE = (9, 11.0, 19.0)
"""With the credit of one pair the share is 0.6, the gap's error sqrt(6.6) / 4.8 in log odds."""
GAP, ERROR = 400 * math.log10(1.5), ELO * math.sqrt(6.6) / 4.8


def field(
    *played: tuple[Pairing, tuple[int, float, float]], anchor: tuple[str, float] | None = None
) -> Field:
    pairings = [pairing for pairing, _ in played]
    labels = sorted({label for pairing in pairings for label in pairing})
    totals = [PairTotals(number, *scores) for number, (_, scores) in enumerate(played)]
    return Field(pairings, totals, labels, anchors={anchor[0]: (anchor[1], 0.0)} if anchor else {})


def test_an_anchor_that_is_rated_shifts_the_whole_scale() -> None:
    anchored = field((AB, NINE), anchor=("b", 1239.0))
    ratings = anchored.ratings
    assert ratings["b"] == Estimate(1239.0, 1239.0, 1239.0)
    lead = anchored.verdict("a", "b")
    assert ratings["a"][:3] == pytest.approx([1239 + one for one in lead[:3]], abs=0.05)
    assert ratings["a"].value == pytest.approx(1239 + GAP)
    made = Field([AB], [PairTotals(0, *NINE)], ["a", "b", "x"], ["x"], {"x": (1000.0, 0.0)})
    assert made.anchors == {}
    assert sum(rating.value for rating in made.ratings.values()) == pytest.approx(3000)


def test_groups_that_never_met_are_rated_each_on_its_own() -> None:
    """A chain a - b - c compares a with c; its error is that of both gaps."""
    whole = field((AB, NINE), (DE, (40, 30.0, 40.0)), anchor=("e", 1700.0))
    assert whole.groups == [["a", "b"], ["d", "e"]]
    ratings = whole.ratings
    alone = field((AB, NINE)).ratings
    assert all(ratings[label].value == pytest.approx(alone[label].value) for label in "ab")
    assert ratings["e"] == Estimate(1700.0, 1700.0, 1700.0)
    assert ratings["d"].value < 1700
    assert all(math.isfinite(number) for rating in ratings.values() for number in rating[:3])
    chain = field((AB, NINE), (BC, NINE))
    assert chain.groups == [["a", "b", "c"]]
    errors = chain.fit.gap_errors
    assert errors[0, 2] ** 2 == pytest.approx(errors[0, 1] ** 2 + errors[1, 2] ** 2)
    made = field((AB, NINE), (DE, NINE))
    assert made.verdict("a", "d") is None
    found = made.verdict("a", "b")
    assert found.lead == round(GAP, 1)
    assert found.low < 0 < GAP < found.high


@pytest.mark.slow
def test_no_odd_scores_break_a_fit() -> None:
    extreme = [(1, 2.0, 4.0), (10**9, 2e9, 4e9), (10**6, 1e6, 1e6), (1, 0.0, 0.0)]
    for one, other in product(extreme, repeat=2):
        scores = [PairScores(0, 1, *one), PairScores(1, 2, *other), PairScores(3, 4, *one)]
        ratings = fit(6, scores, (5, 1000.0))
        assert np.isfinite([rating.value for rating in ratings]).all()
        assert not np.isnan([rating[:3] for rating in ratings]).any()
        assert ratings[5].value == 1000.0
    assert fit(0, []) == []
    assert fit(1, []) == [Estimate(1500.0, 1500.0, 1500.0)]


WINS, LOSES, EVEN = (100, 150.0, 250.0), (100, 50.0, 50.0), (100, 100.0, 150.0)


def field_of_all(labels: str, scores: list[tuple[int, float, float]]) -> Field:
    totals = [PairTotals(number, *one) for number, one in enumerate(scores)]
    return Field(round_robin([*labels]), totals, [*labels])


def residuals_of(field: Field) -> pd.DataFrame:
    return pd.DataFrame(make_residuals(field)).set_index(["bot", "opponent"])


RING = field_of_all("abcd", [WINS, LOSES, WINS, WINS, WINS, WINS])
"""a beats b beats c beats a, and all of them beat d."""


def test_a_cycle_of_bots_that_beat_one_another_beyond_doubt_is_named() -> None:
    found = find_beats(field_of_all("abc", [WINS, EVEN, (2, 4.0, 8.0)]))
    assert np.argwhere(found).tolist() == [[0, 1]]
    ring = np.argwhere(find_beats(RING)).tolist()
    assert ring == [[0, 1], [0, 3], [1, 2], [1, 3], [2, 0], [2, 3]]
    close = (100, 114.0, 152.0)  # 2.8 errors: sure for one pairing, not for 45
    assert find_beats(field_of_all("ab", [close])).any()
    assert not find_beats(field_of_all("abcdefghij", [close, *[EVEN] * 44])).any()
    assert describe_cycle(RING) == ["a", "b", "c", "a"]
    pairings = [Pairing(*two) for two in ("ab", "bc", "cx", "xa", "de")]
    made = Field(pairings, [PairTotals(n, *WINS) for n in range(5)], [*"abcxde"])
    assert describe_cycle(made) == ["a", "b", "c", "x", "a"]


UNEVEN_RING = [(40, 60.0, 100.0), (40, 20.0, 20.0), (40, 60.0, 100.0)]
"""Of a - b, a - c, b - c: a scores 3/4 of b, b 3/4 of c, and c 3/4 of a. All bots are even."""


@pytest.mark.parametrize("even", [False, True])
def test_the_error_is_that_of_whole_matrices(even: bool) -> None:
    """The fit follows a part of the luck of each pairing, also where pairings weigh alike."""
    rng, pairings, totals = np.random.default_rng(5), round_robin([*"abcde"]), []
    for number in range(10):
        five = rng.multinomial(60 if number % 3 else 20, [0.2, 0.1, 0.3, 0.1, 0.3]).tolist()
        totals.append(PairTotals(number, *pair_scores(0, 1, five)[2:], tuple(five)))
    made = Field(pairings, totals, [*"abcde"], even=even)
    model, strengths = made.fit.model, made.fit.strengths
    contrast = np.zeros((10, 5))
    contrast[range(10), model.first], contrast[range(10), model.second] = 1, -1
    share = 1 / (1 + np.exp(-contrast @ strengths))
    information = np.diag(2 * model.pairs * share * (1 - share))
    weights = information @ np.diag(model.factors)
    inverse = np.linalg.pinv(contrast.T @ weights @ contrast)
    rest = np.eye(10) - information @ contrast @ inverse @ contrast.T @ np.diag(model.factors)
    luck = np.diag(model.effects(strengths)) @ information
    z = (model.total - 2 * model.pairs * share) / np.sqrt(np.diag(rest @ luck @ rest.T))
    beyond = np.array([one.total / one.pairs / 2 for one in totals]) - share
    found = make_residuals(made)
    assert found["residual_z"] == pytest.approx([*z, *-z], rel=1e-6)
    assert found["residual"] == pytest.approx(np.concatenate([beyond, -beyond]))
    assert found["residual_q"][:10] == pytest.approx(correct(2 * normal_below(-abs(z))))


def test_a_bot_that_loses_nearly_everything_is_no_misfit() -> None:
    """a, b and c are even; a has won 200 games of 200 against d, where the ratings say 196.

    Pairs that were all won do not tell how much their scores vary. With the variance that was
    seen it would be 3.0 errors, and a misfit; with that which such pairs must have it is 2.2.
    """
    even, most = (100, 100.0, 150.0), (100, 194.0, 382.0)
    made = field_of_all("abcd", [even, even, (100, 200.0, 400.0), even, most, most])
    table = residuals_of(made)
    assert table.loc[("a", "d"), "expected"] == pytest.approx(0.979, abs=0.001)
    assert 2 < table["residual_z"].abs().max() < 2.5
    assert not find_misfits(made)


def test_what_no_other_game_tests_is_empty() -> None:
    """In a chain and a gauntlet of one, every rating rests on one pairing: it fits anything."""
    pairings = [Pairing("a", "b"), Pairing("a", "c")]
    totals = [PairTotals(0, 30, 60.0, 120.0), PairTotals(1, 30, 1.0, 1.0)]
    chain = Field(pairings, totals, [*"abc"])
    table = residuals_of(chain)
    assert table["residual_z"].isna().all()
    assert table["residual_q"].isna().all()
    assert np.isfinite(table[["expected", "residual"]].to_numpy()).all()
    assert not find_misfits(chain)
    assert not chain.residuals.tested


def test_misfits_are_named_from_the_bot_that_comes_first_the_worst_first() -> None:
    even = (40, 40.0, 60.0)
    scores = [*UNEVEN_RING[:2], even, (80, 140.0, 260.0), even, even]
    totals = [PairTotals(number, *one) for number, one in enumerate(scores)]
    made = Field(round_robin([*"abcd"]), totals, [*"dcba"])
    found = find_misfits(made)
    assert found[0][:2] == ("c", "b")
    assert found[0][3] < 0
    table = residuals_of(made)
    assert [shares for *_, shares in found] == [table.loc[one[:2], "residual"] for one in found]
    size = [abs(table.loc[one[:2], "residual_z"]) for one in found]
    assert size == sorted(size, reverse=True)


SIX = round_robin([*"abcdef"])


def play_in_time(seed: int, lead: Callable[[Random, Pairing], Floats], pairs: int = 100) -> Field:
    """Return the field of six bots whose leads, in Elo points, are those of each of their pairs."""
    rng, totals, played = np.random.default_rng(seed), [], []
    for number, pairing in enumerate(SIX):
        share = 1 / (1 + 10 ** (-lead(rng, pairing) / 400))
        halves = 2 * (rng.random((2, pairs)) < share).sum(axis=0)
        played.append(halves)
        by_score = tuple(np.bincount(halves, minlength=5).tolist())
        totals.append(PairTotals(number, *pair_scores(0, 1, by_score)[2:], by_score))
    sequence = np.repeat(np.arange(len(SIX)), pairs), np.concatenate(played)
    return Field(SIX, totals, [*"abcdef"], sequence=sequence)


def steady(_: Random, pairing: Pairing) -> Floats:
    return np.full(100, 40.0 * (pairing.bot == "a"))


def with_shared_luck(rng: Random, _: Pairing) -> Floats:
    return np.repeat(rng.normal(0, 150, 20), 5)


def improving(_: Random, pairing: Pairing) -> Floats:
    """Return the leads of `c`, whose share of the points rises from a fifth to four fifths."""
    side = (pairing.bot == "c") * 1.0 - (pairing.opponent == "c")
    return side * np.where(np.arange(100) < 50, -240.0, 240.0)


def test_pairs_that_share_their_luck_widen_the_errors() -> None:
    """Also weak luck that is not told, of which a run of 100 pairs has no proof."""
    shared = [play_in_time(seed, with_shared_luck) for seed in range(20)]
    alone = [Fit(6, found.scores) for found in shared]
    both = [*zip(alone, shared, strict=True)]
    assert sum(Verdicts(fit, one.met).apart.any() for fit, one in both) >= 5
    assert sum(one.verdicts.apart.any() for one in shared) <= 1
    widths = [one.fit.gap_errors[0, 1] / fit.gap_errors[0, 1] for fit, one in both]
    assert 1.25 < min(widths) < max(widths) < 1.75
    said = describe_dependence(shared[0])
    assert said.startswith("pairs played one after another are alike, most of all those of ")
    better = play_in_time(1, improving)
    assert describe_dependence(better) == (
        "c became stronger during its games: the intervals are wider for it"
    )
    assert describe_dependence(play_in_time(1, lambda *two: -improving(*two))).startswith(
        "c became weaker during its games"
    )
    weak = [play_in_time(s, lambda *two: with_shared_luck(*two) * 0.4) for s in range(20)]
    untold = [float(np.max(one.fit.model.growth)) for one in weak if not describe_dependence(one)]
    assert len(untold) >= 3
    assert sum(1 < one < 1.5 for one in untold) >= 0.7 * len(untold)


def test_independent_pairs_are_rarely_called_dependent() -> None:
    """In 1 % of runs; errors widen in 10 %, hardly; without an order nothing is said."""
    found = [play_in_time(seed, steady) for seed in range(200)]
    assert sum(bool(describe_dependence(one)) for one in found) <= 6
    grown = [float(np.max(one.fit.model.growth)) for one in found]
    assert 10 <= sum(one > 1 for one in grown) <= 35
    assert max(grown) < 1.6
    assert float(np.mean(grown)) < 1.03
    assert field((AB, NINE)).dependence is None
    assert describe_dependence(found[0]) == ""


def test_two_bots_with_dependent_pairs_have_fewer_independent_ones() -> None:
    halves = np.repeat([4, 4, 0, 4, 4, 0, 4, 4, 4, 0], 5)
    by_score = 15, 0, 0, 0, 35
    totals = [PairTotals(0, *pair_scores(0, 1, by_score)[2:], by_score)]
    plain, seen = (
        Field([AB], totals, ["a", "b"], sequence=sequence)
        for sequence in (None, (np.zeros(50, int), halves))
    )
    words = [found.verdict("a", "b") for found in (plain, seen)]
    assert [one.word for one in words if one] == ["apart", "open"]
