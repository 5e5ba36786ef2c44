"""A run that is extended step by step has the bytes of one that had all bots from the start."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

import arena as library
from arena.entries.resolve import resolve
from arena.errors import ChangedBots
from arena.executors.local import LocalExecutor
from arena.runs.saving import open_store
from arena.store.folder import RunFolder
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Played
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests import rogues
from tests.conftest import Arena, Done, Once, run_here
from tests.runs import test_resume
from tests.runs.test_resume import games_in, has_kept_more, started
from tests.stores import forge
from tests.waiting import PATIENCE


def won() -> list[GameResult]:
    """Return both games of the first pair, which the pairing's first bot has won."""
    return [GameResult(0, seat, 0, "points", 1, 0, 2, None, "55") for seat in (0, 1)]


BOTS: list[Any] = [
    "uniform",
    "greedy",
    {"bot": rogues.spec("raises_boom"), "label": "m"},
    "city_hunter",
    "a=uniform",
    "z=greedy",
    "majority",
    "denier",
    "b=greedy(patience=2.0)",
    "k=majority",
]
"""The last ones have labels between those of the first, and one is out after three faults."""


def write_config(folder: Path, bots: Sequence[Any], **changes: Any) -> None:
    """Write cup.yaml with these bots."""
    config = {"pairs": 3, "seed": 3, "max_faults": 3, "bots": list(bots)} | changes
    (folder / "cup.yaml").write_text(json.dumps(config))


def content(folder: Path) -> list[list[tuple[Any, ...]]]:
    """Return all rows of all tables of a store."""
    with closing(sqlite3.connect(folder / "run.sqlite")) as database:
        tables = database.execute("SELECT name FROM sqlite_master ORDER BY name").fetchall()
        return [database.execute(f"SELECT * FROM {name}").fetchall() for (name,) in tables]


def digests(folder: Path) -> dict[str, str]:
    """Return the hashes of the files of a run that do not depend on how often one has looked."""
    looked = ("manifest.json", "standings.csv", "verdicts.csv")
    return {name: one for name, one in test_resume.digests(folder).items() if name not in looked}


def rows(folder: Path) -> list[list[tuple[Any, ...]]]:
    """Return all rows of a store but those with its manifest."""
    return [table for table in content(folder) if not any("manifest" in row for row in table)]


def played(done: Done) -> int:
    """Return how many games a command has played."""
    assert done.returncode == 0, done.stderr
    if done.stdout.startswith("nothing was left to play"):
        return 0
    return int(done.stdout.split(" games in ")[0].replace(",", ""))


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    return tmp_path / "results" / "cup"


@pytest.fixture(scope="module")
def at_once(once: Once) -> Path:
    """Return the folder of a run of all bots at once."""
    return once("extension", play) / "once"


def play(folder: Path) -> None:
    write_config(folder, BOTS)
    assert run_here(folder, "run", "cup.yaml", "--out", "once").returncode == 0


def orders() -> Iterator[list[Any]]:
    """Yield the bots of each step: one or a few more of them, in the order of BOTS."""
    joining = Random(5).sample(BOTS, len(BOTS))
    for size in (2, 6, 10):
        yield [bot for bot in BOTS if bot in joining[:size]]


@pytest.mark.study
def test_bots_that_join_step_by_step_are_as_all_at_once(
    arena: Arena, cup: Path, at_once: Path, tmp_path: Path
) -> None:
    """Only new pairings are played; files and store are the same; nothing is left to verify."""
    for bots in orders():
        before = len(games_in(cup))
        write_config(tmp_path, bots)
        done = arena("run", "cup.yaml", "--workers", "1")
        assert played(done) <= len(games_in(cup)) - before
    assert digests(cup) == digests(at_once)
    assert rows(cup) == rows(at_once)
    assert played(arena("run", "cup.yaml")) == 0
    assert arena("verify", "results/cup").returncode == 0


