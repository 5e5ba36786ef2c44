"""A league plays rounds that anybody can repeat, and loses nothing."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from arena.addons.league import league as leagues
from arena.addons.league import submission
from arena.addons.league.inbox import take_all
from arena.addons.league.league import League, make_league
from arena.addons.league.league_ratings import choose_meetings
from arena.addons.league.league_site import format_opening
from arena.addons.league.league_standing import format_history, history, standings
from arena.addons.league.ledger import REPLACED, SUSPENDED, WITHDRAWN
from arena.errors import InputError
from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET
from arena.store import database
from arena.store.reader import read_run
from tests.addons.league.small import NOON, a_league, accept, play, settings, write_bot
from tests.conftest import run_here
from tests.waiting import until

FAULTY = '''"""Fail in every game."""


class Faulty:
    """A bot that raises."""

    def __init__(self, setup):
        pass

    def choose(self, view):
        """Raise."""
        raise ValueError("my own secret")


bot = Faulty
'''


def tables(league: League) -> dict[str, Any]:
    """Return all that is known of a league but the times."""
    ledger = league.ledger
    names = ("versions", "rounds", "ratings")
    found = {name: ledger.rows(f"SELECT * FROM {name} ORDER BY 1, 2") for name in names}
    found["versions"] = [row[:-1] for row in found["versions"]]
    found["rounds"] = [row[0] for row in found["rounds"]]
    return found


def games(league: League) -> list[Any]:
    """Return who met in which round, and every game of a league: its place and actions."""
    tournament, store = read_run(league.folder)
    with closing(store):
        played = [(tournament.pairings[number], *game) for number, game in store.results()]
    return [*tournament.meetings, *played]


@pytest.mark.slow
def test_any_workers_play_the_same_rounds_and_no_pair_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is chosen by all before it; the class of a time is that of a quiet machine."""
    monkeypatch.setattr(submission.Desk, "_time", lambda *_: 0.1)
    seen = []
    for workers in (1, 2):
        with a_league(tmp_path / f"club{workers}") as league:
            league.desk.submit("greedy(patience=11)", "patient")
            play(league, 3, workers)
            seen.append((tables(league), games(league), standings(league)))
    assert seen[0] == seen[1]
    assert len(seen[0][1]) == 3 + 3 * 120
    met = []

    def choose(contenders: Any, pairs: Any, *more: Any) -> dict[tuple[int, int], int]:
        met.append(pairs.copy())
        return choose_meetings(contenders, pairs, *more)

    monkeypatch.setattr(leagues, "choose_meetings", choose)
    with a_league(tmp_path / "club") as league:
        play(league, 4)
        rounds = league.games.tournament.meetings
        assert league.games.store.count_games() == 480
    names, played = ["greedy", "majority", "uniform"], np.zeros((3, 3))
    for pairs, meetings in zip(met, rounds, strict=True):
        assert (pairs == played).all()
        for bot, opponent, more in meetings:
            two = names.index(bot), names.index(opponent)
            played[two] += more
            played[two[::-1]] += more
    assert played.sum() == 480


@pytest.mark.slow
def test_suspended_with_its_evidence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It plays no more, keeps its games, and its owner can play the first fault again."""
    monkeypatch.setattr(submission, "run_check", accept)
    bot = tmp_path / "faulty.py"
    bot.write_text(FAULTY)
    with a_league(tmp_path / "club", round_pairs=24, max_faults=4, seed=271828182845) as league:
        league.desk.submit(str(bot), "faulty", "Ann")
        (result,) = play(league)
        assert result.suspended == ["faulty"]
        (version,) = league.find("faulty")
        assert version.state == SUSPENDED
        assert "exception" in version.why
        assert "secret" not in version.why
        (row,) = [one for one in standings(league) if one.bot == "faulty"]
        assert (row.rank, row.note) == (None, "suspended: 4 faults")
        assert "! faulty is suspended: 4 faults" in [*format_opening(league)]
        data = history(league, "faulty")
        told = data["versions"][0]["first_fault"]
        assert told["kind"] == "exception"
        done = run_here(tmp_path, *shlex.split(told["show"])[1:])  # wherever one stands
        assert "my own secret" in done.stdout
        lines = "\n".join(format_history(data))
        assert " . " not in lines
        assert "4 faults; the first: exception at ply " in lines
        assert "my own secret" in lines
        assert told["show"] in lines
        assert str(league.settings.seed) not in json.dumps(data)  # it goes to the bot's owner
        # games that were not played count for nobody
        pairs = league.games.totals["faulty"]["games"] // 2
        assert 1 <= pairs <= 4
        (second,) = play(league)
        assert second.suspended == []
        assert league.games.totals["faulty"]["games"] // 2 == pairs
        league.desk.submit(str(write_bot(tmp_path)), "faulty", "Ann")
        assert league.find("faulty")[0].state == REPLACED


@pytest.mark.slow
def test_a_withdrawn_bot_plays_no_more(tmp_path: Path) -> None:
    """Its games stay, and its name is its owner's still."""
    with a_league(tmp_path / "club") as league:
        league.desk.submit("greedy(patience=11)", "patient", "Ann")
        play(league)
        with pytest.raises(InputError, match="patient: it is Ann's"):
            league.withdraw("patient", "Bob")
        assert league.withdraw("patient", "Ann").title == "patient 1"
        assert league.find("patient")[0].state == WITHDRAWN
        play(league)
        assert not [one for one in league.games.tournament.meetings[1] if "patient" in one]
        assert league.ratings()[4].pairs > 0
        for name, why in (("patient", "it is withdrawn"), ("greedy", "panel"), ("no", "no bot")):
            with pytest.raises(InputError, match=why):
                league.withdraw(name)


