"""Headlines of comparisons and ablations: their sentences, and how often wrong.

The sentence of a comparison is held against the truth in `test_claim`.
"""

from __future__ import annotations

import numpy as np
import pytest

from arena.addons.studies.ablation import MEASURES, Ablation, VariantResult, find_effects
from arena.differences.claims import (
    Shown,
    pick_clearest,
)
from arena.differences.comparison import (
    SprtResult,
    count_further,
    find_compared,
    judge_compared,
)
from arena.statistics.intervals import Estimate
from arena.statistics.sprt import PAIR_SCORES, bounds
from arena.tables.counted import make_verdicts
from arena.tournament.sprt_rounds import Evidence, Verdict
from arena.tournament.stop import Sprt
from bench.studies import effect_headlines
from engine import STANDARD

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


def test_faults_decide_without_further_pairs() -> None:
    """There are none."""
    (said,) = compared("not better", Estimate(10.0, -10.0, 30.0), out="new")
    assert said.startswith("Not better: new had too many faults")


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


def test_too_few_pairs_are_not_enough_at_any_lead() -> None:
    """Sixteen are the fewest."""
    assert count_further(Estimate(300.0, 20.0, 700.0), 4) == 12
    assert count_further(Estimate(300.0, 20.0, 700.0), 0) is None


def test_an_interval_allows_for_the_choice_of_the_clearest() -> None:
    """Of ten differences the level is 1 - .05 / 21, which is 2.82 errors where one has 1.96."""
    rows = [Shown(str(n), Estimate(n, n - 1.96, n + 1.96)) for n in range(10)]
    found = pick_clearest(rows)
    assert found
    assert (found.best.name, found.tested) == ("9", 10)
    assert found.best.estimate.low == pytest.approx(9 - 2.8234, abs=1e-3)
    assert [one.name for one in found.sure] == ["4", "5", "6", "7", "8", "9"]  # 3.82 is 4 off 0
    assert pick_clearest([Shown("a", Estimate())]) is None


def test_what_is_shown_as_zero_is_not_the_clearest() -> None:
    """A difference that is tiny and exact comes after one that is seen to be one."""
    tiny, plain = (
        Shown("a", Estimate(0.04, 0.03, 0.05), places=1),
        Shown("b", Estimate(9.0, 4.0, 14.0), places=1),
    )
    found = pick_clearest([tiny, plain])
    assert found
    assert (found.best.name, [one.name for one in found.sure]) == ("b", ["b"])


def ablation_of(*changes: dict[str, Estimate]) -> Ablation:
    """Return an ablation whose variants change these measures; the others change by 0."""
    nothing = [Estimate()] * len(MEASURES)
    variants = [VariantResult("base", STANDARD, True, 20, 0, {}, nothing, nothing)]
    for number, by_name in enumerate(changes, 1):
        level = Estimate(0.0, -0.1, 0.1, 0.05)
        made = [by_name.get(measure.name, level) for measure in MEASURES]
        variants.append(VariantResult(f"v{number}", STANDARD, True, 20, 0, {}, made, made))
    return Ablation(variants, 10, ("a", "b"))


def strictly(tested: str) -> str:
    """Return what is said of the interval of the clearest difference."""
    return (
        f'"Surely" looks at all {tested} together: this interval is wider than the 95 % intervals '
        'of the tables, and more is asked for than for "significant" there.'
    )


def test_an_ablation_names_its_clearest_effect_and_what_is_not_told_from_zero() -> None:
    """Twelve effects have 25 ends, a level of 1 - .05 / 25 and 2.878 errors: 1.4685 times 1.96.

    So 10 points more City wins with an interval of 2 to each side have one of 2.9. The score of
    the strongest bot against the weakest is no effect.
    """
    city = Estimate(-0.1, -0.12, -0.08, 0.0102)
    spread = Estimate(0.5, 0.49, 0.51, 0.001)
    found = find_effects(ablation_of({"city": city, "spread": spread}, {}))
    assert [*found.sentences()] == [
        "The clearest effect: won by City, % of the games, under v1: -10.0 (-12.9..-7.1).",
        "Surely more than luck: 1 of 12 effects.",
        strictly("12 effects"),
        "Cannot be told from zero: all under v2, drawn under v1, won by tie-break under v1 and 3 "
        "more.",
    ]
    assert found.sentence == (
        "The clearest effect: under v1 City's share of the games falls by 10.0 percentage points."
    )


def test_an_ablation_without_a_sure_effect_says_so() -> None:
    """An effect that is significant in its own table need not be sure among all."""
    city = Estimate(-0.1, -0.19, -0.01, 0.045)
    found = find_effects(ablation_of({"city": city}))
    first, second, strict, third = found.sentences()
    assert found.sentence == (
        "No effect is surely more than luck; the clearest seen: under v1 City's share of the games "
        "falls by 10.0 percentage points."
    )
    assert strict == strictly("6 effects")
    assert first == "None of 6 effects is surely more than luck."
    assert second.startswith("The clearest effect seen: won by City, % of the games, under v1: -10")
    assert "won by City" not in third
    nothing = dict.fromkeys((measure.name for measure in MEASURES), Estimate())
    unknown = find_effects(ablation_of(nothing))
    (said,) = unknown.sentences()
    assert said == unknown.sentence == "No effect can be estimated from these games."


@pytest.mark.parametrize("measure", [one.name for one in MEASURES if one.name != "spread"])
@pytest.mark.parametrize("error", [0.01, 1.0])
def test_the_sentence_on_an_ablation_has_at_most_25_words(measure: str, error: float) -> None:
    """Whatever is measured, and whether or not the effect is sure."""
    change = Estimate(0.5, 0.5 - 2 * error, 0.5 + 2 * error, error)
    level = dict.fromkeys((one.name for one in MEASURES), Estimate())
    said = find_effects(ablation_of(level | {measure: change})).sentence
    assert "rises by" in said
    assert len(said.split()) <= 25


def test_an_effect_that_is_not_tested_is_not_called_unclear() -> None:
    """One without an error."""
    found = find_effects(ablation_of({"city": Estimate(0.1, -0.1, 0.3)}))
    assert "won by City" not in found.unclear[0][1]


@pytest.mark.slow
def test_the_clearest_difference_is_seldom_wrong() -> None:
    """Few runs, with the truth known."""
    runs, found = effect_headlines.count(effect_headlines.simulate(effect_headlines.CASES[1], 15))
    assert runs == 15
    assert found["interval"] <= 3
    assert found["sure"] <= 3


def test_a_wrong_difference_is_seen_to_be_wrong() -> None:
    """One of the other sign, and one that is none."""
    found = pick_clearest([Shown("a", Estimate(9.0, 7.0, 11.0))])
    assert found
    for truth, wrong in ((9.0, (False, False)), (0.0, (True, True)), (-9.0, (True, True))):
        assert effect_headlines.judge(found, {"a": truth}) == wrong
    assert np.isclose(found.best.estimate.low, 9 - 2 * 1.0858, atol=1e-3)


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