@pytest.mark.study
@pytest.mark.parametrize("steps", [[4, 10], range(2, 11)], ids=["two", "nine"])
def test_a_step_that_is_killed_loses_nothing(
    arena: Arena, cup: Path, at_once: Path, tmp_path: Path, steps: Sequence[int]
) -> None:
    """Each step is killed at a random moment, and started again."""
    rng = Random(6)
    for size in steps:
        write_config(tmp_path, BOTS[:size])
        run = started(tmp_path, "--workers", "2")
        _wait_for(run, cup, rng)
        run.kill()
        run.communicate()
        before = len(games_in(cup))
        assert arena("run", "cup.yaml", "--workers", "2").returncode == 0
        assert before <= len(games_in(cup)) == 6 * size * (size - 1) // 2
    assert digests(cup) == digests(at_once)
    assert rows(cup) == rows(at_once)


def _wait_for(run: Any, cup: Path, rng: Random) -> None:
    """Wait until the run has kept a new game or ended, or for a part of a second."""
    if rng.random() < 0.5:
        has_more = partial(has_kept_more, cup, len(games_in(cup)), run)
        while not has_more():
            time.sleep(0.01)
    else:
        time.sleep(rng.uniform(0.2, 1.0))


@pytest.mark.study
def test_a_run_that_is_extended_pays_for_looking_again(arena: Arena, tmp_path: Path) -> None:
    """Its manifest says so, and another run of the manifest has the same verdicts."""
    write_config(tmp_path, ["greedy", "uniform", "majority"])
    for pairs in ("2", "20"):
        played(arena("run", "cup.yaml", "--pairs", pairs))
    played(arena("run", "cup.yaml", "--pairs", "20", "--out", "once"))
    played(arena("run", "results/cup/manifest.json", "--out", "again"))
    extended, once, again = (
        library.open(tmp_path / place).verdicts for place in ("results/cup", "once", "again")
    )
    assert extended.equals(again)
    assert (extended["lead"] == once["lead"]).all()
    assert (extended["lead_high"] > once["lead_high"]).all()


@pytest.mark.slow
def test_more_pairs_are_only_those(arena: Arena, cup: Path, tmp_path: Path) -> None:
    """And fewer pairs leave the tables, and stay in the store."""
    bots = ["uniform", "greedy", "majority"]
    write_config(tmp_path, bots, pairs=7)
    arena("run", "cup.yaml", "--out", "once")
    for pairs, new in ((4, 24), (7, 18), (2, 0), (7, 0)):
        write_config(tmp_path, bots, pairs=pairs)
        assert played(arena("run", "cup.yaml")) == new
        assert len((cup / "games.csv").read_text().splitlines()) == 1 + 6 * pairs
    assert digests(cup) == digests(tmp_path / "once")
    assert rows(cup) == rows(tmp_path / "once")


@pytest.mark.slow
def test_a_bot_that_is_left_out_comes_back_with_its_games(
    arena: Arena, cup: Path, tmp_path: Path
) -> None:
    """The tables are those of a run without it; nothing is played again."""
    bots = ["uniform", "greedy", "majority"]
    write_config(tmp_path, bots)
    assert played(arena("run", "cup.yaml")) == 18
    whole = digests(cup)
    write_config(tmp_path, bots[1:])
    arena("run", "cup.yaml", "--out", "once")
    done = arena("run", "cup.yaml", "-v")
    assert played(done) == 0
    assert digests(cup) == digests(tmp_path / "once")
    assert "uniform: left out: its games stay in the store" in (cup / "run.log").read_text()
    assert arena("verify", "results/cup").returncode == 0
    write_config(tmp_path, bots)
    assert played(arena("run", "cup.yaml")) == 0
    assert digests(cup) == whole


MINE = "from bots.greedy import bot\n"


