"""Bots that live elsewhere in a league and at the table: outages pause them alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.addons.league.league import League
from arena.addons.league.league_site import write_site
from arena.addons.league.league_tables import WITHDRAWN
from arena.addons.league.submission import Refused
from tests.addons.league.small import a_league, play
from tests.addons.remote.servers import Handler, Message, Server, serving
from tests.addons.table import Client, running

CALM = {"panel": ["uniform", "greedy"], "round_pairs": 60}


@pytest.fixture
def server() -> Iterator[Server]:
    """A good server."""
    with serving() as made:
        yield made


def fail(handler: Handler, messages: list[Message]) -> bool:
    """Answer no `choose`."""
    return messages[0]["type"] == "choose" and handler.send(b"", 503) is None


def pairs_of(league: League, name: str) -> int:
    """Return how many pairs a bot has played."""
    (version,) = league.find(name)
    return sum(sum(one.by_score) for one in league.games.results.get(version.label, ()))


@pytest.mark.study
def test_an_outage_pauses_a_bot_and_no_other(server: Server, tmp_path: Path) -> None:
    """The round ends without it, and it comes back when its server answers."""
    with a_league(tmp_path / "club", **CALM) as league:
        league.desk.submit(server.url, "ann")
        server.before = fail
        assert play(league)[0].pairs > 0
        (ann,) = league.find("ann")
        assert ann.is_paused
        assert ann.why.startswith(f"paused: {server.url}: it answers 503")
        assert not pairs_of(league, "ann")
        assert pairs_of(league, "greedy")
        write_site(league)
        page = tmp_path / "club" / "site" / "bots" / "ann.html"
        assert "It plays again once its server answers." in page.read_text()
        server.before = lambda *_: False
        play(league)
        assert league.find("ann")[0].is_active
        assert pairs_of(league, "ann")


@pytest.mark.study
def test_a_new_version_is_handed_in(server: Server, tmp_path: Path) -> None:
    """Until then the bot is paused: its games would be another bot's."""
    with a_league(tmp_path / "club", **CALM) as league:
        league.desk.submit(server.url, "ann")
        server.version = "2"
        play(league)
        assert "another version" in league.find("ann")[0].why
        league.desk.submit(server.url, "ann")
        assert [version.state for version in league.find("ann")] == ["replaced", "active"]
        play(league)
        assert league.find("ann")[-1].is_active
        server.version = "3"
        play(league)
        assert league.withdraw("ann").is_paused  # as it was
        assert league.find("ann")[-1].state == WITHDRAWN


@pytest.mark.slow
def test_a_server_that_fails_in_its_first_games_is_refused(server: Server, tmp_path: Path) -> None:
    """With the fault as reason; an outage is no refusal."""
    with a_league(tmp_path / "club", **CALM) as league:
        server.reply = lambda one: (
            {"error": "no model"} if one["type"] == "choose" else server.play(one)
        )
        with pytest.raises(Refused, match="games: exception: no model"):
            league.desk.submit(server.url, "ann")


LATER = 4  # actions before a server fails


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
