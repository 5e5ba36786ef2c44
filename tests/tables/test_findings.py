"""What is said beside the standings: in lines of 80 columns, as warnings, and as data."""

from __future__ import annotations

import json
from dataclasses import replace

from arena.statistics.intervals import SeatAdvantage
from arena.tables.findings import Findings, Misfit

NOTHING = Findings({}, (), None, [["a", "b"]], 0, [], [])
SEAT = SeatAdvantage(40, 0.513, 0.502, 0.524, 9.0, 1.4, 16.7)
MISFIT = Misfit("uniform", "denier", 0.157, 0.067)
LONG = "a bot with a very long name indeed"


def test_nothing_is_said_where_there_is_nothing_to_say() -> None:
    """No line, no warning."""
    assert [*NOTHING.lines()] == NOTHING.warnings() == []


def test_each_finding_is_a_line() -> None:
    """In the order of the seats, the misfits and the cycle."""
    found = replace(NOTHING, seat=SEAT, tested=15, misfits=[MISFIT] * 4, cycle=[*"abca"])
    assert [*found.lines()] == [
        "seat 0 scores 51.3 % (50.2..52.4): +9 Elo (1..17)",
        "4 of 15 pairings are not as the Elo says, most of all uniform - denier: 15.7 %,",
        "  and it says 6.7 %",
        "a cycle: a beats b beats c beats a; rankings.csv has rankings that allow for it",
    ]


def test_no_line_is_wider_than_80_columns() -> None:
    """Whatever the bots are called."""
    misfit = Misfit(LONG, LONG, 1.0, 0.999)
    found = replace(NOTHING, tested=499_500, misfits=[misfit] * 9, cycle=[LONG] * 6)
    assert max(map(len, found.lines())) <= 80


def test_an_advantage_without_bounds_in_elo_is_a_share() -> None:
    """Where seat 0 has won every game."""
    found = replace(NOTHING, seat=SeatAdvantage(3, 1.0, 0.6, 1.0, None, 104.2, None))
    assert [*found.lines()] == ["seat 0 scores 100.0 % (60.0..100.0)"]


def test_warnings_say_which_ratings_are_not_what_they_seem() -> None:
    """An anchor that is not rated; groups that never met, of which some are named."""
    found = replace(
        NOTHING,
        anchors={"x": (1239.0, 0.0)},
        unanchored=["x"],
        groups=[[one, "z"] for one in "abcde"],
    )
    assert found.warnings() == [
        "anchor: x is not rated; the mean is 1500",
        "5 groups of bots never met, so their ratings cannot be compared: those of a, b, c and "
        "2 more",
    ]
    assert replace(found, unanchored=[], groups=[]).warnings() == []


def test_they_are_data_for_json() -> None:
    """A finding that there is not is null or an empty list."""
    found = replace(NOTHING, anchors={"x": (1239.0, 0.0)}, seat=SEAT, misfits=[MISFIT])
    document = json.loads(json.dumps(found.document()))
    assert document["anchor"] == {"bot": "x", "elo": 1239.0}
    assert document["seat_advantage"]["elo_low"] == 1.4
    assert document["misfits"] == [
        {"bot": "uniform", "opponent": "denier", "score": 0.157, "expected": 0.067}
    ]
    assert NOTHING.document() == {
        **{"anchor": None, "seat_advantage": None, "misfits": [], "cycle": []},
        **{"unbounded": [], "spread": None},
    }