@pytest.mark.study
def test_a_changed_bot_is_replaced_when_asked_for(arena: Arena, cup: Path, tmp_path: Path) -> None:
    """Only its own games are played again; until then nothing is changed."""
    (tmp_path / "mine.py").write_text(MINE)
    write_config(tmp_path, ["uniform", "./mine.py", "majority"])
    arena("run", "cup.yaml")
    before, kept = digests(cup), rows(cup)
    (tmp_path / "mine.py").write_text(MINE + "bot = __import__('bots.uniform').uniform.bot\n")
    refused = arena("run", "cup.yaml")
    assert refused.returncode == 2
    (line,) = refused.stderr.splitlines()
    assert line.startswith(
        "error: results/cup: changed since their games were played: mine: sha256"
    )
    assert "; --replace plays the games of mine again and keeps those of before until then;" in line
    assert "without mine the others go on" in line
    assert (digests(cup), rows(cup)) == (before, kept)
    arena("run", "cup.yaml", "--out", "once")
    assert played(arena("run", "cup.yaml", "--replace")) == 12
    assert digests(cup) == digests(tmp_path / "once")
    assert rows(cup) == rows(tmp_path / "once")
    assert not (cup / "replaced.sqlite").exists()


@pytest.mark.slow
def test_no_bot_is_started_to_find_that_one_has_changed(tmp_path: Path) -> None:
    """So the answer comes at once, however many bots there are, and however slowly they start."""
    mine, slow = tmp_path / "mine.py", tmp_path / "slow.py"
    mark, out = tmp_path / "started", tmp_path / "out"
    mine.write_text(MINE)
    library.run(["uniform", str(mine)], pairs=1, out=out, progress=False)
    mine.write_text("# better\n" + MINE)
    slow.write_text(f"import pathlib\npathlib.Path({str(mark)!r}).touch()\n{MINE}")
    with pytest.raises(ChangedBots) as caught:
        library.run(["uniform", str(mine), str(slow)], pairs=1, out=out, progress=False)
    assert caught.value.labels == ["mine"]
    assert not mark.exists()


