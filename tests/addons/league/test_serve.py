"""A served league goes on after kills as if it had not been killed."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from arena.addons.league import submission
from arena.addons.league.evening import host
from arena.addons.league.league import League, make_league
from arena.addons.league.league_tables import Version
from arena.executors.local import LocalExecutor
from tests.addons.league.small import a_league, accept, settings, write_bot
from tests.addons.league.test_league import games, tables
from tests.conftest import run_here

SERVER = """
import sys, time
from pathlib import Path
from arena.executors.local import LocalExecutor
from arena.addons.league import inbox, submission
from arena.addons.league.league import League
from arena.addons.league.evening import host
from tests.addons.league.small import accept

submission.run_check = accept
inbox._SETTLED = 0.0
inbox.take_all.__defaults__ = (0.0,)
league = League(Path(sys.argv[1]))
number = int(sys.argv[2])
with league.playing():
    print("begun", flush=True)
    while league.number < number:
        host(league, LocalExecutor(1), lambda line: None, rounds=1)
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
        host(league, LocalExecutor(1), told.append, rounds=2)
        assert told == ["accepted: mine 1, by mine", "round 1: 60 games", "round 2: 60 games"]
        site = league.folder / "site"
        assert (site / "bots" / "mine.html").is_file()
        assert "after round 2" in (site / "index.html").read_text()


@pytest.mark.slow
def test_a_league_that_rests_plays_only_for_newcomers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While every rating is within the target."""
    monkeypatch.setattr("arena.addons.league.evening._PAUSE", 0.0)
    told: list[str] = []
    with a_league(tmp_path / "club", round_pairs=30, target=1000) as league, league.playing():
        host(league, LocalExecutor(1), told.append, rests=True, rounds=3)
        assert told == ["round 1: 60 games"]
        league.desk.submit("greedy(patience=11)", "patient")
        host(league, LocalExecutor(1), told.append, rests=True, rounds=2)
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


@contextmanager
def served(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Serve a league with the real command, and kill it at the end."""
    words = [
        sys.executable,
        "-m",
        "arena",
        "league",
        "host",
        str(folder),
        "--port",
        "0",
        "--workers",
        "1",
    ]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


def submit(killed: League, folder: Path, versions: Sequence[Version]) -> None:
    """Submit what another league has kept."""
    for version in versions:
        path = folder.parent / f"{version.name}.py"
        shutil.copy(killed.folder / version.spec, path)
        words = ("--name", version.name, "--by", version.owner)
        done = run_here(folder, "league", "submit", ".", str(path), *words)
        assert done.returncode == 0, done.stderr
