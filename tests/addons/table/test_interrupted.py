"""Games whose table was killed: the next one lists them, goes on with them, or keeps them."""

from __future__ import annotations

import json
import shlex
import signal
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from arena.addons.table import open_game
from arena.addons.table.interrupted import find_interrupted
from arena.addons.table.session import RecordedGame, Records
from arena.errors import InputError
from arena.lanes.bubblewrap import find_pid_namespaces
from engine import Rules
from tests.addons.table import Client, running
from tests.addons.table.interrupting import leave_journal, make_session, play_out
from tests.addons.table.test_command import is_alive, open_address
from tests.addons.table.test_playing import LOWEST, SLEEPER, sit_down
from tests.addons.table.test_session import STRICT, expected
from tests.conftest import start_command
from tests.tiers import few
from tests.waiting import until

PLIES = 9


def interrupted(client: Client) -> list[dict[str, Any]]:
    """Return what the page lists."""
    games: list[dict[str, Any]] = client.ask("api/home")["interrupted"]
    return games


def go_on(client: Client, status: int = 200) -> Any:
    """Go on with the game that is listed, and return the answer."""
    (game,) = interrupted(client)
    return client.ask(f"api/interrupted/{game['name']}/go-on", {}, status)


def records(client: Client) -> list[dict[str, Any]]:
    return [json.loads(line) for line in client.table.records.path.read_text().splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("number", few([signal.SIGKILL, signal.SIGINT, signal.SIGHUP], 2, 0))
def test_a_table_that_ends_loses_no_action(tmp_path: Path, number: signal.Signals) -> None:
    """The real command, with kill -9 or Ctrl-C; the next one goes on as if nothing had happened."""
    server = start_command(tmp_path, "table", "--no-browser")
    assert server.stdout is not None
    try:
        connection, root, headers = open_address(server.stdout.readline())
        connection.request("POST", f"{root}api/games", b'{"bot": "uniform"}', headers)
        path = f"{root}api/games/{json.load(connection.getresponse())['id']}"
        ply = -1
        for _ in range(3):
            connection.request("GET", f"{path}/events", headers=headers)
            frame = next_question(connection.getresponse(), ply)
            ply = frame["ply"]
            connection.close()
            body = json.dumps({"ply": frame["ply"], "action": frame["legal"][0]})
            connection.request("POST", f"{path}/act", body, headers)
            connection.getresponse().read()
        until(lambda: any(path.read_bytes().count(b"\n") > 5 for path in journals(tmp_path)))
    finally:
        server.send_signal(number)
        server.communicate()
    with running(tmp_path / "results") as client:
        (game,) = interrupted(client)
        assert game["plies"] >= 5  # with the person's third action
        assert sorted(game["title"].split(" against ")) == ["human", "uniform"]
        last = client.play(f"api/games/{go_on(client)['id']}")
        assert last["phase"] == "ended"
        (record,) = records(client)
        assert record["actions"] == expected(record["seed"], bot="uniform")[1]
        assert interrupted(client) == []


def journals(folder: Path) -> list[Path]:
    return [*(folder / "results" / "human").glob("open/[!.]*")]


def next_question(stream: Any, after: int) -> dict[str, Any]:
    """Return the position after a ply in which a stream of news says that it is one's turn."""
    frames: list[dict[str, Any]] = []
    for line in stream:
        if line.startswith(b"data:"):
            news = json.loads(line[5:])
            frames[news["from"] :] = news["frames"]
            if news["phase"] == "yours" and frames[-1]["ply"] > after:
                return frames[-1]
    raise AssertionError("it is never the person's turn")


@pytest.mark.slow
def test_the_page_is_told_where_a_game_goes_on(tmp_path: Path) -> None:
    """All that has happened is shown at once; the next game is another one."""
    leave_journal(tmp_path / "human", "greedy", 1, PLIES, person="Ann", naming="german", games=4)
    with running(tmp_path) as client:
        assert interrupted(client)[0]["title"] == "greedy against Ann"
        assert interrupted(client)[0]["bot"] == "greedy"
        path = f"api/games/{go_on(client)['id']}"
        news = next(client.news(f"{path}/events"))
        assert (news["interrupted"], len(news["frames"])) == (PLIES, PLIES + 1)
        assert (news["names"], news["players"]) == ("german", ["greedy", "Ann"])
        client.play(path)
        following = client.ask(f"{path}/next", {})["id"]
        news = next(client.news(f"api/games/{following}/events"))
        assert (news["interrupted"], news["players"]) == (0, ["Ann", "greedy"])


def test_the_bot_of_a_journal_has_its_whole_description(tmp_path: Path) -> None:
    """One that lost a key, such as the version of an interpreter, would seem to have changed."""
    records, session = Records(tmp_path), make_session("greedy", 1)
    entry = replace(session.entry, needs=("numpy",), program="python 3")
    game = RecordedGame(replace(session, entry=entry), 0)
    with closing(game._begin_journal(records)) as journal:
        journal.add(0, game.state.legal()[0])
    (found,), problems = find_interrupted(records)
    assert problems == []
    assert found.session.entry.describe() == entry.describe()


@pytest.mark.slow
def test_the_spec_of_a_game_is_shown_as_it_is(tmp_path: Path) -> None:
    """It may be a stranger's, and a letter in it would turn the others round."""
    bot = tmp_path / "\u202e" / "lowest.py"
    bot.parent.mkdir()
    bot.write_text(LOWEST)
    leave_journal(tmp_path / "human", str(bot), 1, PLIES)
    with running(tmp_path) as client:
        (game,) = interrupted(client)
        assert game["bot"] == f"{tmp_path}/\\u202e/lowest.py"
        assert client.play(f"api/games/{go_on(client)['id']}")["phase"] == "ended"


@pytest.mark.slow
def test_a_game_may_be_kept_as_it_stands(tmp_path: Path) -> None:
    """Its bot is not needed for that; and a game that goes on may be left."""
    bot = tmp_path / "lowest.py"
    bot.write_text(LOWEST)
    for seed in (0, 2):
        leave_journal(tmp_path / "human", str(bot), seed, PLIES)
    with running(tmp_path) as client:
        first, second = interrupted(client)
        game = client.ask(f"api/interrupted/{second['name']}/go-on", {})["id"]
        path = f"api/games/{game}"
        bot.unlink()
        assert client.ask(f"api/interrupted/{first['name']}/keep", {}) == {"line": 1}
        client.ask(f"{path}/leave", {})
        (*_, last) = client.news(f"{path}/events")
        assert (last["phase"], last["line"]) == ("left", 2)
        assert [record["seed"] for record in records(client)] == [0, 2]
        assert [record["win_type"] for record in records(client)] == [None, None]
        assert interrupted(client) == []
        assert client.ask("api/home")["problems"] == []


@pytest.mark.slow
def test_a_game_whose_bot_is_missing_waits(tmp_path: Path) -> None:
    """The table may have been started in another folder."""
    bot = tmp_path / "lowest.py"
    bot.write_text(LOWEST)
    leave_journal(tmp_path / "human", str(bot), 0, PLIES)
    bot.unlink()
    with running(tmp_path) as client:
        assert "lowest.py" in go_on(client, 400)["error"]
        bot.write_text(LOWEST)
        assert client.play(f"api/games/{go_on(client)['id']}")["phase"] == "ended"


@pytest.mark.slow
def test_a_bot_that_has_changed_ends_the_game(tmp_path: Path) -> None:
    """In its file, or in what it does; both are said, and the game is kept as it was."""
    bot = tmp_path / "lowest.py"
    bot.write_text(LOWEST)
    leave_journal(tmp_path / "human", str(bot), 0, PLIES)
    with running(tmp_path) as client:
        bot.write_text(f"{LOWEST}# edited\n")
        assert "lowest has changed" in go_on(client, 400)["error"]
        otherwise = play_out(make_session(str(bot), 0), of_bot=-1)
        leave_journal(tmp_path / "human", str(bot), 0, PLIES, otherwise)
        (*_, last) = client.news(f"api/games/{go_on(client)['id']}/events")
        assert (last["phase"], last["line"]) == ("failed", 2)
        assert last["error"].startswith("lowest does not play as before, ply ")
        assert [len(record["actions"]) for record in records(client)] == [PLIES, PLIES]


@pytest.mark.slow
def test_two_tables_do_not_play_the_same_game(tmp_path: Path) -> None:
    """Neither lists what the other plays, and the one that asks too late is told so."""
    leave_journal(tmp_path / "human", "greedy", 0, PLIES)
    with running(tmp_path) as one, running(tmp_path) as other:
        (listed,) = interrupted(other)
        path = f"api/games/{go_on(one)['id']}"
        assert interrupted(one) == interrupted(other) == []
        assert client_error(other, listed["name"]) == 404
        one.ask(f"{path}/leave", {})
        (*_,) = one.news(f"{path}/events")
        assert interrupted(other) == []
        live = sit_down(one, bot="greedy", begins="bot")
        next(news for news in one.news(f"{live}/events") if news["phase"] == "yours")
        assert interrupted(other) == []


def client_error(client: Client, name: str) -> int:
    """Return the status of going on with a game of this name."""
    path = f"{client.root}/api/interrupted/{name}/go-on"
    status: int = client.send("POST", path, client.headers, b"{}")[0].status
    return status


@pytest.mark.parametrize("name", ["x", "..%2fgames.jsonl", "%2e%2e", "a.jsonl", "%00"])
def test_no_name_leads_to_another_file(tmp_path: Path, name: str) -> None:
    """Only games that are listed can be named; what is no journal is said on the page."""
    (tmp_path / "human" / "open").mkdir(parents=True)
    (tmp_path / "human" / "open" / "a.jsonl").write_text("noise")
    with running(tmp_path) as client:
        assert client_error(client, name) == 404
        (problem,) = client.ask("api/home")["problems"]
        assert "a.jsonl: line 1: not JSON" in problem


@pytest.mark.slow
def test_a_game_that_finds_no_room_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can go on when another one has ended."""
    monkeypatch.setattr(open_game, "MOST_OPEN", 1)
    leave_journal(tmp_path / "human", "greedy", 0, PLIES)
    with running(tmp_path) as client:
        path = sit_down(client, bot="uniform")
        assert "leave one of them" in go_on(client, 400)["error"]
        with monkeypatch.context() as patch:
            patch.setattr(client.table.hall, "check_room", lambda: None)
            patch.setattr(client.table.hall, "open", refuse)
            assert go_on(client, 400) == {"error": "full"}
        client.ask(f"{path}/leave", {})
        (*_,) = client.news(f"{path}/events")
        assert client.play(f"api/games/{go_on(client)['id']}")["phase"] == "ended"


def refuse(_game: object) -> str:
    raise InputError("full")


@pytest.mark.slow
def test_a_bot_that_thinks_when_the_game_is_left_again(tmp_path: Path) -> None:
    """Nothing is lost: it is kept as it was, also while its bot is asked again."""
    bot = tmp_path / "sleeper.py"
    bot.write_text(SLEEPER)
    leave_journal(tmp_path / "human", str(bot), 0, PLIES, play_out(make_session(str(bot), 0)))
    with running(tmp_path) as client:
        path = f"api/games/{go_on(client)['id']}"
        until(lambda: client.table.hall.listing()[0]["phase"] == "bot")
        client.ask(f"{path}/leave", {})
        (*_, last) = client.news(f"{path}/events")
        assert (last["phase"], last["line"]) == ("left", 1)
        assert len(records(client)[0]["actions"]) == PLIES


@pytest.mark.slow
def test_a_killed_table_leaves_no_bot(tmp_path: Path) -> None:
    """Also while it thinks; with bubblewrap what it has started ends, too."""
    child = "__import__('subprocess').Popen(['sleep', '600'])\n"
    (tmp_path / "sleeper.py").write_text((child if find_pid_namespaces() else "") + SLEEPER)
    server = start_command(tmp_path, "table", "--no-browser")
    assert server.stdout is not None
    try:
        connection, root, headers = open_address(server.stdout.readline())
        body = b'{"bot": "./sleeper.py", "begins": "bot"}'
        connection.request("POST", f"{root}api/games", body, headers)
        path = f"{root}api/games/{json.load(connection.getresponse())['id']}/events"
        connection.request("GET", path, headers=headers)
        assert b'"phase":"bot"' in connection.getresponse().readline()
        below = psutil.Process(server.pid).children(recursive=True)
    finally:
        server.kill()
        server.communicate()
    assert below
    until(lambda: not any(map(is_alive, below)))


@pytest.mark.slow
def test_a_game_under_other_rules_goes_on_under_them(tmp_path: Path) -> None:
    """It was begun in a terminal; its bot is one that knows them, and no other does."""
    bot = tmp_path / "program.py"
    bot.write_text(STRICT)
    rules = Rules(set_bonus=4)
    actions = play_out(make_session("greedy", 0, rules=rules))
    spec = f"greedy=cmd:{shlex.quote(sys.executable)} {bot}"
    leave_journal(tmp_path / "human", spec, 0, 1, actions, rules=rules)
    with running(tmp_path) as client:
        assert "does not start" in go_on(client, 400)["error"]
        client.ask(f"api/interrupted/{interrupted(client)[0]['name']}/keep", {})
        leave_journal(tmp_path / "human", "greedy", 0, 1, actions, rules=rules)
        path = f"api/games/{go_on(client)['id']}"
        assert client.play(path)["phase"] == "ended"
        assert [record["rules"] for record in records(client)] == [{"set_bonus": 4}] * 2
        assert "other rules" in client.ask("api/review", {"line": 2}, 400)["error"]
