"""A served league goes on after kills as if it had not been killed."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from arena.addons.league import submission
from arena.addons.league.inbox import INBOX, TAKEN, serve
from arena.addons.league.league import League, make_league
from arena.addons.league.league_tables import Version
from arena.executors.local import LocalExecutor
from tests.addons.league.small import BOT, a_league, accept, settings, write_bot
from tests.addons.league.test_league import games, tables
from tests.conftest import run_here
from tests.waiting import until

SERVER = """
import sys, time
from pathlib import Path
from arena.executors.local import LocalExecutor
from arena.addons.league import inbox, submission
from arena.addons.league.league import League
from arena.addons.league.inbox import serve
from tests.addons.league.small import accept

submission.run_check = accept
inbox._SETTLED = 0.0
inbox.take_all.__defaults__ = (0.0,)
league = League(Path(sys.argv[1]))
number = int(sys.argv[2])
with league.playing():
    print("begun", flush=True)
    while league.number < number:
        serve(league, LocalExecutor(1), lambda line: None, rounds=1)
print("done", flush=True)
"""


@pytest.mark.slow
def test_it_takes_plays_and_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A submission plays in the round after it, and has a page after that."""
    monkeypatch.setattr(submission, "run_check", accept)
    monkeypatch.setattr("arena.addons.league.inbox.take_all.__defaults__", (0.0,))
    told: list[str] = []
    with a_league(tmp_path / "club", round_pairs=30) as league, league.playing():
        (league.folder / "inbox").mkdir()
        write_bot(league.folder / "inbox")
        serve(league, LocalExecutor(1), told.append, rounds=2)
        assert told == ["accepted: mine 1, by mine", "round 1: 60 games", "round 2: 60 games"]
        site = league.folder / "site"
        assert (site / "bots" / "mine.html").is_file()
        assert "after round 2" in (site / "index.html").read_text()


