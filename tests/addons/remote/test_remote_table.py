"""The table's page with a bot that lives elsewhere: games of a person, watched games, outages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.addons.remote.servers import Handler, Message, Server, serving
from tests.addons.table import Client, running

LATER = 4  # actions before a server fails


@pytest.fixture
def server() -> Iterator[Server]:
    """A good server."""
    with serving() as made:
        yield made


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    """A browser at a table without games."""
    with running(tmp_path / "results") as made:
        yield made


def sit_down(client: Client, server: Server) -> str:
    """Begin a person's game against the server, and return its address."""
    asked = {"bot": f"far={server.url}", "begins": "me"}
    return f"api/games/{client.ask('api/games', asked)['id']}"


def fail_later(handler: Handler, messages: list[Message]) -> bool:
    """Answer 503 in the middle of a game."""
    if messages[0]["type"] != "choose" or len(messages[0]["history"]) <= LATER:
        return False
    handler.send(b"", 503)
    return True


def records(client: Client) -> list[dict[str, Any]]:
    """Return the games that were recorded."""
    return [json.loads(line) for line in client.table.records.path.read_text().splitlines()]


@pytest.mark.slow
def test_a_person_plays_against_a_server_on_the_page(client: Client, server: Server) -> None:
    """To the end; the record has its lane, its address and its version, and no other process."""
    last = client.play(sit_down(client, server))
    assert (last["phase"], last["players"]) == ("ended", ["human", "far"])
    (record,) = records(client)
    opponent = record["opponent"]
    assert (opponent["lane"], opponent["bot"]) == ("remote", server.url)
    assert opponent["program"] == "1"
    assert record["win_type"] != "forfeit"
    assert server.began == 1
    assert last["command"].startswith(f"arena human far={server.url} --seed ")


@pytest.mark.slow
def test_a_game_on_the_page_goes_on_after_an_outage(client: Client, server: Server) -> None:
    """One line says what failed; the game is kept, and goes on from where it was."""
    server.before = fail_later
    last = client.play(sit_down(client, server))
    assert (last["phase"], last["error"]) == ("failed", f"far: {server.url}: it answers 503")
    assert records(client) == []
    (kept,) = client.ask("api/home")["interrupted"]
    assert (kept["title"], kept["bot"]) == ("human against far", f"far={server.url}")
    assert kept["plies"] > LATER
    server.before = lambda *_: False
    number = client.ask(f"api/interrupted/{kept['name']}/go-on", {})["id"]
    ended = client.play(f"api/games/{number}")
    assert (ended["phase"], ended["interrupted"]) == ("ended", kept["plies"])
    before = [frame["action"] for frame in last["frames"]]
    assert [frame["action"] for frame in ended["frames"]][: len(before)] == before
    assert [len(record["actions"]) > kept["plies"] for record in records(client)] == [True]


@pytest.mark.slow
def test_a_watched_game_says_that_a_server_failed(client: Client, server: Server) -> None:
    """And a game of the same two is shown to its end once it answers again."""
    asked = {"bots": [server.url, "uniform"], "seed": 1}
    server.before = fail_later
    for phase in ("failed", "ended"):
        number = client.ask("api/watched", asked)["id"]
        (*_, last) = client.news(f"api/watched/{number}/events")
        assert last["phase"] == phase
        assert ("it answers 503" in last.get("error", "")) is (phase == "failed")
        server.before = lambda *_: False


def test_a_server_that_is_not_there_is_one_line(client: Client, server: Server) -> None:
    """The game does not begin."""
    server.shutdown()
    server.server_close()
    for path, asked in (
        ("api/games", {"bot": server.url}),
        ("api/watched", {"bots": ["greedy", server.url]}),
        ("api/games", {"bot": "http://127.0.0.1"}),
        ("api/games", {"bot": "http://me:secret@127.0.0.1:8000"}),
    ):
        error = client.ask(path, asked, 400)["error"]
        assert "http://" in error
        assert "\n" not in error
    assert client.ask("api/home")["open"] == []
