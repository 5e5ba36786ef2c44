"""An organiser's evening: a league is served, ends by itself, and its final is equal."""

from __future__ import annotations

import configparser
import os
import re
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from arena.addons.league import submission
from arena.addons.league.hosting import freeze, host, make_final, play_final
from arena.addons.league.inbox import run_in_turns, take_all
from arena.addons.league.league import League, make_league
from arena.addons.league.league_commands import league as group
from arena.addons.league.league_site import write_site
from arena.addons.league.league_standing import history
from arena.addons.league.submission import NotNow, Refused
from arena.check.item import Item, Order
from arena.errors import ArenaError, InputError
from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET
from arena.runs.run import Playing
from arena.tournament.config_keys import Venue
from tests import ROOT
from tests.addons.league.small import a_league, accept, an_unchecked_league, settings, write_bot
from tests.conftest import Arena
from tests.kit import csv_rows
from tests.markdown import blocks
from tests.waiting import until

PAGE = (ROOT / "docs" / "league.md").read_text(encoding="utf-8")
LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ .+")


@pytest.fixture
def league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[League]:
    """Yield a league whose check finds nothing, with an inbox."""
    with an_unchecked_league(tmp_path / "club", monkeypatch, round_pairs=20) as made:
        yield made


def hosted(league: League, **how: Any) -> Any:
    """Host a league, and return what it came to."""
    with league.playing():
        return host(league, LocalExecutor(1), lambda _: None, **how)


def test_an_owner_with_fifty_files_holds_nobody(league: League, tmp_path: Path) -> None:
    """Owners take turns: the one file of another owner comes second, though it is the newest."""
    for number in (0, 1, 2):
        league.desk.submit(str(write_bot(tmp_path, f"a{number}", number)), f"a{number}", "Ann")
        path = write_bot(league.folder / "inbox", f"a{number}", 100 + number)
        os.utime(path, (1000 + number,) * 2)
    write_bot(league.folder / "inbox", "bob", 200)
    assert [*take_all(league, lambda _: None, 0.0)] == ["a0", "bob", "a1", "a2"]


def test_an_owner_has_one_submission_in_progress() -> None:
    """The second one of an owner begins when the first has ended; others overtake it."""
    begun: list[str] = []
    held = threading.Event()

    def run(name: str, _: object) -> None:
        begun.append(name)
        jobs[name]()

    jobs: dict[str, Callable[[], object]]
    jobs = {"a1": held.wait, "a2": bool, "b1": bool, "b2": held.set}
    ended = [name for name, _ in run_in_turns([(name[0], name) for name in jobs], run, 2, 1e9)]
    assert begun == ["a1", "b1", "b2", "a2"]
    assert (ended[0], ended[-1], len(ended)) == ("b1", "a2", 4)


