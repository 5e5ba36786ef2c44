"""The page of a bot and the change of a version, worked out by hand."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from arena.addons.league import bot_page
from arena.addons.league.bot_page import Against, bot_report
from arena.addons.league.league_games import Result
from arena.addons.league.league_tables import RatingRow, Version
from arena.addons.league.shown import (
    Standing,
    find_change,
)
from arena.reports.blocks import Report, Section, Table, Text
from arena.runs.progress_bar import FirstFault
from arena.tournament.schedule import Pairing
from tests.addons.league.small import settings, version

WEAK, STRONG = version(10, "weak"), version(11, "strong")
OLD = version(1, "mine", state="replaced", at="2026-11-24T12:00:00", sha256="0" * 64)
NEW = version(2, "mine", owner="Ann", at="2026-11-25T08:30:00", sha256="abcdef" * 10)
NEW = NEW._replace(number=2)
ENDINGS = (6, 0, 0, 30, 20, 0, 10, 3, 0, 0, 0, 10, 1, 40, 0)
"""Games won, lost and drawn by City, by points, by tie-break, by a draw and by forfeit."""

RATINGS = {
    2: RatingRow(2, 60, 1500.0, 1470.0, 1530.0, 1490.0, "a", played=True),
    10: RatingRow(10, 60, 1400.0, 1370.0, 1430.0, 1400.0, "b", played=True),
    11: RatingRow(11, 60, 1700.0, None, 1730.0, 1650.0, "", played=True),
}
RESULTS = [
    Result("weak", (0, 0, 10, 0, 30), ENDINGS),
    Result("strong", (20, 0, 0, 0, 0), (0,) * 15),
]


class Books:
    """Stands in for a ledger."""

    def __init__(self, spread: Any = (38.0, 30.0, 50.0, True)) -> None:
        self._spread = spread

    def versions(self, *_: object) -> list[Version]:
        return [OLD, NEW, WEAK, STRONG]

    def refusals(self, *_: object) -> list[Any]:
        return []

    def rating_history(self, number: int) -> list[tuple[int, RatingRow]]:
        return [(1, RATINGS[2]._replace(elo=1480.04, pairs=30)), (2, RATINGS[2])][: 2 * number - 2]

    def spread(self, _: int) -> Any:
        return self._spread


def league(**changes: Any) -> Any:
    """Return what stands in for a league."""
    first = FirstFault("late", "", 7, "x", "arena show x")
    return SimpleNamespace(
        ledger=Books(),
        games=SimpleNamespace(
            results={"mine@2": RESULTS},
            faults={"mine": (2, first)},
            tournament=None,
            store=None,
            halves=lambda _: {},
        ),
        settings=settings(**changes),
        folder=Path("/nowhere"),
        number=1234,
        find=lambda _: [OLD, NEW],
        ratings=lambda: RATINGS,
        is_precise=lambda: True,
    )


def section(report: Report, name: str) -> Section:
    """Return a section of a report."""
    return next(one for one in report.sections if one.name == name)


def rows(report: Report, name: str) -> list[tuple[Any, ...]]:
    """Return the rows of a table of a report."""
    table = next(one for one in report.blocks if isinstance(one, Table) and one.name == name)
    return [tuple(row) for row in table.rows]


def advice(report: Report) -> str:
    """Return what the owner is told."""
    (text,) = section(report, "next").blocks
    assert isinstance(text, Text)
    return " ".join(text.paragraphs)


@pytest.mark.parametrize(("pairs", "errors"), [(50, -4.0), (200, -8.0), (0, 0.0)])
def test_a_result_is_beyond_the_elo_by_errors_of_its_pairs(pairs: int, errors: float) -> None:
    """One pair has a standard error of about the square root of 1/8."""
    assert Against(WEAK, pairs, 0.3, 0.5).beyond == pytest.approx(errors)


def test_the_worst_opponent_is_named_with_its_numbers() -> None:
    """None of 20 pairs where 24 % was to be expected is 3.04 errors; of 10 pairs 2.1 are luck."""
    wide, narrow = league(target=40), league(target=10)
    said = advice(bot_report(wide, "mine", []))
    assert said == (
        "It does worst against strong 1, for its Elo: 0 % in 20 pairs, and 24 % was to be expected."
    )
    assert advice(bot_report(narrow, "mine", [])).startswith("Its rating is not sure yet")
    wide.games.results = {"mine@2": [RESULTS[0], Result("strong", (10, 0, 0, 0, 0), (0,) * 15)]}
    assert advice(bot_report(wide, "mine", [])).endswith(
        "24 % was to be expected, which may be luck."
    )
    wide.games.results = {"mine@2": RESULTS[:1]}
    assert advice(bot_report(wide, "mine", [])) == ""


def test_the_costliest_decisions_have_a_row_and_a_replay_each() -> None:
    """At the place of the game, from whichever side it is named."""
    columns = ["game", "bot", "opponent", "pair", "seat", "ply", "action", "loss", "mistake"]
    rows = [
        ("mine/weak/3/1", "mine", "weak", 3, 1, 7, "T", 0.25, "took too early"),
        ("strong/mine/4/0", "mine", "strong", 4, 1, 9, "5", 0.125, "laid the wrong card"),
    ]
    costly = pd.DataFrame(rows, columns=columns)
    run: Any = SimpleNamespace(pairings=[Pairing("mine", "weak"), Pairing("strong", "mine")])
    picks = [*bot_page._pick_costly(run, costly)]
    assert [tuple(pick.place) for pick in picks] == [(0, 3, 1), (1, 4, 0)]
    assert picks[0].reason == "Ply 7 gave away 25 % of the chance to win."
    _, table = bot_page._costliest(costly, ["one", "two"])
    assert isinstance(table, Table)
    assert [*table.rows] == [(row[0], *row[5:]) for row in rows]
    assert table.links == ["one", "two"]
    assert not [*bot_page._costliest(None, []), *bot_page._pick_costly(run, None)]


def test_every_version_has_its_rating_and_its_faults() -> None:
    """The newest first, and its rating after each round; a version without games has none."""
    report = bot_report(league(), "mine", [standing()])
    assert report.summary == ["mine, version 2 of Ann: rank 3, Elo 1500."]
    assert rows(report, "versions") == [
        (2, "2026-11-25 08:30", "active", 1500.0, 1470.0, 1530.0, 60, 0, "abcdefabcdef"),
        (1, "2026-11-24 12:00", "replaced", None, None, None, 0, 2, "000000000000"),
    ]
    assert rows(report, "ratings") == [
        (2, 2, 1500.0, 1470.0, 1530.0, 60),
        (1, 2, 1480.0, 1470.0, 1530.0, 30),
    ]
    (code,) = section(report, "faults").blocks
    title = "Version 1: 2 faults; the first: late at ply 7. In the league's folder:"
    assert (code.title, code.text) == (title, "arena show x")  # type: ignore[union-attr]


def standing(**changes: Any) -> Standing:
    """Return the standing of the bot."""
    numbers = (1500.0, 1470.0, 1530.0, 1490.0, 1260, "a", "active", "")
    return Standing(3, "mine", 2, "Ann", *numbers)._replace(**changes)


def test_two_versions_are_compared_on_the_deals_that_both_have_had() -> None:
    """Each opponent weighs the same; below a number of common pairs nothing is said."""
    halves = {
        "mine@2": {
            "weak": dict(enumerate(10 * [2] + 30 * [4])),
            "strong": dict.fromkeys(range(20), 0),
        },
        "mine": {"weak": dict.fromkeys(range(40), 1), "strong": dict.fromkeys(range(0, 20, 2), 2)},
    }
    games: Any = SimpleNamespace(halves=lambda label: halves[label])
    change = find_change(games, NEW, OLD)
    assert change is not None
    assert (change.pairs, change.opponents) == (50, 2)
    weak, strong = (10 * 2 + 30 * 4) / 40 / 4 - 0.25, 0.0 - 0.5
    assert change.estimate.value == pytest.approx((weak + strong) / 2)
    del halves["mine"]["weak"]
    least = find_change(games, NEW, OLD)
    assert (least and least.pairs) == 10
    del halves["mine"]["strong"][0]
    assert find_change(games, NEW, OLD) is None