@pytest.mark.slow
def test_what_is_replaced_is_there_until_the_new_games_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replacement that was stopped is undone by the bot of before; nothing is played again."""
    mine, out = tmp_path / "mine.py", tmp_path / "out"
    mine.write_text(MINE)
    bots = ["uniform", "majority", str(mine)]
    before = library.run(bots, pairs=2, out=out, progress=False).games
    mine.write_text("# better\n" + MINE)
    with monkeypatch.context() as patched:
        patched.setattr(LocalExecutor, "play", stop)
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                library.run(bots, pairs=2, out=out, replace=True, progress=False)
            assert len(games_in(out)) == 4
        mine.write_text(MINE)
        again = library.run(bots, pairs=2, out=out, progress=False)
    assert again.games.equals(before)
    assert not (out / "replaced.sqlite").exists()
    mine.write_text("# best\n" + MINE)
    library.run(bots, pairs=2, out=out, replace=True, progress=False)
    assert not (out / "replaced.sqlite").exists()
    mine.write_text(MINE)
    with pytest.raises(ChangedBots):
        library.run(bots, pairs=2, out=out, progress=False)


def stop(*_: object) -> None:
    """Stand for a run that is stopped before its first game."""
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"panel": ["greedy"]}, "panel: only a gauntlet has one; write format: gauntlet"),
        ({"format": "gauntlet"}, "format: a gauntlet needs a panel, a list of bots"),
        ({"format": "gauntlet", "panel": ["nobody"]}, "panel[0]: bot 'nobody': no bot 'nobody'"),
        ({"format": "gauntlet", "panel": ["uniform"]}, "bots 1 and 3 have the same label"),
    ],
)
def test_a_wrong_gauntlet_is_refused(
    arena: Arena, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    """In one line that names the place."""
    write_config(tmp_path, ["uniform", "majority"], **changes)
    done = arena("run", "cup.yaml")
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_a_patch_release_of_python_is_not_another_engine(
    arena: Arena, cup: Path, tmp_path: Path
) -> None:
    """Another minor release is."""
    write_config(tmp_path, ["uniform", "greedy"])
    arena("run", "cup.yaml")
    python = json.loads((cup / "manifest.json").read_text())["versions"]["python"]
    minor = python.rpartition(".")[0]
    for there, status in ((f"{minor}.99", 0), ("3.9.1", 2)):
        change = "UPDATE run SET value = replace(value, ?, ?)"
        forge(cup / "run.sqlite", change, python, there)
        done = arena("run", "cup.yaml")
        assert done.returncode == status
    assert "versions.python: there 3.9" in done.stderr


@pytest.mark.study
def test_at_a_terminal_somebody_is_asked(tmp_path: Path, arena: Arena, cup: Path) -> None:
    """Without a yes nothing is deleted; with one it is as with --replace."""
    (tmp_path / "mine.py").write_text(MINE)
    write_config(tmp_path, ["uniform", "./mine.py"])
    arena("run", "cup.yaml")
    before = rows(cup)
    (tmp_path / "mine.py").write_text(MINE + "# better\n")
    for answer, status, same in ((b"n\n", 2, True), (b"y\n", 0, False)):
        ours, theirs = pty.openpty()
        run = subprocess.Popen(
            [sys.executable, "-m", "arena", "run", "cup.yaml"],
            cwd=tmp_path,
            stdin=theirs,
            stdout=subprocess.DEVNULL,
            stderr=theirs,
        )
        os.close(theirs)
        os.write(ours, answer)
        shown = b"".join(_read_all(ours))
        assert run.wait(PATIENCE) == status
        assert b"mine: sha256: there " in shown
        assert b"Play their games again? Those of before are kept until then [y/N]" in shown
        assert (rows(cup) == before) == same


def _read_all(descriptor: int) -> Iterator[bytes]:
    """Yield what a terminal shows until its last program has ended."""
    with contextlib.suppress(OSError):
        while data := os.read(descriptor, 1 << 16):
            yield data
    os.close(descriptor)


@pytest.mark.slow
def test_verify_says_that_a_run_has_not_finished(arena: Arena, cup: Path, tmp_path: Path) -> None:
    """Neither its first one nor its extension, which has the files of the smaller run."""
    write_config(tmp_path, ["uniform", "greedy"])
    arena("run", "cup.yaml")
    change = "UPDATE run SET value = replace(value, ?, ?)"
    forge(cup / "run.sqlite", change, '"pairs": 3', '"pairs": 4')
    unfinished = "error: results/cup: the run has not finished; start it again to go on\n"
    done = arena("verify", "results/cup")
    assert (done.returncode, done.stderr) == (2, unfinished)
    (cup / "manifest.json").unlink()
    done = arena("verify", "results/cup")
    assert (done.returncode, done.stderr) == (2, unfinished)


@pytest.mark.slow
def test_only_games_that_would_be_lost_are_put_aside(tmp_path: Path) -> None:
    """More pairs keep all games; a changed bot's are deleted, and are in the other file.

    The bot of before takes them back from there. How far it agreed with others is of another bot.
    """
    source = tmp_path / "mine.py"

    def opened(pairs: int, code: str, *, replace: bool = True) -> tuple[list[int], bool]:
        source.write_text(f"from bots.uniform import bot  # {code}\n")
        bots = [resolve(spec, lane="inproc") for spec in ("greedy", "uniform", str(source))]
        tournament = Tournament("cup", 1, pairs, bots, STANDARD)
        with open_store(tournament, folder, replace=replace) as (store, _):
            games = [len([*store.games_of(number)]) for number in range(3)]
            if not any(games):
                for number in range(3):
                    store.add(Played(Chunk(number, 0, 1), won(), {}, 0.0))
                store.commit()
        return games, folder.replaced.exists()

    folder = RunFolder(tmp_path / "cup")
    assert opened(1, "a") == ([0, 0, 0], False)
    assert opened(2, "a") == ([2, 2, 2], False)
    with pytest.raises(ChangedBots, match="mine"):
        opened(2, "b", replace=False)
    assert opened(2, "a", replace=False) == ([2, 2, 2], False)
    assert opened(2, "b") == ([2, 0, 0], True)
    assert opened(2, "b") == ([2, 0, 0], True)
    assert opened(2, "a", replace=False) == ([2, 2, 2], False)
