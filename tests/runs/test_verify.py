"""What has been changed in a run's folder is found and named."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.conftest import Arena
from tests.rogues import write


@pytest.fixture
def out(arena: Arena, tmp_path: Path) -> Path:
    """Return the folder of a finished run with forfeits, some of them by rule."""
    write(tmp_path, "raises", "    def choose(self, view, /):\n        raise ValueError('boom')")
    done = arena("play", "uniform", "greedy", "raises.py", "--pairs", "8", "--out", "out")
    assert done.returncode == 0, done.stderr
    return tmp_path / "out"


def test_a_run_as_it_was_written_is_right(arena: Arena, out: Path) -> None:
    """All of its games, files and bots; nothing in it is changed."""
    before = {path.name: path.read_bytes() for path in out.iterdir() if path.suffix == ".csv"}
    done = arena("verify", "out")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ("games: 48 replayed\nfiles: 6 compared\nbots: 48 games played again\n")
    assert {name: (out / name).read_bytes() for name in before} == before


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("UPDATE games SET points = points + 1 WHERE pair = 3", "uniform/greedy/3/0: points is"),
        ("UPDATE games SET winner = 1 - winner WHERE pair = 0", "uniform/greedy/0/0: winner is"),
        ("UPDATE games SET win_type = 'city' WHERE pair = 2", "uniform/greedy/2/0: win_type is"),
        (
            "UPDATE games SET actions = substr(actions, 1, 20) WHERE pair = 1",
            "uniform/greedy/1/0: its record ends in the middle",
        ),
        (
            "UPDATE games SET actions = 'T' || actions WHERE pair = 1",
            "uniform/greedy/1/0: its record cannot be played: ",
        ),
        ("DELETE FROM games WHERE pair = 1 AND seat = 1", "uniform/greedy/1/1: is missing"),
        (
            "UPDATE games SET fault = '' WHERE pairing = 1",
            "uniform/raises/0/0: its record ends in the",
        ),
        (
            "UPDATE games SET winner = 1 - winner WHERE fault = 'exception'",
            "uniform/raises/0/0: winner is 1",
        ),
        (
            "INSERT INTO games SELECT 9, pair, seat, 0, '', 0, 0, 0, '', '' FROM games LIMIT 1",
            "more games",
        ),
    ],
)
def test_a_changed_game_is_named(arena: Arena, out: Path, change: str, told: str) -> None:
    """By its pairing, pair and seat, with what its record gives."""
    with sqlite3.connect(out / "run.sqlite") as database:
        database.execute(change)
    done = arena("verify", "out")
    assert done.returncode == 1
    assert told in done.stderr
    assert done.stderr.startswith("error: out/run.sqlite: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "name", ["games", "standings", "head_to_head", "win_types", "faults", "manifest"]
)
def test_a_changed_file_is_named_with_its_line(arena: Arena, out: Path, name: str) -> None:
    """One character in the middle; a line too many; no file at all."""
    path = out / (f"{name}.json" if name == "manifest" else f"{name}.csv")
    text = path.read_text()
    lines = text.splitlines(keepends=True)
    lines[2] = lines[2].swapcase()
    for changed, line in (("".join(lines), 3), (text + "x\n", len(lines) + 1)):
        path.write_text(changed)
        done = arena("verify", "out")
        assert done.returncode == 1
        assert f"error: out/{path.name}: line {line} " in done.stderr
    path.unlink()
    done = arena("verify", "out")
    assert done.returncode == (2 if name == "manifest" else 1)
    assert path.name in done.stderr


def test_bots_that_have_changed_are_told_and_left_out(arena: Arena, out: Path) -> None:
    """Their games' records are still replayed."""
    folder = out.parent
    write(folder, "raises", "    pass")
    done = arena("verify", "out")
    assert done.returncode == 0
    assert "raises: not replayed: its source has changed" in done.stdout
    assert "bots: 16 games played again" in done.stdout
    (folder / "raises.py").unlink()
    assert "No such file" in arena("verify", "out").stdout


def test_a_bot_that_never_plays_the_same_is_told(arena: Arena, tmp_path: Path) -> None:
    """It is no difference: its games cannot be repeated."""
    write(
        tmp_path,
        "fickle",
        "    def choose(self, view, /):\n"
        "        import os\n"
        "        return view.legal[os.urandom(1)[0] % len(view.legal)]",
    )
    arena("play", "uniform", "fickle.py", "--pairs", "4", "--out", "out")
    done = arena("verify", "out")
    assert done.returncode == 0, done.stderr
    assert "uniform - fickle: do not play the same game twice" in done.stdout


def test_a_run_that_is_not_finished_is_named(arena: Arena, out: Path) -> None:
    """Its last games are missing."""
    with sqlite3.connect(out / "run.sqlite") as database:
        database.execute("DELETE FROM games WHERE pairing = 2")
    done = arena("verify", "out")
    assert done.returncode == 1
    assert "greedy/raises/0/0: is missing" in done.stderr
