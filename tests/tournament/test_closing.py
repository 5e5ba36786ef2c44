"""A strategy's `close()` is called after its game in every lane, and costs no game."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET
from arena.executors.worker import Worker
from arena.lanes.limits import Limits
from arena.runs.run import run
from arena.store.folder import RunFolder
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk
from arena.tournament.tournament import Tournament
from engine import STANDARD, Setup, View, play_game
from tests.rogues import CLOSING, FOLDER, rogue, write
from tests.runs.test_rogues import needs_jail
from tests.tiers import tier

PAIRS = 3
CLOSES = """\
    def choose(self, view, /):
        assert not self.fails or not view.history[1:]
        return view.legal[0]

    def close(self):
        with open({file!r}, "a") as file:
            file.write("closed ")"""


def closes(folder: Path, *, fails: bool = False) -> tuple[Path, Path]:
    """Return a bot that may fail in a decision, and the file in which it notes each `close`."""
    file = folder / "closed"
    return write(folder, "closes", CLOSES.format(file=str(file)), f"self.fails = {fails}"), file


def played(folder: Path, *entries: Entry) -> list[GameResult]:
    """Return the games of two bots, played by a worker."""
    (folder / "run").mkdir()
    with closing(Worker(Tournament("test", 0, PAIRS, entries, STANDARD), folder / "run")) as worker:
        return worker.play(Chunk(0, 0, PAIRS)).results


@pytest.mark.slow
@pytest.mark.parametrize("lane", ["inproc", "process"])
def test_it_is_called_once_after_each_game(tmp_path: Path, lane: str) -> None:
    """The six games of three pairs."""
    path, file = closes(tmp_path)
    games = played(tmp_path, resolve(str(path), lane=lane), resolve("uniform"))
    assert not any(game.fault for game in games)
    assert file.read_text().split() == ["closed"] * 2 * PAIRS


@pytest.mark.slow
@pytest.mark.parametrize("lane", ["inproc", "process"])
@pytest.mark.parametrize("own", [True, False], ids=["own", "opponent"])
def test_it_is_called_after_a_fault(tmp_path: Path, lane: str, own: bool) -> None:
    """Of the bot, or of its opponent; a game that is tried again has other strategies."""
    path, file = closes(tmp_path, fails=own)
    opponent = resolve("uniform") if own else rogue("raises_boom", lane)
    games = played(tmp_path, resolve(str(path), lane=lane), opponent)
    assert all(game.fault and game.fault.kind == "exception" for game in games)
    assert len(file.read_text().split()) >= 2 * PAIRS


def cases() -> list[object]:
    """Return each way to fail in each lane; the jail differs in nothing from the lane process."""
    names = [*CLOSING]
    return [
        *(pytest.param(name, "inproc", marks=tier(n, 1, 2)) for n, name in enumerate(names)),
        *(pytest.param(name, "process", marks=tier(n, 0, 2)) for n, name in enumerate(names)),
        *(pytest.param(name, "jail", marks=[needs_jail, pytest.mark.study]) for name in names),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "lane"), cases())
def test_one_that_fails_costs_no_game(tmp_path: Path, name: str, lane: str) -> None:
    """The games are those of a bot without `close`; run.log has a warning."""
    limits = Limits(decision=1.0, start=2.0, backstop=3.0)
    found = []
    honest = resolve(f"{name}={FOLDER / 'first.py'}", lane=lane)
    for number, entry in enumerate([rogue(name, lane), honest]):
        folder = RunFolder(tmp_path / f"{number}")
        cup = Tournament("cup", 1, 2, [entry, resolve("uniform")], STANDARD, limits)
        run(cup, LocalExecutor(2), folder, QUIET)
        found.append((folder.path / "games.csv").read_text())
        warned = f"{name} failed in close(), after its game: " in folder.log.read_text()
        assert warned == (number == 0)
    assert found[0] == found[1]


class Notes:
    """A strategy that counts how often it is closed, and then raises."""

    closed = 0

    def __init__(self, _setup: Setup) -> None:
        pass

    def choose(self, view: View, /) -> int:
        return view.legal[0]

    def close(self) -> None:
        Notes.closed += 1
        raise RuntimeError("too late")


def test_one_game_of_the_engine_closes_both_and_warns() -> None:
    """The game is the same as that of bots without `close`; a fault closes both as well."""
    Notes.closed = 0
    first = resolve(str(FOLDER / "first.py")).load()
    with pytest.warns(RuntimeWarning, match=r"close\(\) raised RuntimeError\('too late'\)"):
        assert play_game(Notes, Notes, seed=7) == play_game(first, first, seed=7)
    assert Notes.closed == 2
    raises = rogue("raises_boom").load()
    with pytest.warns(RuntimeWarning), pytest.raises(ValueError, match="boom"):
        play_game(Notes, lambda setup: raises(setup, what="boom"), seed=7)
    assert Notes.closed == 3
