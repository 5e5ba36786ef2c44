"""`arena check` says what a bot keeps of each game, and is not deceived by caches."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from arena.check.item import Growth, Item, check_growth
from arena.check.sparring import Candidate, Sparring
from arena.entries.resolve import resolve
from arena.lanes.limits import Limits
from arena.lanes.meter import Held
from tests.rogues import FOLDER, rogue

MOST = Held(1024, 32, 33, 128)


def check(kept: Callable[[int], Held], games: int = 20, step: int = 1) -> Item:
    """Return the item of a bot that has so much after each game."""
    growth = Growth()
    for number in range(step, games + 1, step):
        growth.add(1, step, kept(number))
    return check_growth([Growth(), growth], MOST)


@pytest.mark.parametrize("step", [1, 4])
def test_what_is_used_up_first_is_said(step: int) -> None:
    """2 MB of 1,004 are for 502 games; a thread a game is for 32."""
    item = check(lambda games: Held(20 + 2.0 * games, 1, 1, 8), step=step)
    assert item.status == "warn"
    assert "keeps 2 MB a game: out of memory after about 500 games" in item.message
    item = check(lambda games: Held(20 + 2.0 * games, 1, 1 + games, 8), step=step)
    assert "keeps 1 thread a game: out of threads after about 32 games" in item.message
    assert item.figures == {"kept": "threads", "a_game": 1.0, "games": 32}


@pytest.mark.parametrize(
    "kept",
    [
        lambda games: Held(20 + 9 * min(games, 13), 1, 2, 8),  # a cache that is full
        lambda games: Held(20 + 5 * (games % 3), 1, 2, 8 + games % 2),  # noise
        lambda games: Held(20 + 300 * (games > 15), 1, 9 * (games > 15), 8),  # once
        lambda games: Held(20 + 0.4 * games, 1, 2, 8),  # it may end some day
        lambda games: Held(90 - games, 1, 2, 8),
    ],
)
def test_what_an_honest_bot_has_is_no_growth(kept: Callable[[int], Held]) -> None:
    """Nothing that grows in one part of the games only, or very slowly."""
    assert check(kept).status == "ok"


def test_few_games_say_nothing_and_a_new_process_begins_again() -> None:
    """A process that was replaced has nothing of the games before."""
    assert check(lambda games: Held(20.0 * games), games=8).status == "none"
    growth = Growth()
    for number in range(20):
        growth.add(number // 10, 1, Held(2.0 * number))
    assert growth.rates() is None


def played(name: str, folder: Path, games: int = 16) -> Item:
    """Return the item of a bot that has played some games in one process."""
    entry = rogue(name, "process") if name.startswith("keeps") else resolve(name, lane="process")
    sparring = Sparring(Candidate(entry, Limits(), 0, folder, lambda: None), mixed=True)
    try:
        sparring.play_series(games)
        return check_growth(sparring.growths, sparring.bots[0].most_held)
    finally:
        sparring.close()


@pytest.mark.parametrize(
    ("name", "kept", "a_game"),
    [
        ("keeps_memory", "memory", 2),
        ("keeps_children", "processes", 1),
        ("keeps_files", "files", 1),
        ("keeps_threads", "memory", 16),  # their stacks: no jail counts them
    ],
)
def test_rogues_that_keep_something_are_told_how_long_that_lasts(
    tmp_path: Path, name: str, kept: str, a_game: float
) -> None:
    """Looked at from outside, in the lane process: within a quarter, as a look may miss a page."""
    item = played(name, tmp_path)
    assert (item.status, item.figures["kept"]) == ("warn", kept)
    assert item.figures["a_game"] == pytest.approx(a_game, rel=0.25)


@pytest.mark.parametrize("name", ["greedy", str(FOLDER / "first.py")])
def test_bots_that_keep_nothing(tmp_path: Path, name: str) -> None:
    """Also one of ours."""
    assert played(name, tmp_path).message == "nothing is kept of a game"