@pytest.mark.slow
def test_a_round_that_was_killed_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the bots that it was planned with, whatever was submitted or withdrawn meanwhile."""
    with a_league(tmp_path / "whole") as league:
        league.desk.submit("greedy(patience=11)", "patient")
        play(league, 1)
        league.desk.submit("greedy(patience=5)", "patient")
        play(league, 1)
        whole = tables(league), games(league)
    with a_league(tmp_path / "killed") as league:
        league.desk.submit("greedy(patience=11)", "patient")
        with monkeypatch.context() as killed:
            killed.setattr(League, "_finish", interrupt)
            with pytest.raises(KeyboardInterrupt):
                play(league)
        league.desk.submit("greedy(patience=5)", "patient")
        assert (league.number, len(standings(league))) == (0, 4)
        play(league, 2)
        assert (tables(league), games(league)) == whole


def interrupt(*_: object) -> None:
    """Stop the process before a round is finished, when its games are played."""
    raise KeyboardInterrupt


def test_a_bots_deleted_file_stops_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a student's data is taken out, also in the middle of a round."""
    monkeypatch.setattr(submission, "run_check", accept)
    with a_league(tmp_path / "club", round_pairs=30) as league:
        version = league.desk.submit(str(write_bot(tmp_path)), "mine", "Ann")
        with monkeypatch.context() as killed:
            killed.setattr(League, "_finish", interrupt)
            with pytest.raises(KeyboardInterrupt):
                play(league)
        league.withdraw("mine")
        (league.folder / version.spec).unlink()
        first, second = play(league, 2)
        (why,) = first.away
        assert why.startswith("mine: ")
        assert why.endswith("No such file or directory")
        assert not second.away


def _can_play(league: League) -> bool:
    with suppress(InputError), league.playing():
        return True
    return False


def _play_until_killed(folder: Path, moment: int) -> None:
    """Play rounds in a process that dies as the transaction with this number begins or ends."""
    if child := os.fork():
        os.waitpid(child, 0)
        return
    begun, whole = count(1), database.connect

    def connect(place: Path | str) -> Any:
        made = whole(place)
        made.set_trace_callback(
            lambda sql: (
                os.kill(os.getpid(), signal.SIGKILL)
                if sql.startswith(("BEGIN", "COMMIT")) and next(begun) == moment
                else None
            )
        )
        return made

    try:
        database.connect = connect  # type: ignore[assignment]
        with closing(League(folder, lambda: NOON)) as league, league.playing():
            while league.number < 3:
                league.play_round(LocalExecutor(1), shown=QUIET)
    finally:
        os._exit(0)


@pytest.mark.slow
def test_killed_at_any_moment_it_has_the_same_games_afterwards(tmp_path: Path) -> None:
    """Nothing is lost and nothing twice, whenever a round or the end of one is killed."""
    with a_league(tmp_path / "whole", round_pairs=20) as league:
        play(league, 3)
        whole = tables(league), games(league)
    folder, random = tmp_path / "killed", Random(7)
    with a_league(folder, round_pairs=20) as league:
        while league.number < 3:
            _play_until_killed(folder, random.randint(1, 30))
            until(lambda: _can_play(league))
        assert (tables(league), games(league)) == whole


