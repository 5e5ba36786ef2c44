"""The inbox takes what is finished, refuses what is no bot, lets wait what finds no room."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from arena.addons.league import hosting, inbox, submission
from arena.addons.league.hosting import host
from arena.addons.league.inbox import take_all
from arena.addons.league.league import League
from arena.addons.league.league_site import write_site
from arena.addons.league.submission import Refused
from arena.check.sparring import CutShort
from arena.errors import ArenaError, Exhausted
from arena.executors.local import Crew, LocalExecutor
from tests import ROOT
from tests.addons.league.small import NOON, an_unchecked_league, take, write_bot
from tests.runs.test_rogues import needs_jail


@pytest.fixture
def league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[League]:
    """Yield a league whose check finds nothing, with an inbox."""
    with an_unchecked_league(tmp_path / "club", monkeypatch, a_day=4, most_megabytes=1) as made:
        yield made


def drop(league: League, name: str = "mine", number: int = 0) -> Path:
    """Put a bot into the inbox."""
    return write_bot(league.folder / "inbox", name, number)


def waiting(league: League) -> list[str]:
    """Return what still lies in the inbox, or was taken and not submitted."""
    folders = (league.folder / "inbox", league.folder / "taken")
    return sorted(path.name for folder in folders if folder.exists() for path in folder.iterdir())


@pytest.mark.slow
def test_what_is_handed_in_counts_once_by_its_name(league: League) -> None:
    """And is removed: a file, a folder, what is copied whole again, and what a kill has left."""
    drop(league, "mine")
    folder = league.folder / "inbox" / "yours"
    folder.mkdir()
    write_bot(folder, "bot", 7)
    assert sorted(take(league)) == ["accepted: mine 1, by mine", "accepted: yours 1, by yours"]
    path, taken = drop(league), league.folder / "taken"
    assert take(league) == ["left out: mine: the same as mine 1 of mine"]
    write_bot(taken)  # killed before it was removed
    assert take(league) == ["left out: mine: the same as mine 1 of mine"]
    assert (league.ledger.refusals(), waiting(league)) == ([], [])
    drop(league).rename(path.with_name("other.py"))
    assert take(league) == ["refused: other: the same as mine 1 of mine"]
    assert [refusal.name for refusal in league.ledger.refusals()] == ["other"]
    os.rename(drop(league, "mine", 1), taken / "mine.py")  # killed before it was submitted
    assert take(league) == ["accepted: mine 2, by mine"]
    assert (len(league.find("mine")), waiting(league)) == (2, [])


@pytest.mark.slow
def test_what_is_still_being_written_stays(league: League) -> None:
    """A file that has just changed, one with the name of an upload, and one that is hidden."""
    path = drop(league)
    for name in ("a.py.part", ".b.py", "c.py~"):
        (league.folder / "inbox" / name).write_text("half of")
    assert take(league, settled=100.0) == []
    assert "mine.py" in waiting(league)
    os.utime(path, (path.stat().st_mtime - 1000,) * 2)
    assert take(league, settled=100.0) == ["accepted: mine 1, by mine"]
    assert waiting(league) == [".b.py", "a.py.part", "c.py~"]


def test_what_is_no_bot_is_refused_and_removed(league: League) -> None:
    """Nothing is waited for, and nothing is read that was not given; each reason is kept."""
    place = league.folder / "inbox"
    secret = league.folder.parent / "secret.py"
    secret.write_text("secret")
    (place / "link.py").symlink_to(secret)
    (place / "linked").symlink_to(league.folder.parent)
    os.mkfifo(place / "pipe.py")
    (place / "notes.txt").write_text("hello")
    for name in ("empty", "within"):
        (place / name).mkdir()
    write_bot(place / "within", "bot")
    (place / "within" / "passwords").symlink_to("/etc/passwd")
    (place / "a b\x1b[2J.py").write_text("x = 1\n")
    (place / os.fsdecode(b"\xff\xfe.py")).write_text("x = 1\n")
    (place / ("x" * 200 + ".py")).write_text("x = 1\n")
    (place / "large.py").write_bytes(b"#" * ((1 << 20) + 1))
    told = take(league)
    assert len(told) == 10
    assert all(line.startswith("refused: ") and line.isprintable() for line in told)
    assert waiting(league) == []
    assert secret.read_text() == "secret"
    assert not [*(league.folder / "bots").iterdir()]
    whys = [refusal.why for refusal in league.ledger.refusals()]
    for why in (
        "link.py: a link; submit what it leads to",
        "linked: a link; submit what it leads to",
        "not a regular file",
        "a bot is a .py file, a folder",
        "passwords: a link",
        "larger than 1,048,576 bytes",
    ):
        assert sum(why in one for one in whys) == 1, why
    json.dumps([*map(list, league.ledger.refusals())]).encode()


def test_what_is_over_the_days_limit_waits(league: League, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand submissions of one name cost three checks a day, and none is lost.

    Whoever fills the inbox with wrong names writes neither the news nor the disk full.
    """
    for number in range(4):
        drop(league, "mine", number)
        assert len(take(league)) == 1
    drop(league, "mine", 4)
    for _ in range(3):
        assert take(league) == []
    assert waiting(league) == ["mine.py"]
    monkeypatch.setattr(league.desk, "now", lambda: NOON + timedelta(days=1))
    assert take(league) == ["accepted: mine 5, by mine"]
    for number in range(9):
        (league.folder / "inbox" / f"{number} BUY THIS.py").write_text("x = 1")
    assert len(take(league)) == 4
    assert (len(waiting(league)), len(league.ledger.refusals())) == (5, 4)
    assert "BUY" not in write_site(league).read_text()


