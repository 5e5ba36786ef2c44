"""Games at the table: how they are played, recorded and judged, and what stays hidden."""

from __future__ import annotations

import json
import random
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from arena.addons.table import table_games
from arena.addons.table.table_games import TableGame
from arena.errors import ArenaError
from arena.processes import FOLDER_VARIABLE
from arena.runs.judge_games import review_record
from arena.tournament.judged import PARTS
from arena.tournament.schedule import Fixture
from engine import Record
from engine.play import Draw
from engine.state import random_deal
from tests.addons.table import BROKEN, LOWEST, SLEEPER, Client, running
from tests.addons.table.test_human import command, expected
from tests.conftest import Arena
from tests.waiting import until

PLIES = 9  # until the person has acted four times, and the bot, too


@pytest.fixture(autouse=True)
def seed_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every game has seed 0, or 1 if the bot is to begin."""
    monkeypatch.setattr("arena.addons.table.table_server.secrets.randbelow", lambda _: 0)


def frames_of(news: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the positions of a game so far."""
    found: list[dict[str, Any]] = news["timeline"]["frames"]
    return found


def actions_of(news: dict[str, Any]) -> str:
    """Return the actions of a game so far."""
    return "".join(frame["action"]["char"] for frame in frames_of(news)[1:])


def bot_processes(client: Client) -> list[psutil.Process]:
    """Return the processes that were started for bots of this server."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            folder = process.environ().get(FOLDER_VARIABLE, "")
            if folder.startswith(str(client.table.hall.folder)):
                found.append(process)
    return found


@pytest.mark.slow
def test_a_game_is_recorded_as_that_of_the_terminal(
    client: Client, tmp_path: Path, arena: Arena
) -> None:
    """The same line, byte by byte; `arena replay` agrees with it, and its end has all hands."""
    typed, actions = expected(0)
    last = client.play(client.begin("greedy", begins="me"))
    done = command(tmp_path, "greedy", "--seed", "0", typed=typed)
    assert done.returncode == 0, done.stderr
    (of_terminal,) = (tmp_path / "results" / "human" / "games.jsonl").read_text().splitlines()
    assert client.table.records.path.read_text().splitlines()[last["line"] - 1] == of_terminal
    assert json.loads(of_terminal)["actions"] == actions == actions_of(last)
    told = arena("replay", str(client.table.records.path), "--json").stdout.splitlines()
    judged, record = json.loads(told[last["line"] - 1]), json.loads(of_terminal)
    assert record["bots"][judged["winner"]] == record["winner"]
    assert last["timeline"]["ending"].startswith(f"{record['winner']} wins")
    assert last["command"] == "arena human greedy --seed 0"
    assert all(None not in frame["hands"] for frame in frames_of(last))


def test_a_game_is_there_in_every_tab_and_what_is_not_legal_is_refused(client: Client) -> None:
    """The state is the server's: one action counts once, and each refusal says why."""
    path = client.begin("greedy", begins="me")
    first = client.until(path, "yours")
    assert first["timeline"]["ending"] == "Your turn: play a card, or take."
    for body, message in (
        ({"ply": 0, "action": "q"}, "not legal; legal: "),
        ({"ply": 0, "action": ""}, "not legal"),
        ({"ply": 0, "action": "56"}, "not legal"),
        ({"ply": 1, "action": "5"}, "does not wait"),
        ({"ply": "0", "action": "5"}, "$.ply"),
        ({"ply": 0}, "action"),
    ):
        assert message in client.ask(f"{path}/act", body, 400)["error"]
    act = {"ply": 0, "action": frames_of(first)[-1]["legal"][0]}
    client.ask(f"{path}/act", act)
    assert "does not wait" in client.ask(f"{path}/act", act, 400)["error"]
    later = next(news for news in client.news(path) if len(frames_of(news)) > 2)
    assert frames_of(later)[:1] == frames_of(first)[:1]
    title = {"id": path.rpartition("/")[2], "title": "human against greedy", "phase": "yours"}
    assert title in client.ask("api/home")["games"]
    client.ask(f"{path}/leave", {})
    for other in ("api/games/99999", "api/games/x"):
        assert client.ask(other, status=404)
        assert client.ask(f"{other}/leave", {}, 404)


@pytest.mark.slow
def test_a_game_that_is_left_is_kept_unfinished(client: Client) -> None:
    """Its bot's process ends; its hidden cards are not told; an empty game leaves no record."""
    for begins, is_kept in (("me", False), ("bot", True)):
        path = client.begin("greedy", begins=begins)
        client.until(path, "yours")
        client.ask(f"{path}/leave", {})
        (*_, last) = client.news(path)
        assert (last["phase"], last["line"] is not None) == ("left", is_kept)
        assert last["timeline"]["ending"] == "The game was left."
        assert None in frames_of(last)[0]["hands"]
        assert "played to its end" in client.ask(f"{path}/judge", {}, 400)["error"]
    assert client.records()[last["line"] - 1]["win_type"] is None
    until(lambda: not bot_processes(client))


