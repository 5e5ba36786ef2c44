"""What is said beside the standings: in lines of 80 columns, as warnings, and as data."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TypeAlias

import pytest

from arena.statistics.bradley_terry import Spread
from arena.statistics.intervals import Estimate
from arena.tables.findings import (
    CityShare,
    Findings,
    Misfit,
    SeatAdvantage,
    Unbounded,
    describe_city,
)

NOTHING = Findings({}, (), None, [["a", "b"]], 0, [], [])
SEAT = SeatAdvantage(40, 0.513, 0.502, 0.524, 9.0, 1.4, 16.7)
MISFIT = Misfit("uniform", "denier", 0.157, 0.067)


def test_each_finding_is_a_line_of_80_columns_at_most() -> None:
    """In the order of the seats, the misfits and the cycle; an advantage without Elo is a share."""
    found = replace(NOTHING, seat=SEAT, tested=15, misfits=[MISFIT] * 4, cycle=[*"abca"])
    assert [*found.lines()] == [
        "seat 0 scores 51.3 % (50.2..52.4): +9 Elo (1..17)",
        "Elo does not explain 4 of 15 pairings, least of all uniform - denier: 15.7 %,",
        "  where it expects 6.7 %",
        "a cycle: a beats b beats c beats a",
    ]
    found = replace(NOTHING, seat=SeatAdvantage(3, 1.0, 0.6, 1.0, None, 104.2, None))
    assert [*found.lines()] == ["seat 0 scores 100.0 % (60.0..100.0)"]
    assert [*NOTHING.lines()] == NOTHING.warnings() == []
    ends = [Unbounded(f"b{n}", "winless", None, 1200.4) for n in range(6)]
    spread = Spread(37.6, 24.0, 52.0, 0.05, 21)
    assert [*replace(NOTHING, unbounded=ends, spread=spread, spread_counts=True).lines()] == [
        *(f"b{n} is winless: its Elo is at most 1200" for n in range(4)),
        "and 2 more bots of which one end of the interval is known at most",
        "results differ from Elo by about ±38 points (24..52), which the intervals allow",
        "  for",
    ]
    long = "a bot with a very long name indeed"
    misfits = [Misfit(long, long, 1.0, 0.999)] * 9
    found = replace(NOTHING, tested=499_500, misfits=misfits, cycle=[long] * 6)
    assert max(map(len, found.lines())) <= 80


def test_findings_are_warnings_and_data_for_json() -> None:
    """With null or an empty list for none."""
    groups = [[one, "z"] for one in "abcde"]
    found = replace(NOTHING, anchors={"x": (1239.0, 0.0)}, unanchored=["x"], groups=groups)
    found = replace(found, idle=["y"], dependence="b became stronger")
    assert found.warnings() == [
        "anchor: x is not rated; the mean is 1500",
        "b became stronger",
        "not in the tables, because they have played no game: y",
        "5 groups of bots never met, so their ratings cannot be compared: those of a, b, c and "
        "2 more",
    ]
    assert replace(found, unanchored=[], groups=[], idle=[], dependence="").warnings() == []
    found = replace(NOTHING, anchors={"x": (1239.0, 0.0)}, seat=SEAT, misfits=[MISFIT])
    document = json.loads(json.dumps(found.document()))
    assert document["anchor"] == {"bot": "x", "elo": 1239.0}
    assert document["seat_advantage"]["elo_low"] == 1.4
    (misfit,) = document["misfits"]
    assert misfit == {"bot": "uniform", "opponent": "denier", "score": 0.157, "expected": 0.067}
    empty = {"misfits": [], "cycle": [], "unbounded": []}
    assert NOTHING.document() == {"anchor": None, "seat_advantage": None, "spread": None, **empty}


Ends: TypeAlias = tuple[float, float, float]
REAL = "City is a real way to win: it made 10 % of the wins of ann"
OPEN = "Whether City is a real way to win is open: it made"


@pytest.mark.parametrize(
    ("top", "gap", "said"),
    [
        (
            (0.1, 0.06, 0.14),
            (0.05, 0.01, 0.09),
            f"{REAL}, surely a larger share than of those of cid",
        ),
        (
            (0.1, 0.05, 0.14),
            (-0.05, -0.09, 0.0),
            f"{REAL}; the share of cid is not told apart from that",
        ),
        (
            (0.004, 0.001, 0.049),
            (-0.05, -0.09, -0.01),
            "City is a rare way to win: it made 0.4 % of the wins of ann, "
            "surely a smaller share than of those of cid",
        ),
        ((0.1, 0.04, 0.14), (), f"{OPEN} 10 % of the wins of ann"),
        ((0.0, 0.0, 0.01), (), "City is a rare way to win: it made none of 6,000 wins"),
        ((0.0, 0.0, 0.2), (), f"{OPEN} none of 6,000 wins"),
    ],
)
def test_city_is_called_real_as_far_as_the_intervals_say(
    top: Ends, gap: Ends | tuple[()], said: str
) -> None:
    """By the share of the strongest third, and by the difference of the weakest one."""
    found = CityShare(6000, round(6000 * top[0]), Estimate(*top), Estimate(*gap))
    assert describe_city(found, ["ann", "bob", "cid"]) == said
    many = said.replace("of ann", "of the strongest 2").replace("of cid", "of the weakest 2")
    assert describe_city(found, [*"abcdef"]) == many