@pytest.mark.slow
def test_only_its_owner_reads_the_seed_and_the_sources(tmp_path: Path) -> None:
    """Whatever the umask; also what waits to be checked, and what SQLite keeps beside the file."""
    with a_league(tmp_path) as league:
        with league.playing():
            busy = pytest.raises(InputError, match="another process plays this league")
            with closing(League(tmp_path)) as other, busy, other.playing():
                pass
            assert league.desk.submit("greedy(patience=11)", "patient").number == 1
        play(league)
        assert [*take_all(league, print)] == []
        files = ["league.yaml", "league.sqlite", "league.sqlite-wal", "run.sqlite"]
        files += ["bots", "details", "taken"]
        assert not any((tmp_path / name).stat().st_mode & 0o77 for name in files)


@pytest.mark.slow
def test_what_decides_games_cannot_be_changed(tmp_path: Path) -> None:
    """Another seed or limit is named."""
    folder = tmp_path / "club"
    make_league(folder, settings())
    with closing(League(folder)) as league:
        play(league)
    path = folder / "league.yaml"
    text = path.read_text()
    for before, after in (
        ("seed: 0", "seed: 1"),
        ("2.0", "3.0"),
        ("max_faults: 10", "max_faults: 9"),
    ):
        path.write_text(text.replace(before, after))
        with closing(League(folder)) as league, pytest.raises(InputError) as caught:
            play(league)
        assert str(caught.value).startswith(f"{folder}: holds another run: ")
        assert "a league goes on as it began; another one needs a new folder" in str(caught.value)
    path.write_text(text.replace("target: 15", "target: 20"))
    with closing(League(folder)) as league:
        assert play(league)[0].number == 2
        assert league.settings.target == 20


@pytest.mark.slow
def test_a_league_moves_its_sources_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing in it knows where it is; the games of other bytes would be another bot's."""
    monkeypatch.setattr(submission, "run_check", accept)
    with a_league(tmp_path / "club") as league:
        version = league.desk.submit(str(write_bot(tmp_path)), "mine")
        play(league)
    os.rename(tmp_path / "club", tmp_path / "moved")
    with closing(League(tmp_path / "moved", lambda: NOON)) as league:
        assert play(league)[0].number == 2
        for path in league.folder.rglob("*"):
            assert not path.is_file() or str(tmp_path).encode() not in path.read_bytes()
        with (league.folder / version.spec).open("a") as file:
            file.write("# more\n")
        with pytest.raises(InputError, match=r"mine: .*\.py is not what was submitted"):
            play(league)


SETTINGS = (
    ("sed: 1", "line 1: unknown key 'sed'; did you mean 'seed'?"),
    ("a_day: 0", "line 1: a_day: expected `int` >= 1"),
    ("panel: []", "panel: expected"),
    ("panel: [greedy, greedy]", "panel: a bot is named twice"),
    ("rules: {rounds: 100}", "rules: "),
    ("lane: moon", "lane: 'moon' is not one of inproc, process, jail"),
    ("[1]", "expected `mapping`, got `list`"),
    ("a: b: c", "line 1, column 5"),
)


def test_wrong_settings_are_named_with_their_place(tmp_path: Path) -> None:
    """In one line, whatever is asked of the league."""
    make_league(tmp_path / "club", settings())
    path = tmp_path / "club" / "league.yaml"
    for text, why in SETTINGS:
        path.write_text(text)
        with pytest.raises(InputError, match=f"^{path}: .*{re.escape(why)}"):
            League(tmp_path / "club")


def test_a_league_needs_a_new_folder_and_a_panel_of_the_arena(tmp_path: Path) -> None:
    """And what fails leaves nothing."""
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").touch()
    with pytest.raises(InputError, match="something already"):
        make_league(tmp_path / "there", settings())
    for wrong in ("noone", "greedy(patience=3)", "a=greedy"):
        with pytest.raises(InputError, match=r"panel\[0\]: '.*' is not the name of a bot"):
            make_league(tmp_path / "club", settings(panel=[wrong]))
    assert [*(tmp_path / "club").iterdir()] == []
    with pytest.raises(InputError, match="no league there"):
        League(tmp_path / "club")
    with pytest.raises(InputError, match="the name of a league's folder is UTF-8"):
        make_league(tmp_path / os.fsdecode(b"\xff"), settings())
