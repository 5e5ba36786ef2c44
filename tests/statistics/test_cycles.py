"""Cycles, and rankings that allow for them, against OpenSpiel and by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy
from numpy.typing import NDArray

from arena.statistics.counts import PairTotals
from arena.statistics.cycles import (
    INTENSITY,
    POPULATION,
    RANKING_COLUMNS,
    Field,
    alpha_rank,
    describe_cycle,
    find_beats,
    make_payoffs,
    make_rankings,
    nash_average,
)
from arena.tournament.schedule import Pairing, round_robin

RPS = np.array([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]])
WINS, LOSES, EVEN = (100, 150.0, 250.0), (100, 50.0, 50.0), (100, 100.0, 150.0)


def field(labels: str, scores: list[tuple[int, float, float]]) -> Field:
    totals = [PairTotals(number, *one) for number, one in enumerate(scores)]
    return Field(round_robin([*labels]), totals, [*labels])


RING = field("abcd", [WINS, LOSES, WINS, WINS, WINS, WINS])
"""a beats b beats c beats a, and all of them beat d."""


def test_who_beats_whom_beyond_doubt() -> None:
    """Of 100 pairs with 150 points one is sure, of 100 even ones or of two swept ones none is."""
    found = find_beats(field("abc", [WINS, EVEN, (2, 4.0, 8.0)]))
    assert np.argwhere(found).tolist() == [[0, 1]]
    ring = np.argwhere(find_beats(RING)).tolist()
    assert ring == [[0, 1], [0, 3], [1, 2], [1, 3], [2, 0], [2, 3]]


def test_doubt_grows_with_the_number_of_pairings() -> None:
    """14 points more in 100 split and swept pairs are 2.8 errors: sure for one, not for 45."""
    close = (100, 114.0, 152.0)
    assert find_beats(field("ab", [close])).any()
    assert not find_beats(field("abcdefghij", [close, *[EVEN] * 44])).any()


def test_a_cycle_is_named_and_ranked() -> None:
    """The three are even: a third for each of them in both rankings, and nothing for d."""
    assert describe_cycle(RING) == ["a", "b", "c", "a"]
    rows = make_rankings(RING, [*"dbca"])
    table = pd.DataFrame(rows, columns=RANKING_COLUMNS).set_index("bot")
    assert [*table.index] == [*"dbca"]
    assert table.loc["d", ["nash", "alpha_rank"]].tolist() == [0.0, 0.0]
    for label in "abc":
        both = table.loc[label, ["nash", "alpha_rank"]].tolist()
        assert both == pytest.approx([1 / 3] * 2, abs=1e-4)
    assert table["cycle"].isna().tolist() == [True, False, False, False]
    assert table["elo"].nunique() == 2


def test_without_a_cycle_there_are_no_rows() -> None:
    """Bots in one order, bots that are all even, and no bots."""
    for made in (field("abc", [WINS] * 3), field("abc", [EVEN] * 3), Field([], [], [])):
        assert describe_cycle(made) == []
        assert make_rankings(made, made.labels) == []


def test_only_groups_with_a_cycle_are_ranked() -> None:
    """d and e met only each other; a cycle of four bots is found where no three make one."""
    pairings = [Pairing(*two) for two in ("ab", "bc", "cx", "xa", "de")]
    made = Field(pairings, [PairTotals(n, *WINS) for n in range(5)], [*"abcxde"])
    assert describe_cycle(made) == ["a", "b", "c", "x", "a"]
    assert [bot for bot, *_ in make_rankings(made, made.labels)] == [*"abcx"]


def test_two_that_did_not_meet_are_as_far_apart_as_their_ratings() -> None:
    """The payoffs are antisymmetric."""
    pairings = [Pairing("a", "b"), Pairing("b", "c")]
    chain = Field(pairings, [PairTotals(n, *WINS) for n in (0, 1)], [*"abc"])
    payoffs = make_payoffs(chain)
    assert payoffs == pytest.approx(-payoffs.T)
    assert payoffs[0, 2] == pytest.approx(payoffs[0, 1] + payoffs[1, 2])


@pytest.mark.parametrize(
    ("payoffs", "average"),
    [
        ([[0.0]], [1]),
        (np.zeros((4, 4)), [1 / 4] * 4),
        ([[0, 1, 1], [-1, 0, 5], [-1, -5, 0]], [1, 0, 0]),
        (RPS, [1 / 3] * 3),
        # one win counts 3: who is not in it is played most
        ([[0, -3, 1], [3, 0, -1], [-1, 1, 0]], [1 / 5, 1 / 5, 3 / 5]),
        # scissors twice: the even equilibrium shares their third
        (
            [[0, -1, 1, 1], [1, 0, -1, -1], [-1, 1, 0, 0], [-1, 1, 0, 0]],
            [1 / 3, 1 / 3, 1 / 6, 1 / 6],
        ),
        # rock, paper, scissors, and one that beats nobody
        ([[0, -1, 1, 1], [1, 0, -1, 1], [-1, 1, 0, 1], [-1, -1, -1, 0]], [1 / 3, 1 / 3, 1 / 3, 0]),
        # the first two tie and beat the third
        ([[0, 0, 1], [0, 0, 1], [-1, -1, 0]], [1 / 2, 1 / 2, 0]),
    ],
)
def test_the_nash_average_of_games_worked_out_by_hand(
    payoffs: NDArray[np.float64], average: list[float]
) -> None:
    """It wins nothing from itself, nobody wins from it, and its entropy is largest."""
    assert nash_average(np.array(payoffs, dtype=float)).tolist() == pytest.approx(average, abs=1e-6)


def test_nobody_wins_from_the_nash_average() -> None:
    """Of random games of up to 30 players."""
    rng = np.random.default_rng(3)
    for players in (2, 3, 5, 12, 30):
        payoffs = rng.normal(size=(players, players))
        payoffs -= payoffs.T
        average = nash_average(payoffs)
        assert average.sum() == pytest.approx(1)
        assert (average >= 0).all()
        assert (payoffs @ average).max() < 1e-6


def test_alpha_rank_of_two_is_worked_out_by_hand() -> None:
    """One takes over with the chance u, the other with u e^-(m - 1)a: the ratio of their times."""
    lead = 0.01
    advantage = INTENSITY * POPULATION / (POPULATION - 1) * lead
    ratio = np.exp((POPULATION - 1) * advantage)
    found = alpha_rank(np.array([[0.5, 0.5 + lead], [0.5 - lead, 0.5]]))
    assert found[0] / found[1] == pytest.approx(ratio)
    assert alpha_rank(np.array([[0.5]])).tolist() == [1.0]


def test_alpha_rank_keeps_its_balance() -> None:
    """What flows into each player flows out of it, also where rates are tiny."""
    rng = np.random.default_rng(4)
    leads = rng.normal(size=(6, 6)) / 3
    kept = alpha_rank(scipy.special.expit(leads - leads.T))
    assert kept.sum() == pytest.approx(1)
    assert (kept >= 0).all()
    strong = alpha_rank(np.array([[0.5, 1, 1], [0, 0.5, 1], [0, 0, 0.5]]))
    assert strong.tolist() == pytest.approx([1, 0, 0])


def test_both_agree_with_openspiel() -> None:
    """Its alpha-rank with selection over the whole population, and its Nash average."""
    why = "OpenSpiel is not installed: pip install open_spiel networkx matplotlib cvxpy"
    pytest.importorskip("pyspiel", reason=why)
    theirs = pytest.importorskip("open_spiel.python.egt.alpharank", reason=why)
    averaging = pytest.importorskip("open_spiel.python.algorithms.nash_averaging", reason=why)
    rng = np.random.default_rng(1)
    for players in (3, 4, 6, 10):
        payoffs = rng.normal(size=(players, players))
        payoffs -= payoffs.T
        shares = scipy.special.expit(payoffs)
        for intensity in (1.0, INTENSITY):
            how = {"m": POPULATION, "alpha": intensity, "use_local_selection_model": False}
            kept = theirs.compute([shares], **how)[2]
            assert alpha_rank(shares, intensity).tolist() == pytest.approx(list(kept), abs=1e-9)
        average = averaging._max_entropy_symmetric_nash(payoffs)
        assert nash_average(payoffs).tolist() == pytest.approx(np.ravel(average).tolist(), abs=1e-4)