@pytest.mark.slow
def test_a_game_can_be_left_while_the_bot_thinks(client: Client, tmp_path: Path) -> None:
    """A bot that sleeps does not hold anybody up; two games go on beside each other."""
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    for bots in ([str(tmp_path / "sleeper.py")], ["greedy", str(tmp_path / "sleeper.py")]):
        slow = client.begin(*bots, begins="bot")
        endings = (news["timeline"]["ending"] for news in client.news(slow))
        assert any("sleeper is thinking" in ending for ending in endings)
        assert client.play(client.begin("greedy"))["phase"] == "ended"
        client.ask(f"{slow}/leave", {})
        assert client.until(slow, "left")["over"]
    until(lambda: not bot_processes(client))


@pytest.mark.slow
def test_a_bots_fault_is_a_forfeit_with_its_evidence(client: Client, tmp_path: Path) -> None:
    """The file has a process of its own, and the record has the fault."""
    (tmp_path / "broken.py").write_text(BROKEN)
    last = client.play(client.begin(str(tmp_path / "broken.py"), begins="bot"))
    assert last["timeline"]["ending"].startswith("broken forfeits (exception at ply 0)")
    assert "ZeroDivisionError" in last["timeline"]["evidence"]
    assert "<noise>" in last["timeline"]["evidence"]
    record = client.records()[-1]
    assert (record["win_type"], record["winner"]) == ("forfeit", "human")
    assert record["fault"]["kind"] == "exception"
    assert record["opponent"]["lane"] == "process"


@pytest.mark.slow
def test_every_decision_of_a_finished_game_is_judged(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of both seats; the numbers are those of the judge for this game."""
    monkeypatch.setattr(table_games, "WORLDS", 8)
    path = client.begin("uniform", begins="me")
    last = client.play(path)
    timeline = client.ask(f"{path}/judge", {})
    record = Record(client.records()[-1]["deal"], actions_of(last))
    judged = review_record(record, name="human/uniform/0/0", worlds=8)
    found = {frame["ply"]: frame["judged"] for frame in timeline["frames"] if frame["judged"]}
    assert {*found} == {one.ply for one in judged}
    assert {ply % 2 for ply in found} == {0, 1}
    for one in judged:
        assert found[one.ply]["loss"] == round(one.loss / PARTS, 4)
    assert timeline["judge"] == "apprentice, 8 worlds"


@pytest.mark.parametrize("error", [ArenaError("no room"), ZeroDivisionError("by 0")])
def test_a_game_that_fails_says_so(
    client: Client, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Its page gets one line; what nobody has foreseen goes to the terminal, too."""
    hooked = list[Any]()
    monkeypatch.setattr(threading, "excepthook", hooked.append)

    def fail(_: TableGame) -> None:
        raise error

    monkeypatch.setattr(TableGame, "_play", fail)
    last = client.play(client.begin("greedy"))
    why = "no room" if isinstance(error, ArenaError) else "an error of the arena: see its terminal"
    assert (last["phase"], last["timeline"]["ending"]) == (
        "failed",
        f"The game has failed: {why}",
    )
    assert [args.exc_value for args in hooked] == [error] * (not isinstance(error, ArenaError))


def deals() -> tuple[bytes, bytes]:
    """Return two deals that seat 0 cannot tell apart while seat 1 plays its four lowest cards."""
    rng = random.Random(5)
    while True:
        deal = random_deal(rng)
        hidden = [deal[9], *deal[12:]]
        highest = max(deal[5:10])
        others = [kind for kind in hidden if kind >= sorted(deal[5:10])[3] and kind != highest]
        if deal[9] == highest and others:
            break
    hidden.remove(others[0])
    rng.shuffle(hidden)
    first = deal[:5] + bytes(sorted(deal[5:10])) + deal[10:]
    return first, first[:9] + bytes([others[0]]) + first[10:12] + bytes(hidden)


def sent_during(
    results: Path, bot: Path, deal: bytes, monkeypatch: pytest.MonkeyPatch
) -> list[bytes]:
    """Return all that a server answers until a game is left."""
    answers: list[bytes] = []
    with monkeypatch.context() as patch, running(results) as client:
        patch.setattr(Fixture, "draw", lambda *_: Draw(deal, (1, 2)))
        path = client.begin(str(bot), begins="me")
        for ply in range(0, PLIES, 2):
            news = next(
                news
                for news in client.news(path)
                if news["phase"] == "yours" and len(frames_of(news)) == ply + 1
            )
            answers += [json.dumps(news).encode(), client.ask_bytes("api/home")]
            act = {"ply": ply, "action": frames_of(news)[-1]["legal"][0]}
            if ply < PLIES - 1:
                answers.append(client.ask_bytes(f"{path}/act", act))
        answers.append(client.ask_bytes(f"{path}/act", {"ply": PLIES - 1, "action": "q"}, 400))
        answers.append(client.ask_bytes(f"{path}/judge", {}, 400))
        client.ask(f"{path}/leave", {})
        answers.append(json.dumps(client.until(path, "left")).encode())
    return [answer.replace(str(results).encode(), b"results") for answer in answers]


@pytest.mark.slow
def test_no_byte_depends_on_what_the_person_cannot_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two deals differ in the bot's hand, in what is to come and in what is out of the game.

    All that the server answers is the same, also when the game is left.
    """
    bot = tmp_path / "lowest.py"
    bot.write_text(LOWEST)
    one, other = deals()
    assert sorted(one) == sorted(other)
    assert one[9] != other[9]
    first, second = (
        sent_during(tmp_path / f"results-{number}", bot, deal, monkeypatch)
        for number, deal in enumerate((one, other))
    )
    assert len(first) > 15
    assert first == second
