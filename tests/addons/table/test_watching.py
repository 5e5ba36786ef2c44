"""Two bots are watched: the game is that of every run, and comes ply by ply."""

from __future__ import annotations

from pathlib import Path

import pytest

import arena
from arena.store.reader import read_run
from tests.addons.table import Client
from tests.addons.table.test_playing import BROKEN, SLEEPER, bot_processes
from tests.waiting import until


@pytest.mark.slow
def test_the_game_is_that_of_the_library(client: Client) -> None:
    """With the same seed; both hands are there, because nobody plays who must not see them."""
    number = client.ask("api/watched", {"bots": ["greedy", "uniform"], "seed": 3})["id"]
    seen = list(client.news(f"api/watched/{number}/events"))
    game = arena.play("greedy", "uniform", seed=3)
    timeline = client.ask(f"api/watched/{number}/timeline")
    for frames in (seen[-1]["frames"], timeline["frames"]):
        actions = "".join(frame["action"]["char"] for frame in frames[1:])
        assert actions == game.record.actions
        assert all(None not in frame["hands"] for frame in frames)
    assert seen[-1]["result"] == timeline["ending"] == game.ending
    assert len(seen) > 2


@pytest.mark.slow
def test_with_the_seed_of_a_run_it_is_the_game_of_pair_0(client: Client, results: Path) -> None:
    """In which the first bot has seat 0."""
    number = client.ask("api/watched", {"bots": ["greedy", "uniform"], "seed": 7})["id"]
    (*_, last) = client.news(f"api/watched/{number}/events")
    _, store = read_run(results / "cup")
    game = store.game(0, 0, 0)
    store.close()
    assert game is not None
    assert "".join(frame["action"]["char"] for frame in last["frames"][1:]) == game.actions


@pytest.mark.slow
def test_a_bot_may_play_itself_and_without_a_seed_it_is_a_new_one(client: Client) -> None:
    """The second one has a label of its own."""
    number = client.ask("api/watched", {"bots": ["uniform", "uniform"]})["id"]
    (*_, last) = client.news(f"api/watched/{number}/events")
    assert last["players"] == ["uniform", "uniform (2)"]
    assert last["seed"] >= 0


@pytest.mark.slow
def test_a_fault_ends_the_game_with_its_evidence(client: Client, tmp_path: Path) -> None:
    """As text."""
    (tmp_path / "broken.py").write_text(BROKEN)
    number = client.ask("api/watched", {"bots": ["greedy", str(tmp_path / "broken.py")]})["id"]
    (*_, last) = client.news(f"api/watched/{number}/events")
    assert last["result"].startswith("broken forfeits (exception at ply ")
    assert last["result"] not in last["evidence"]
    assert "<noise>" in client.ask(f"api/watched/{number}/timeline")["evidence"]


@pytest.mark.slow
def test_a_game_is_stopped_in_the_middle_of_a_thought(client: Client, tmp_path: Path) -> None:
    """No process is left."""
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    number = client.ask("api/watched", {"bots": ["greedy", str(tmp_path / "sleeper.py")]})["id"]
    path = f"api/watched/{number}"
    next(news for news in client.news(f"{path}/events") if len(news["frames"]) > 1)
    assert client.ask(f"{path}/timeline", status=400)
    client.ask(f"{path}/leave", {})
    (*_, last) = client.news(f"{path}/events")
    assert last["phase"] == "left"
    until(lambda: not bot_processes(client))


def test_bots_that_cannot_play_are_refused(client: Client) -> None:
    """In one line that names the bot."""
    for bots, message in (
        (["greedy", "none"], "no bot 'none'"),
        (["greedy"], "length 2"),
        (["greedy", "./missing.py"], "missing.py"),
    ):
        assert message in client.ask("api/watched", {"bots": bots}, 400)["error"]
