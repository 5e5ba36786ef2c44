"""A submission that the machine refuses waits, and its bot's history says nothing of it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from arena.addons.league import evening, inbox, submission
from arena.addons.league.evening import host
from arena.addons.league.inbox import take_all
from arena.addons.league.league import League
from arena.addons.league.submission import Refused
from arena.check.sparring import CutShort
from arena.errors import ArenaError, Exhausted
from arena.executors.local import Crew, LocalExecutor
from tests import ROOT
from tests.addons.league.small import a_league, accept, write_bot
from tests.runs.test_rogues import needs_jail

EAGAIN = "Resource temporarily unavailable"


@pytest.fixture
def league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[League]:
    """Yield a league with three bots in its inbox, whose check finds nothing."""
    monkeypatch.setattr(submission, "run_check", accept)
    monkeypatch.setattr(inbox.take_all, "__defaults__", (0.0,))
    monkeypatch.setattr(evening, "_PAUSE", 0.0)
    with a_league(tmp_path / "club") as made:
        (made.folder / "inbox").mkdir()
        for number in range(3):
            write_bot(made.folder / "inbox", f"b{number}", number)
        yield made


def raising(error: Exception) -> Callable[..., Any]:
    """Return a function that raises an error."""

    def fail(*_: object, **__: object) -> Any:
        raise error

    return fail


def no_thread(_: object) -> None:
    raise RuntimeError("can't start new thread")


WHERE: dict[str, tuple[object, str, Callable[..., Any]]] = {
    "check": (submission, "run_check", raising(Exhausted(f"the check: {EAGAIN}"))),
    "copy": (submission, "take", raising(OSError(24, "Too many open files"))),
    "thread": (threading.Thread, "start", no_thread),
    "jail": (submission, "require_jail", raising(Exhausted(f"lane jail: {EAGAIN}"))),
}


@pytest.mark.parametrize("where", WHERE)
def test_what_the_machine_refuses_waits_and_is_one_line(
    league: League, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """For three submissions and two passes; when there is room again, all are accepted."""
    if where == "jail":
        league.desk.settings = replace(league.settings, lane="jail")
    told: list[str] = []
    tell = evening._once(told.append)
    with monkeypatch.context() as lacking:
        lacking.setattr(*WHERE[where])
        for _ in range(2):
            assert sorted(take_all(league, tell, checks=2)) == ["b0", "b1", "b2"]
    assert len(told) == 1
    assert told[0].startswith("not yet taken: ")
    assert not league.ledger.refusals()
    if where == "jail":
        monkeypatch.setattr(submission, "require_jail", lambda: None)
    assert sorted(take_all(league, tell, checks=2)) == ["b0", "b1", "b2"]
    assert sorted(told[1:]) == [f"accepted: b{number} 1, by b{number}" for number in range(3)]


def test_a_bot_that_takes_too_long_is_refused_in_the_leagues_own_words(
    league: League, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its owner gives no --games; a full disk is not recorded as a refusal."""
    error: ArenaError = CutShort("cut short at 'imports': the bot used 60 s of processor time")
    path = str(league.folder / "inbox" / "b0.py")
    monkeypatch.setattr(submission, "run_check", raising(error))
    with pytest.raises(Refused, match=r"^cut short at 'imports': the bot used 60 s of processor"):
        league.desk.submit(path, "slow")
    (refusal,) = league.ledger.refusals()
    assert "--games" not in refusal.why
    assert refusal.public == "its check took too long"
    monkeypatch.setattr(submission, "run_check", raising(ArenaError("temporary folder: full")))
    with pytest.raises(ArenaError, match="full"):
        league.desk.submit(path, "other")
    assert len(league.ledger.refusals()) == 1


def test_a_round_that_the_machine_refuses_is_one_line(
    league: League, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No bot forfeits in it, and the league goes on being served."""
    monkeypatch.setattr(League, "play_round", raising(Exhausted(EAGAIN)))
    monkeypatch.setattr(evening, "take_all", lambda *_, **__: iter(()))
    told: list[str] = []
    with league.playing():
        host(league, LocalExecutor(1), told.append, rounds=3)
    assert told == [f"no round was played: {EAGAIN}"]


def test_a_worker_that_the_machine_refused_a_process_ends_the_run() -> None:
    """Its games are not played apart until a bot is blamed."""

    class Buried:
        """A worker that has ended with these words."""

        words = f"Exhausted: no process of a bot can be started: {EAGAIN}"

        def bury(self) -> str:
            return "ended with exit status 1"

    crew: Any = Crew.__new__(Crew)
    crew.members = {0: Buried()}
    with pytest.raises(Exhausted, match=f"^no process of a bot can be started: {EAGAIN}$"):
        crew._replace(0, "")


SERVING = """
import contextlib, sys
from pathlib import Path
import psutil
from arena.addons.league import submission
from arena.addons.league.inbox import take_all
from arena.check.inspector import Inspection
from arena.check.item import Item
from arena.processes import adopt_orphans
from tests.addons.league.small import a_league, write_bot

Inspection._repeat = Inspection._rate = lambda self, name: Item(name, "ok", "")

def zombies():
    found = 0
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):
            found += child.status() == psutil.STATUS_ZOMBIE
    return found

adopt_orphans()
most, told = 0, []
with a_league(Path(sys.argv[1]), lane="jail", panel=["uniform", "greedy"]) as league:
    (league.folder / "inbox").mkdir()
    for number in range(int(sys.argv[2])):
        write_bot(league.folder / "inbox", f"b{number}", number)
    for _ in take_all(league, told.append, 0.0, checks=8, whole=True):
        most = max(most, zombies())
print(sum(line.startswith("accepted") for line in told), most < 16, zombies())
"""


@needs_jail
@pytest.mark.slow
def test_checks_at_a_time_leave_no_ended_process(tmp_path: Path) -> None:
    """Each has the jails of three starts, and they overlap all the time."""
    words = [sys.executable, "-c", SERVING, str(tmp_path / "club"), "12"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "12 True 0\n"
