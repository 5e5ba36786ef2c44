"""The table's page with a bot that lives elsewhere: games of a person, watched games, outages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

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


def fail_later(handler: Handler, messages: list[Message]) -> bool:
    """Answer 503 in the middle of a game."""
    if messages[0]["type"] != "choose" or len(messages[0]["history"]) <= LATER:
        return False
    handler.send(b"", 503)
    return True


@pytest.mark.slow
def test_a_person_plays_against_a_server_on_the_page(client: Client, server: Server) -> None:
    """To the end; the record has its lane, its address and its version, and no other process."""
    last = client.play(client.begin(f"far={server.url}", begins="me"))
    assert (last["phase"], last["timeline"]["players"]) == ("ended", ["human", "far"])
    (record,) = client.records()
    opponent = record["opponent"]
    assert (opponent["lane"], opponent["bot"]) == ("remote", server.url)
    assert opponent["program"] == "1"
    assert record["win_type"] != "forfeit"
    assert server.began == 1
    assert last["command"].startswith(f"arena human far={server.url} --seed ")


@pytest.mark.slow
@pytest.mark.parametrize("bots", [["far={}"], ["{}", "uniform"]])
def test_an_outage_is_said_and_keeps_the_game_unfinished(
    client: Client, server: Server, bots: list[str]
) -> None:
    """It is no forfeit; a game that is watched leaves no record."""
    server.before = fail_later
    last = client.play(client.begin(*(bot.format(server.url) for bot in bots), begins="me"))
    assert last["phase"] == "failed"
    assert f"{server.url}: it answers 503" in last["timeline"]["ending"]
    kept = [record["win_type"] for record in client.records()]
    assert kept == [None] * (len(bots) == 1)
    server.before = lambda *_: False
    assert client.play(client.begin(server.url, "uniform"))["phase"] == "ended"


def test_a_server_that_is_not_there_is_one_line(client: Client, server: Server) -> None:
    """The game does not begin."""
    server.shutdown()
    server.server_close()
    for bots in (
        [server.url],
        ["greedy", server.url],
        ["http://127.0.0.1"],
        ["http://me:secret@127.0.0.1:8000"],
    ):
        error = client.ask("api/games", {"bots": bots}, 400)["error"]
        assert "http://" in error
        assert "\n" not in error
    assert client.ask("api/home")["games"] == []
