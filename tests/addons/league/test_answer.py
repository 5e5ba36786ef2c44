"""What an author asks after a loss is answered with the right decisions, games and versions."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator

import pytest

from arena.addons.league.answer import format_why, kept_why, why
from arena.addons.league.bot_page import bot_report
from arena.addons.league.league import League
from arena.addons.league.shown import Standing, standings, surely_beats, table
from arena.errors import InputError
from arena.reports.html import to_html
from arena.tournament.config_keys import Venue
from tests.addons.league.small import a_league, play
from tests.conftest import Arena

VENUE = Venue(workers=1)


@pytest.fixture(scope="module")
def club(tmp_path_factory: pytest.TempPathFactory) -> Iterator[League]:
    """Yield a league in which a bot has two versions and two rounds; two losses are judged."""
    with (
        pytest.MonkeyPatch.context() as patch,
        a_league(tmp_path_factory.mktemp("answer") / "club", round_pairs=80) as league,
    ):
        patch.setattr("arena.addons.league.answer._MOST_COSTLY", 1)
        league.desk.submit("timing(patience=2.5)", "patient", "Ann")
        play(league)
        league.desk.submit("timing(patience=3.5)", "patient", "Ann")
        play(league, 2)
        yield league


@pytest.mark.slow
def test_what_was_judged_is_kept_for_the_page_and_the_next_time(club: League) -> None:
    """Only the league's owner reads the answers."""
    found = why(club, "patient", VENUE)
    assert kept_why(club, "patient") == json.loads(json.dumps(found))
    assert stat.S_IMODE((club.folder / "why").stat().st_mode) == 0o700
    page = to_html(bot_report(club, "patient", standings(club)))
    assert "of the chance to win: played" in page
    assert found["costly"][0]["game"] in page
    assert kept_why(club, "greedy") is None
    assert max(map(len, format_why(found))) <= 110


def test_a_bot_surely_beats_whom_it_is_ahead_of_and_shares_no_letter_with() -> None:
    """Neither those beside it, nor those above it, nor those that are not rated or suspended."""
    rows = ("a", 1, "a"), ("b", 2, "ab"), ("c", 3, "b"), ("new", 4, ""), ("gone", None, "")
    found = [
        Standing(rank, bot, 1, "x", 9.0 - (rank or 0), None, None, 1.0, 9, group, "active", "")
        for bot, rank, group in rows
    ]
    beaten = [(one.bot, two.bot) for one in found for two in found if surely_beats(one, two)]
    assert beaten == [("a", "c")]


@pytest.mark.slow
def test_who_is_surely_beaten_is_in_the_table(club: League) -> None:
    """By the one verdict, apart; a cell for each bot of the panel."""
    found = standings(club)
    (beaten,) = (one.beats for one in found if one.bot == "patient")
    assert "uniform" in beaten
    columns, rows = table(club, found)
    row = next(dict(zip(columns, row, strict=True)) for row in rows if row[0] == "patient")
    named = {name for name in ("uniform", "greedy", "majority") if row[f"beats_{name}"] == "yes"}
    assert named == {*beaten}
    assert (row["best_version"] in (1, 2), row["days"], row["faults"]) == (True, 1, 0)
    own = next(dict(zip(columns, row, strict=True)) for row in rows if row[0] == "uniform")
    assert own["beats_uniform"] == ""


@pytest.mark.slow
def test_the_command_has_lines_and_a_document(club: League, arena: Arena) -> None:
    """Without a name it is one clear line."""
    folder = str(club.folder)
    done = arena("league", "show", folder, "patient", "--why", "--workers", "1", "--json")
    document = json.loads(done.stdout)
    assert document == kept_why(club, "patient")
    lines = arena("league", "show", folder, "patient", "--why", "--workers", "1").stdout
    assert lines.startswith("patient 2: ")
    done = arena("league", "show", folder, "--why")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "error: --why: name a bot, too\n")
    assert "no bot 'nobody'" in arena("league", "show", folder, "nobody", "--why").stderr
    with pytest.raises(InputError, match="no bot 'nobody'"):
        why(club, "nobody", VENUE)
