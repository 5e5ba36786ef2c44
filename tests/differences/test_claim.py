"""What is said of a lead: never more than its interval, and seldom wrong."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.differences.claims import Claim, make_claim, make_sentence
from arena.statistics.intervals import Estimate, find_significant
from arena.statistics.verdicts import Word
from arena.tournament.sprt_rounds import Verdict
from arena.tournament.stop import Sprt
from bench.studies.claims import FIRM, SETUPS, count_claims
from bench.studies.sprt import FAR, Setup

STOP = Sprt(0.0, 10.0, 0.05, 0.05, 1000)
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
ELOS = st.floats(-900, 900)
NUMBERS = st.floats(-1, 1)
PATIENT = settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
"""Of a busy machine nothing is asked."""


def sentence(verdict: Verdict, elo: Estimate, word: Word = "open", pairs: int = 100) -> str:
    """Return what is said of two bots that had no faults."""
    return make_sentence(("new", "old"), (), (), (verdict, elo, STOP, pairs), word)


@PATIENT
@given(st.lists(ELOS, min_size=3, max_size=3), st.sampled_from(VERDICTS))
def test_no_sentence_is_stronger_than_the_interval_beside_it(
    ends: list[float], verdict: Verdict
) -> None:
    """As the numbers are printed: 0 is not in them where one bot is called the stronger."""
    low, value, high = sorted(ends)
    said = sentence(verdict, Estimate(value, low, high))
    inside = said[said.index("(") + 1 : said.index(")")]
    first, last = (float(end) for end in inside.split(".."))
    assert first <= last
    if said.startswith(("better", "weaker")):
        assert first > 0
        assert (low > 0) == said.startswith("better")
    else:
        assert first <= 0 <= last
    if said.startswith("not better"):
        assert last < STOP.elo1


@pytest.mark.parametrize(
    ("verdict", "elo", "word", "said"),
    [
        (
            "not better",
            Estimate(-62.4, -91.1, -34.4),
            "apart",
            "weaker: new is weaker than old, by about 62 Elo points (34..91)",
        ),
        (
            "undecided",
            Estimate(334.2, 250.9, 466.4),
            "apart",
            "better: new is stronger than old, by about 334 Elo points (251..466)",
        ),
        (
            "not better",
            Estimate(-1.2, -9.0, 7.0),
            "open",
            "not better: new does not lead old by 10, and the two are not told apart: "
            "new is at -1 Elo points (-9..7)",
        ),
        (
            "not better",
            Estimate(-8.0, -19.0, 2.0),
            "leans",
            "not better: new does not lead old by 10, and old is probably stronger than new: "
            "new is at -8 Elo points (-19..2)",
        ),
        (
            "better",
            Estimate(9.0, -0.4, 18.0),
            "leans",
            "probably better: new is probably stronger than old: new is at +9 Elo points (0..18)",
        ),
    ],
)
def test_a_lead_is_told_as_a_person_would(
    verdict: Verdict, elo: Estimate, word: Word, said: str
) -> None:
    """With the estimate, its interval and the word of verdicts.csv, whatever the test says."""
    assert sentence(verdict, elo, word) == said


def test_a_test_for_no_worse_says_no_worse() -> None:
    """Of 0 against -10, where the interval has 0 and not -10."""
    stop = Sprt(-10.0, 0.0, 0.05, 0.05, 1000)
    assert make_claim("better", Estimate(-1.0, -7.0, 5.0), stop) == "no worse"
    assert make_claim("better", Estimate(-1.0, -11.0, 5.0), stop) == "probably no worse"
    assert make_claim("not better", Estimate(-9.0, -19.0, 1.0), stop) == "probably weaker"


def test_half_a_point_from_0_is_not_0() -> None:
    """Of a test against -0.5 the new one may be no worse, and of one for 0.5 not better."""
    below, above = Sprt(-0.5, 10.0, 0.05, 0.05, 1000), Sprt(-10.0, 0.5, 0.05, 0.05, 1000)
    assert make_claim("better", Estimate(3.0, -2.0, 8.0), below) == "probably no worse"
    assert make_claim("not better", Estimate(-3.0, -8.0, 2.0), above) == "probably not better"
    even = Sprt(0.0, 10.0, 0.05, 0.05, 1000)
    assert make_claim("better", Estimate(3.0, -2.0, 8.0), even) == "probably better"


@PATIENT
@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS, st.floats(1e-9, 1.0)), max_size=9))
def test_nothing_is_beyond_chance_with_0_in_its_interval(
    rows: list[tuple[float, float, float, float]],
) -> None:
    """Whatever the error is: bounds are cut off and rounded."""
    shown = []
    for *ends, error in rows:
        low, value, high = sorted(ends)
        shown.append(Estimate(value, low, high, error))
    for sure, one in zip(find_significant(shown), shown, strict=True):
        assert one.low is not None
        assert one.high is not None
        assert not (sure and one.low <= 0 <= one.high)


def test_too_few_pairs_say_nothing() -> None:
    """Fewer than the test needs for its first look, whatever the interval is."""
    said = sentence("undecided", Estimate(300.0, 20.0, 700.0), "leans", 15)
    at = "new is at +300 Elo points (20..700)"
    assert said == f"undecided: too few pairs, and new is probably stronger than old: {at}"


def check_claims(setup: Setup, runs: int, most: float) -> None:
    """See that claims are wrong in so few runs."""
    made, wrong = count_claims(setup, runs)
    firm = sum(wrong[claim] for claim in FIRM)
    assert firm <= most * runs
    assert {*made} <= {*get_args(Claim)}


@pytest.mark.slow
def test_claims_are_seldom_wrong() -> None:
    """Few runs, where there is no lead: each claim of one is wrong."""
    check_claims(Setup(FAR, 0.0, 60.0), 60, 0.12)


@pytest.mark.study
@pytest.mark.parametrize("setup", SETUPS, ids=str)
def test_claims_are_wrong_in_one_run_of_twenty_at_most(setup: Setup) -> None:
    """600 runs each, and three errors of that share (bench/STUDIES.md)."""
    check_claims(setup, 600, 0.05 + 0.027)