@pytest.mark.slow
def test_a_stopped_evening_loses_nothing(league: League, monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that goes on is told so at its next sign of life; the file is taken again."""
    ended: list[bool] = []

    def wait(_order: Order, working: Any, **__: object) -> Iterator[Item]:
        begun.set()
        try:
            while True:
                working("imports")
        finally:
            ended.append(True)
        yield Item("time", "ok", "fast")

    begun = threading.Event()

    def interrupt(running: Any, **_: object) -> None:
        until(lambda: begun.is_set() or any(job.done() for job in running))
        if begun.is_set():
            raise KeyboardInterrupt

    monkeypatch.setattr(submission, "run_check", wait)
    monkeypatch.setattr("arena.addons.league.inbox.wait", interrupt)
    write_bot(league.folder / "inbox", "ann")
    with pytest.raises(KeyboardInterrupt):
        [*take_all(league, lambda _: None, 0.0)]
    assert ended == [True]
    assert [path.name for path in (league.folder / "taken").iterdir()] == ["ann.py"]
    monkeypatch.undo()
    monkeypatch.setattr(submission, "run_check", accept)
    assert [*take_all(league, lambda _: None, 0.0)] == ["ann"]


@pytest.mark.slow
def test_once_takes_all_and_plays_a_round(league: League, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole inbox, also if this takes long; a submission that cannot be taken is left to do."""
    monkeypatch.setattr("arena.addons.league.inbox.LONGEST", -1.0)
    monkeypatch.setattr("arena.addons.league.inbox._is_settled", lambda *_: True)
    write_bot(league.folder / "inbox", "ann", 1)
    (league.folder / "inbox" / "bad.py").symlink_to("/etc/passwd")
    found = hosted(league, rounds=1)
    assert found.lines == ["1 accepted, 1 refused, 0 left; 1 round, 40 games"]
    write_bot(league.folder / "taken", "cid", 1)
    (league.folder / "inbox" / "bad name.py").write_text("x")
    monkeypatch.setattr(submission.Desk, "submit", fail)
    assert hosted(league, rounds=1).waiting == [
        "waits: cid.py: not yet taken",
        "waits: bad name.py: not yet taken",
    ]


def fail(*_: object, **__: object) -> None:
    """Stand in for a submission with a full disk."""
    raise ArenaError("no room")


def test_the_command_ends_by_itself_with_times_and_a_summary(tmp_path: Path, arena: Arena) -> None:
    """Every line has its time; the status is 0, and 1 if something waits or nobody can play."""
    make_league(tmp_path / "club", settings(round_pairs=20))
    done = arena("league", "host", "club", "--workers", "1", "--once")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert all(LINE.fullmatch(line) for line in lines)
    assert re.search(r"Z 0 accepted, 0 refused, 0 left; 1 round, ", lines[-1])
    make_league(tmp_path / "one", settings(panel=["uniform"]))
    (tmp_path / "one" / "inbox").mkdir()
    write_bot(tmp_path / "one" / "inbox", "ann")
    assert arena("league", "freeze", "one").returncode == 0
    done = arena("league", "host", "one", "--once", "--workers", "1")
    assert done.returncode == 1
    assert "waits: ann.py: the league is frozen: submissions counted until" in done.stdout
    assert "no round was played: nobody has an opponent" in done.stdout


@pytest.mark.slow
def test_the_line_for_cron_is_run_as_printed(tmp_path: Path) -> None:
    """By the shell of cron, in a home with an environment; it adds to the log, and has a time."""
    (text,) = (one for one in blocks(PAGE, "text") if "* * *" in one)
    line = text.strip()
    *times, command = line.split(maxsplit=5)
    assert len(times) == 5
    assert all(re.fullmatch(r"[\d*,/-]+", one) for one in times)
    assert "%" not in command  # which cron reads as a line break
    bin = tmp_path / ".venv" / "bin"
    bin.mkdir(parents=True)
    program = bin / "arena"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m arena "$@"\n')
    program.chmod(0o755)
    make_league(tmp_path / "club", settings(round_pairs=20))
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
    for _ in range(2):
        subprocess.run(["/bin/sh", "-c", command], env=environment, cwd="/", check=True)
    log = (tmp_path / "club.log").read_text().splitlines()
    assert sum("1 round, 40 games" in line for line in log) == 2
    assert all(LINE.fullmatch(line) for line in log)


def test_the_unit_for_systemd_runs_a_command_of_the_arena(tmp_path: Path) -> None:
    """It is valid by systemd itself, where it is installed."""
    (text,) = blocks(PAGE, "ini")
    unit = configparser.ConfigParser()
    unit.read_string(text)
    assert unit.sections() == ["Unit", "Service", "Install"]
    program, name, *words = unit["Service"]["ExecStart"].split()
    assert (program.endswith("/.venv/bin/arena"), name) == (True, "league")
    assert unit["Service"]["SuccessExitStatus"] == "143"  # after SIGTERM
    group.commands[words[0]].make_context(words[0], words[1:])
    if systemd := shutil.which("systemd-analyze"):
        path = tmp_path / "league.service"
        path.write_text(text.replace(program, "/bin/true"))
        done = subprocess.run([systemd, "verify", str(path)], capture_output=True, text=True)
        told = [line for line in done.stderr.splitlines() if path.name in line]
        assert (done.returncode, told) == (0, [])


@pytest.mark.slow
def test_a_frozen_league_takes_nothing_and_plays_its_final(league: League, tmp_path: Path) -> None:
    """With equal games and deals of its own; what lies in the inbox stays; each final is a run."""
    ann = league.desk.submit(str(write_bot(tmp_path, "ann", 1)), "ann")
    write_bot(league.folder / "inbox", "bob", 2)
    with pytest.raises(InputError, match="it is not frozen; `arena league freeze "):
        make_final(league, 2)
    freeze(league)
    why = "frozen: submissions counted until 2026-11-24 12:00:00 UTC"
    with pytest.raises(NotNow, match=why):
        league.desk.submit(str(write_bot(tmp_path, "cid", 3)), "cid")
    assert [*take_all(league, lambda _: None, 0.0)] == []
    assert not league.ledger.refusals()
    with pytest.raises(InputError, match="it is frozen since 2026-11-24 12:00:00 UTC"):
        freeze(league)
    assert hosted(league, rounds=1).rounds == 1
    (league.folder / ann.spec).unlink()
    with pytest.raises(InputError, match=r"^ann: .*; `arena league withdraw .* ann` leaves it out"):
        make_final(league, 2)
    league.withdraw("ann")
    tournament, folder = make_final(league, 2)
    assert tournament.seed != league.settings.seed
    how = Playing(Venue(workers=1), shown=QUIET)
    outcome, report = play_final(league, 2, how)
    assert (outcome.played, report.parent, report.is_file()) == (12, folder, True)
    assert {row["games"] for row in csv_rows(folder / "standings.csv")} == {"8"}
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    again, _ = play_final(league, 2, how)
    assert (again.played, again.kept) == (0, 12)
    freeze(league, undo=True)
    with pytest.raises(InputError, match="it is not frozen"):
        freeze(league, undo=True)
    assert [*take_all(league, lambda _: None, 0.0)] == ["bob"]
    league.desk.now = lambda: datetime(2026, 11, 25, 12, tzinfo=UTC)
    freeze(league)
    other, elsewhere = make_final(league, 2)
    assert other.seed != tournament.seed
    assert elsewhere != folder


@pytest.mark.slow
def test_refusals_are_told(league: League, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In words of the arena: neither what the bot has said nor whose program it is."""

    def refuse(order: Order, *_: object, **__: object) -> Iterator[Item]:
        path = Path(order.spec.partition("=")[2])
        yield Item("imports", "fail", f"secret, line 1 of {path.name}, line 2 of {path}", "import")
        yield Item("time", "fail", "secret", "my <i>own</i> kind")

    bot = str(write_bot(tmp_path, "ann", 1))
    league.desk.submit(bot, "ann", "Ann")
    with pytest.raises(Refused, match="the same as ann 1 of Ann"):
        league.desk.submit(bot, "bob", "Bob")
    with pytest.raises(Refused, match="it is Ann's"):
        league.desk.submit(bot, "ann", "Bob")
    monkeypatch.setattr(submission, "run_check", refuse)
    why = "the check failed: imports: secret, line 1 of ann.py, line 2 of ann.py; time: secret;"
    with pytest.raises(Refused, match=f"^{why}"):  # and not the league's, which is a hash
        league.desk.submit(str(write_bot(tmp_path, "ann", 2)), "ann", "Ann")
    assert history(league, "ann")["refusals"][-1]["why"].endswith(
        "time: secret; `arena check` of the file finds this at home, too"
    )
    league.desk.now = lambda: datetime(2026, 11, 24, 13, tzinfo=UTC)
    with pytest.raises(Refused):
        league.desk.submit(str(write_bot(tmp_path, "ann", 3)), "ann", "Ann")
    hosted(league, rounds=1)
    write_site(league)
    site = league.folder / "site"
    assert "Refused since yesterday" in (page := (site / "index.html").read_text())
    for words in (
        "the check failed: imports (import); time",
        "its name belongs to somebody else, or looks like another one",
        "its program is in the league already",
    ):
        assert words in page
    for path in site.rglob("*.*"):
        assert "secret" not in path.read_text()
        assert "own</i>" not in path.read_text()


@pytest.mark.slow
def test_a_resting_league_awaits_newcomers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While every rating is within the target."""
    monkeypatch.setattr(submission, "run_check", accept)
    monkeypatch.setattr("arena.addons.league.hosting._PAUSE", 0.0)
    told: list[str] = []
    with a_league(tmp_path / "club", round_pairs=30, target=1000) as league, league.playing():
        host(league, LocalExecutor(1), told.append, rests=True, rounds=3)
        assert told == ["round 1: 60 games"]
        league.desk.submit("greedy(patience=11)", "patient")
        host(league, LocalExecutor(1), told.append, rests=True, rounds=2)
        assert told[1:] == ["round 2: 60 games"]
