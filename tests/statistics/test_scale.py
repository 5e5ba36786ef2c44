"""Unbeaten and winless bots: what bounds a rating, and what the mean is of."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from arena.statistics.counts import PairTotals
from arena.statistics.cycles import Field
from arena.statistics.intervals import Estimate
from arena.statistics.ratings import Fit, PairScores
from arena.tables.findings import Findings, Unbounded
from arena.tables.summary import format_standings
from arena.tournament.schedule import round_robin

PAIRS_PLAYED = 20
EVEN = dict.fromkeys(combinations("abc", 2), 20.0)
"""The points of the first bot of 40; the others of these are even."""


def ratings(points: dict[tuple[str, str], float], anchor: tuple[str, float] | None = None) -> Field:
    """Return the field of a round robin in which the first of two bots has so many points of 40."""
    labels = sorted({label for two in points for label in two})
    pairings = round_robin(labels)
    totals = [
        PairTotals(number, PAIRS_PLAYED, points[two], points[two] ** 2 / PAIRS_PLAYED)
        for number, two in enumerate(pairings)
    ]
    return Field(pairings, totals, labels, anchors={anchor[0]: (anchor[1], 0.0)} if anchor else {})


def beats(*two: str, points: float = 40.0) -> dict[tuple[str, str], float]:
    """Return what one bot scores against others that come before or after it."""
    one, others = two
    return {
        (min(one, other), max(one, other)): points if one < other else 40.0 - points
        for other in others
    }


@pytest.mark.parametrize("points", [40.0, 0.0])
def test_a_bot_that_wins_or_loses_everything_is_not_in_the_mean(points: float) -> None:
    """The others have the ratings of a run without it, nearly; it has one end."""
    field = ratings(EVEN | beats("x", "abc", points=points))
    found = field.ratings
    assert [round(found[label].value) for label in "abc"] == [1500] * 3
    assert math.isinf(found["x"].high) == (points == 40)
    assert math.isinf(found["x"].low) == (points == 0)
    alone = ratings(EVEN).ratings
    for label in "abc":
        assert found[label][:3] == pytest.approx(alone[label][:3], abs=3)
    ((label, record, low, high),) = field.unbounded()
    assert (label, record) == ("x", "unbeaten" if points else "winless")
    assert (low is None, high is None) == (points == 0, points == 40)


def test_who_loses_only_to_an_unbeaten_bot_has_no_upper_end_either() -> None:
    """Nothing says how much stronger than the rest it is."""
    field = ratings(EVEN | beats("x", "abcy") | beats("y", "abc"))
    assert [one[:2] for one in field.unbounded()] == [
        ("x", "unbeaten"),
        ("y", "unbeaten by the rest"),
    ]
    assert sum(field.ratings[label].value for label in "abc") == pytest.approx(4500)


def test_who_wins_only_against_a_winless_bot_has_no_lower_end_either() -> None:
    """The same from below."""
    field = ratings(EVEN | beats("x", "abcy", points=0.0) | beats("y", "abc", points=0.0))
    assert [one[:2] for one in field.unbounded()] == [
        ("x", "winless"),
        ("y", "winless against the rest"),
    ]


def test_two_bots_that_nobody_else_scores_against_are_both_unbeaten_by_the_rest() -> None:
    """Although both have lost games: to each other."""
    field = ratings(EVEN | beats("x", "abc") | beats("y", "abc") | beats("x", "y", points=25.0))
    assert {one[1] for one in field.unbounded()} == {"unbeaten by the rest"}
    assert sum(field.ratings[label].value for label in "abc") == pytest.approx(4500)


def test_of_two_bots_the_mean_is_that_of_both() -> None:
    """Also where one has won all: neither is the scale by itself."""
    one, two = ratings({("a", "b"): 40.0}).ratings.values()
    assert one.value + two.value == pytest.approx(3000)
    assert (one.high, two.low) == (math.inf, -math.inf)
    even = ratings({("a", "b"): 20.0})
    assert not [*even.unbounded()]


def test_an_anchor_is_the_scale_whatever_it_has_won() -> None:
    """Of an anchor that loses everything the others are unbeaten; it has its Elo."""
    points = EVEN | beats("x", "abc", points=0.0)
    for anchor, unbounded in (("a", {"x"}), ("x", {"a", "b", "c"})):
        field = ratings(points, (anchor, 1000.0))
        assert field.ratings[anchor] == Estimate(1000.0, 1000.0, 1000.0)
        assert {one[0] for one in field.unbounded()} == unbounded


def test_groups_that_never_met_have_scales_of_their_own() -> None:
    """A bot that wins all in one of them is not in its mean."""
    scores = [PairScores(*two, 9, 9.0, 9.0) for two in ((0, 1), (1, 2), (0, 2), (3, 4))]
    scores += [PairScores(5, bot, 9, 18.0, 36.0) for bot in (3, 4)]
    fit = Fit(6, scores)
    scale = fit.scale()
    assert scale.no_high.tolist() == [False] * 5 + [True]
    assert scale.weights[5].tolist() == [0, 0, 0, 0.5, 0.5, 0]
    assert scale.weights[0].tolist() == [1 / 3] * 3 + [0] * 3
    assert scale.move(np.ones(6)).tolist() == pytest.approx([0.0] * 6)


def test_a_bot_that_is_hardly_ever_beaten_is_not_in_the_mean() -> None:
    """It has both ends, but its error would be in the ratings of all others."""
    points = dict.fromkeys(combinations("abcdef", 2), 20.0)
    field = ratings(points | beats("x", "abcde") | beats("x", "f", points=39.5))
    scale = field.fit.scale()
    assert scale.weights[0].round(3).tolist() == [*[0.167] * 6, 0]
    assert not scale.no_high.any()
    assert (ratings(points).fit.scale().weights == 1 / 6).all()


def test_it_is_marked_where_it_is_printed() -> None:
    """In the row of the table, and in a line below it."""
    row = {"rank": 1, "bot": "x", "elo": 2380.0, "elo_low": 2040.0, "elo_high": None, "games": 9}
    row |= dict.fromkeys(("score", "city_wins", "points_wins", "tiebreak_wins", "forfeits"), 0)
    _, line = format_standings([row | {"group": "a"}])
    assert line[25:45] == "       at least 2040"
    named = [Unbounded(f"bot{number}", "winless", None, 900.0) for number in range(6)]
    lines = [*Findings(None, True, None, [], 0, [], [], unbounded=named).lines()]
    assert lines[0] == "bot0 is winless: its Elo is at most 900"
    assert lines[-1].startswith("and 2 more bots")
