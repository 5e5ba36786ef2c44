"""A hundred kills of `arena league serve` while bots arrive lose nothing and change nothing."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from arena.addons.league.inbox import INBOX, TAKEN
from arena.addons.league.league import League, make_league
from arena.addons.league.league_tables import Version
from tests.addons.league.small import BOT, settings
from tests.addons.league.test_league import games, tables
from tests.conftest import run_here
from tests.waiting import until

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
