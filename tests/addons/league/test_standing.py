"""A league in a program is the league of the command, with tables as DataFrames."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

import arena
from tests.conftest import run_here

SMALL = {
    "seed": 3,
    "lane": "process",
    "panel": ["uniform", "greedy", "majority"],
    "round_pairs": 60,
}


@pytest.mark.slow
def test_a_program_and_the_command_see_one_league(tmp_path: Path) -> None:
    """What one of them does the other one goes on with."""
    club = arena.league(tmp_path / "club", new=SMALL)
    assert club.submit("greedy(patience=11)", "patient", by="Ann") == 1
    assert (club.round, club.spread, club.precise) == (0, None, False)
    assert club.play(rounds=2, workers=1) == 2
    done = run_here(tmp_path, "league", "show", "club")
    shown = [line.split()[1] for line in done.stdout.splitlines()[1:5]]
    assert shown == list(club.standings["bot"])
    assert list(club.ratings("patient")["round"]) == [1, 2]
    assert club.page().is_file()
    club.withdraw("patient", by="Ann")
    assert "patient" not in set(club.standings["bot"])
    assert club.spread is not None


@pytest.mark.slow
def test_any_executor_plays_it(tmp_path: Path) -> None:
    """The same games as this machine's own workers."""
    tables = []
    for name in ("own", "pool"):
        club = arena.league(tmp_path / name, new=SMALL)
        if name == "own":
            club.play(workers=1)
        else:
            with ProcessPoolExecutor(1) as pool:
                club.play(executor=pool)
        tables.append(club.standings.to_csv())
    assert tables[0] == tables[1]


@pytest.mark.slow
def test_what_is_wrong_is_said_as_by_the_command(tmp_path: Path) -> None:
    """A setting, a name, and a folder that is taken."""
    with pytest.raises(arena.InputError, match="unknown key 'pannel'; did you mean 'panel'"):
        arena.league(tmp_path / "club", new={"pannel": []})
    club = arena.league(tmp_path / "club", new=SMALL)
    with pytest.raises(arena.InputError, match="something already"):
        arena.league(tmp_path / "club", new=SMALL)
    with pytest.raises(arena.InputError, match="the same as greedy 1 of arena"):
        club.submit("greedy", "mine")
    with pytest.raises(arena.InputError, match="no bot 'mine'"):
        club.withdraw("mine")
