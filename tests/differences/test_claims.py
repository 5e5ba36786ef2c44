"""Headlines of comparisons and ablations: their sentences, and how often wrong.

The sentence of a comparison is held against the truth in `test_claim`.
"""

from __future__ import annotations

import pytest

from arena.differences.comparison import (
    SprtResult,
    find_compared,
    judge_compared,
)
from arena.statistics.intervals import Estimate
from arena.statistics.sprt import PAIR_SCORES, bounds
from arena.tables.counted import make_verdicts
from arena.tournament.sprt_rounds import Evidence, Verdict
from arena.tournament.stop import Sprt
from bench.studies import effect_headlines

STOP = Sprt(0.0, 15.0, 0.05, 0.05, 1000)


def compared(verdict: Verdict, elo: Estimate, *, finished: bool = True, out: str = "") -> list[str]:
    """Return what is said of 100 pairs of two bots."""
    evidence = Evidence((25, 0, 50, 0, 25), PAIR_SCORES, 1.0, 1.09, bounds(0.05, 0.05), [80, 100])
    outs = (out,) if out else ()
    result = SprtResult("new", "old", (), STOP, evidence, verdict, elo, 200, outs, "", None)
    return [*find_compared(result, finished=finished).sentences()]


def test_a_decided_comparison_says_who_is_stronger_and_no_more() -> None:
    """It is the sentence of the terminal."""
    assert compared("better", Estimate(62.0, 34.0, 91.0)) == [
        "Better: new is stronger than old, by about 62 Elo points (34..91)."
    ]
    assert compared("not better", Estimate(-62.0, -91.0, -34.0)) == [
        "Weaker: new is weaker than old, by about 62 Elo points (34..91)."
    ]


def test_an_open_comparison_says_what_would_tell() -> None:
    """An interval of 20 to each side of 10 leaves out 0 with four times as many pairs."""
    first, second = compared("undecided", Estimate(10.0, -10.0, 30.0))
    assert first == "Undecided: the two are not told apart: new is at +10 Elo points (-10..30)."
    assert second == (
        "What would tell which of the two is stronger: about 300 further pairs, if the difference "
        "stays what it seems."
    )
    assert compared("not better", Estimate(0.2, -8.0, 8.0))[1] == (
        "What would tell which of the two is stronger: no number of further pairs can be named."
    )


def test_a_comparison_that_has_not_ended_decides_nothing() -> None:
    """Whatever its interval is: it is that of a test that has ended."""
    (said,) = compared("undecided", Estimate(62.0, 34.0, 91.0), finished=False)
    assert said == "Undecided so far: new is at +62 Elo (34..91), and the test has not ended."


def test_the_verdict_of_a_comparison_begins_with_the_one_ahead() -> None:
    """Where that is the old one, the lead and its ends are turned; other verdicts stay."""
    evidence = Evidence((25, 0, 50, 0, 25), PAIR_SCORES, 1.0, 1.09, bounds(0.05, 0.05), [100])
    elo, others = Estimate(-9.0, -20.0, 2.0), ("uniform", "old", 7.0, 1.0, 13.0, 0.99, "apart")
    found = SprtResult(
        *("new", "old", ("uniform",), STOP, evidence, "undecided", elo, 200, (), "", None), 0.05
    )
    before = [("new", "old", 1.0, -1.0, 2.0, 0.6, "open"), others]
    turned = ("old", "new", 9.0, -2.0, 20.0, 0.95, "leans")
    assert judge_compared(make_verdicts(before), found).rows() == [turned, others]
    assert judge_compared(make_verdicts(before[1:]), found).rows() == before[1:]


@pytest.mark.slow
def test_the_clearest_difference_is_seldom_wrong() -> None:
    """Few runs, with the truth known."""
    runs, found = effect_headlines.count(effect_headlines.simulate(effect_headlines.CASES[1], 15))
    assert runs == 15
    assert found["interval"] <= 3
    assert found["sure"] <= 3


def check(made: tuple[int, dict[str, int]]) -> None:
    """See that each kind of sentence is wrong in at most one run of twenty."""
    runs, found = made
    assert runs == effect_headlines.RUNS
    assert found["interval"] <= 0.05 * runs
    assert found["sure"] <= 0.05 * runs


@pytest.mark.study
@pytest.mark.parametrize(
    "case", effect_headlines.CASES, ids=lambda case: f"{case.name}, {case.pairs}"
)
def test_ablations_are_wrong_in_one_of_twenty_at_most(case: effect_headlines.Case) -> None:
    """1,000 of each (bench/STUDIES.md)."""
    check(effect_headlines.count(effect_headlines.simulate(case)))