@pytest.mark.slow
def test_a_folder_of_any_depth_stops_nobody(league: League) -> None:
    """It is deeper than paths and Python's calls go; it is refused, and removed."""
    place = league.folder / "inbox"
    (place / "deep").mkdir()
    below = os.open(place / "deep", os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=below)
        inner = os.open("d", os.O_RDONLY, dir_fd=below)
        os.close(below)
        below = inner
    os.close(below)
    drop(league)
    told = sorted([*take(league), *take(league)])  # on a busy machine the first is over a minute
    assert told[0] == "accepted: mine 1, by mine"
    assert told[1].startswith("refused: deep: ")
    assert waiting(league) == []


@pytest.mark.slow
def test_the_next_of_a_name_waits(league: League, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was taken and found no room on the disk is not replaced."""
    accepted = submission.Desk.submit

    def fail(*_: object, **__: object) -> None:
        raise ArenaError("no room")

    monkeypatch.setattr(submission.Desk, "submit", fail)
    drop(league, "mine", 1)
    assert take(league) == ["not yet taken: mine: no room"]
    drop(league, "mine", 2)
    assert take(league) == ["not yet taken: mine: no room"]
    assert waiting(league) == ["mine.py", "mine.py"]
    monkeypatch.setattr(submission.Desk, "submit", accepted)
    assert take(league) == ["accepted: mine 1, by mine", "accepted: mine 2, by mine"]


EAGAIN = "Resource temporarily unavailable"


@pytest.fixture
def three(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[League]:
    """Yield a league with three bots in its inbox, whose check finds nothing."""
    monkeypatch.setattr(inbox.take_all, "__defaults__", (0.0,))
    monkeypatch.setattr(hosting, "_PAUSE", 0.0)
    with an_unchecked_league(tmp_path / "club", monkeypatch) as made:
        for number in range(3):
            drop(made, f"b{number}", number)
        yield made


def raising(error: Exception) -> Callable[..., Any]:
    """Return a function that raises an error."""

    def fail(*_: object, **__: object) -> Any:
        raise error

    return fail


WHERE: dict[str, tuple[object, str, Callable[..., Any]]] = {
    "check": (submission, "run_check", raising(Exhausted(f"the check: {EAGAIN}"))),
    "copy": (submission, "take", raising(OSError(24, "Too many open files"))),
    "jail": (submission, "require_jail", raising(Exhausted(f"lane jail: {EAGAIN}"))),
}


@pytest.mark.parametrize("where", WHERE)
def test_without_room_it_waits(three: League, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """For three submissions and two passes; when there is room again, all are accepted."""
    if where == "jail":
        three.desk.settings = replace(three.settings, lane="jail")
    told: list[str] = []
    tell = hosting._once(told.append)
    with monkeypatch.context() as lacking:
        lacking.setattr(*WHERE[where])
        for _ in range(2):
            assert sorted(take_all(three, tell, checks=2)) == ["b0", "b1", "b2"]
    assert len(told) == 1
    assert told[0].startswith("not yet taken: ")
    assert not three.ledger.refusals()
    if where == "jail":
        monkeypatch.setattr(submission, "require_jail", lambda: None)
    assert sorted(take_all(three, tell, checks=2)) == ["b0", "b1", "b2"]
    assert sorted(told[1:]) == [f"accepted: b{number} 1, by b{number}" for number in range(3)]


def test_a_check_that_is_too_long_refuses(three: League, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its owner gives no --games; a full disk is not recorded as a refusal."""
    error: ArenaError = CutShort("cut short at 'imports': the bot used 60 s of processor time")
    path = str(three.folder / "inbox" / "b0.py")
    monkeypatch.setattr(submission, "run_check", raising(error))
    with pytest.raises(Refused, match=r"^cut short at 'imports': the bot used 60 s of processor"):
        three.desk.submit(path, "slow")
    (refusal,) = three.ledger.refusals()
    assert "--games" not in refusal.why
    assert refusal.public == "its check took too long"
    monkeypatch.setattr(submission, "run_check", raising(ArenaError("temporary folder: full")))
    with pytest.raises(ArenaError, match="full"):
        three.desk.submit(path, "other")
    assert len(three.ledger.refusals()) == 1


def test_a_round_without_room_is_one_line(three: League, monkeypatch: pytest.MonkeyPatch) -> None:
    """No bot forfeits in it, nothing is lost, and the league goes on being served."""
    told: list[str] = []
    with monkeypatch.context() as lacking, three.playing():
        no_thread = raising(RuntimeError("can't start new thread"))
        lacking.setattr(threading.Thread, "start", no_thread)
        host(three, LocalExecutor(1), told.append, rounds=2)
    assert len(told) == 1
    assert told[0].startswith("no round was played: no check can begin: ")
    monkeypatch.setattr(League, "play_round", raising(Exhausted(EAGAIN)))
    with three.playing():
        hosted = host(three, LocalExecutor(1), told.append, rounds=3)
    assert [line for line in told[1:] if "accepted" not in line] == [
        f"no round was played: {EAGAIN}"
    ]
    assert (hosted.accepted, hosted.waiting) == (3, [])
    index = three.folder / "site" / "index.html"
    index.unlink()  # as a kill may have left it
    asked: list[Any] = []
    monkeypatch.setattr(hosting, "take_all", lambda *_, **how: asked.append(how) or [])
    with three.playing():
        host(three, LocalExecutor(1), told.append, rounds=1)
    assert (index.is_file(), asked) == (True, [{"checks": 1, "whole": True}])


def test_a_worker_that_the_machine_refused_a_process_ends_the_run() -> None:
    """Its games are not played apart until a bot is blamed."""
    why = f"no process of a bot can be started: {EAGAIN}"
    crew: Any = Crew.__new__(Crew)
    crew.members = {0: SimpleNamespace(words=f"Exhausted: {why}", bury=lambda: "ended")}
    with pytest.raises(Exhausted, match=f"^{why}$"):
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