@pytest.mark.slow
def test_a_league_that_rests_plays_only_for_newcomers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While every rating is within the target."""
    monkeypatch.setattr("arena.addons.league.inbox._PAUSE", 0.0)
    told: list[str] = []
    with a_league(tmp_path / "club", round_pairs=30, target=1000) as league, league.playing():
        serve(league, LocalExecutor(1), told.append, rests=True, rounds=3)
        assert told == ["round 1: 60 games"]
        league.desk.submit("greedy(patience=11)", "patient")
        serve(league, LocalExecutor(1), told.append, rests=True, rounds=2)
        assert told[1:] == ["round 2: 60 games"]


def run_killed(folder: Path, kills: int, rounds: int, seed: int) -> None:
    """Serve a league to a round, with so many kills at random moments while bots arrive."""
    rng = random.Random(seed)
    words = [sys.executable, "-c", SERVER, str(folder)]
    for number in range(1, rounds + 1):
        arrive(folder, number)
        done = False
        for _ in range(kills):
            with subprocess.Popen([*words, str(number)], stdout=subprocess.PIPE) as process:
                assert process.stdout is not None
                assert process.stdout.readline() == b"begun\n"
                try:
                    process.wait(rng.uniform(0.0, 0.8))
                    done = True
                except subprocess.TimeoutExpired:
                    process.kill()
            if done:
                break
        subprocess.run([*words, str(number)], check=True, capture_output=True)


def arrive(folder: Path, number: int) -> None:
    """Put the submissions of a round into the inbox: a new bot, a new version, the same again."""
    inbox = folder / "inbox"
    inbox.mkdir(exist_ok=True)
    write_bot(inbox, f"bot{number}", 100 + number)
    write_bot(inbox, "often", number)
    if number > 1:
        write_bot(inbox, "again", 101)


def state(folder: Path) -> tuple[Any, ...]:
    """Return all that a league knows and every game that it played."""
    with closing(League(folder)) as league:
        refusals = [(one.name, one.why) for one in league.ledger.refusals()]
        return tables(league), games(league), sorted(refusals)


@pytest.mark.study
@pytest.mark.parametrize(("kills", "rounds"), [(2, 2), (10, 10)])  # the second: three minutes
def test_kills_change_nothing(tmp_path: Path, kills: int, rounds: int) -> None:
    """No submission and no game is lost or counted twice, and the tables are the same."""
    for name, of_round in (("whole", 0), ("killed", kills)):
        make_league(tmp_path / name, settings(panel=["uniform", "greedy"], round_pairs=300))
        run_killed(tmp_path / name, of_round, rounds, seed=5)
    whole, killed = (state(tmp_path / name) for name in ("whole", "killed"))
    assert len(whole[0]["versions"]) == 2 + 2 * rounds
    assert killed == whole
    assert not [*(tmp_path / "killed" / "taken").iterdir()]


_KINDS = ("new", "new", "version", "same", "bad", "folder")
_LONGEST = 7.0  # seconds until a kill: a check takes some of them


class Students:
    """They put bots into the inbox at random moments: new ones, versions, copies, and bad ones."""

    def __init__(self, inbox: Path, seed: int) -> None:
        self.inbox = inbox
        self.random = random.Random(seed)
        self.sent: list[str] = []

    def hand_in(self) -> None:
        """Put the next bot there, unless the one before of its name is waiting still."""
        number = len(self.sent)
        kind = self.random.choice(_KINDS)
        name = "often" if kind == "version" else f"{kind}{number}"
        if (self.inbox / f"{name}.py").exists():
            return
        text = BOT.replace("{number}", str(0 if kind == "same" else number))
        if kind == "bad":
            text = f"raise ValueError({number})\n"
        part = self.inbox / f".{name}.part"
        if kind == "folder":
            part.mkdir()
            (part / "bot.py").write_text(text)
            part.rename(self.inbox / name)
        else:
            part.write_text(text)
            part.rename(self.inbox / f"{name}.py")
        self.sent.append(name)


@contextmanager
def handing_in(students: Students) -> Iterator[None]:
    """Let students hand in until the end of the block."""
    over = threading.Event()

    def work() -> None:
        while not over.wait(students.random.uniform(1, 6)):
            students.hand_in()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextmanager
def served(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Serve a league with the real command, and kill it at the end."""
    words = [sys.executable, "-m", "arena", "league", "serve", str(folder), "--workers", "1"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


def serve_killed(folder: Path, kills: int, seed: int) -> list[str]:
    """Serve a league with so many kills while bots arrive; return the names that were sent."""
    students = Students(folder / INBOX, seed)
    rng = random.Random(seed)
    with handing_in(students):
        for _ in range(kills):
            with served(folder) as process, pytest.raises(subprocess.TimeoutExpired):
                process.wait(rng.uniform(0.1, _LONGEST))
    with served(folder):
        until(lambda: not any(_waiting(folder)))
        with closing(League(folder)) as league:
            last = league.number + 2
            until(lambda: league.number >= last)
    return students.sent


def _waiting(folder: Path) -> Iterator[Path]:
    for name in (INBOX, TAKEN):
        yield from (folder / name).iterdir()


def repeat(killed: League, folder: Path) -> None:
    """Give another league the same submissions before the same rounds."""
    left = [version for version in killed.ledger.versions() if not version.panel]
    for number in range(1, killed.number + 1):
        newest = max(killed.ledger.plan(number).versions.values())
        now = [version for version in left if version.id <= newest]
        submit(killed, folder, now)
        left = left[len(now) :]
        run_here(folder, "league", "play", ".", "--quiet", "--workers", "1")
    submit(killed, folder, left)


def submit(killed: League, folder: Path, versions: Sequence[Version]) -> None:
    """Submit what another league has kept."""
    for version in versions:
        path = folder.parent / f"{version.name}.py"
        shutil.copy(killed.folder / version.spec, path)
        words = ("--name", version.name, "--by", version.owner)
        done = run_here(folder, "league", "submit", ".", str(path), *words)
        assert done.returncode == 0, done.stderr


@pytest.mark.study
def test_a_hundred_kills_change_nothing(tmp_path: Path) -> None:
    """Each submission counts once, and the tables and games are those of a league in peace."""
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    for folder in (killed, whole):
        make_league(folder, settings(round_pairs=100, a_day=1000))
    (killed / INBOX).mkdir()
    sent = serve_killed(killed, 100, seed=7)
    run_here(killed, "league", "play", ".", "--quiet")  # the round that was killed last goes on
    with closing(League(killed)) as one, closing(League(whole)) as two:
        kept = [version.name for version in one.ledger.versions() if not version.panel]
        kept += [refusal.name for refusal in one.ledger.refusals()]
        assert sorted(kept) == sorted(sent)
        repeat(one, whole)
        assert tables(one) == tables(two)
        assert games(one) == games(two)
