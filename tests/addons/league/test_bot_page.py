"""The page of a bot and the change of a version, worked out by hand."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from arena.addons.league.bot_page import Against, bot_report
from arena.addons.league.league_games import Result
from arena.addons.league.league_tables import RatingRow, Version
from arena.addons.league.shown import (
    Standing,
    find_change,
    standings,
)
from arena.reports.blocks import Replays, Report, Section, Text
from arena.reports.drawing import Lines
from arena.runs.progress_bar import FirstFault
from tests.addons.league.small import a_league, play, settings, version

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
    first = FirstFault("timeout", "secret", 7, "a/b/0/1", "")
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
    assert said.startswith(
        "It does worst against strong 1, for its Elo: 0 % in 20 pairs, and 24 % was to be expected."
        " By City it has won 5 % of its games, and lost 0 %; by points it has won 25 % of its games"
    )
    assert advice(bot_report(narrow, "mine", [])).startswith("Its rating is not sure yet")
    wide.games.results = {"mine@2": [RESULTS[0], Result("strong", (10, 0, 0, 0, 0), (0,) * 15)]}
    assert "24 % was to be expected, which may be luck." in advice(bot_report(wide, "mine", []))
    wide.games.results = {"mine@2": RESULTS[:1]}
    assert "It does worst" not in advice(bot_report(wide, "mine", []))


def test_the_course_has_a_line_for_each_version_and_faults_say_what_to_do() -> None:
    """Neither a raw table nor what the bot said; a version without games has no line."""
    report = bot_report(league(), "mine", [standing()])
    assert report.summary == ["mine, version 2 of Ann: rank 3, Elo 1500 (1470..1530)."]
    assert not [*report.tables()]
    (chart,) = report.charts()
    assert isinstance(chart, Lines)
    assert [list(one.points) for one in chart.series] == [[], [(1, 1480.0), (2, 1500.0)]]
    (text,) = section(report, "faults").blocks
    assert isinstance(text, Text)
    assert text.paragraphs[0].startswith(
        "Version 1 had 2 faults; the first: no answer in time (timeout) at ply 7 of a/b/0/1. Make"
    )


def test_a_game_is_drawn_from_the_side_of_the_bot(tmp_path: Path) -> None:
    """Also where the other one is named first: a won game ends above, a lost one below."""
    with a_league(tmp_path / "club", round_pairs=40) as club:
        play(club)
        for name in ("uniform", "majority"):
            report = bot_report(club, name, standings(club))
            (games,) = (one for one in section(report, "games").blocks if isinstance(one, Replays))
            assert len({one.reason.split()[1] for one in games.games}) == 2
            for game in games.games:
                assert game.line
                last = game.line.series[0].points[-1][1]
                if "by points" in game.reason:
                    assert (last > 0) == game.reason.startswith("A win"), game.title


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
