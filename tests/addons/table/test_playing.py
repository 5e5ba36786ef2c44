"""A person plays at the table: the games, what is recorded of them, and what stays hidden."""

from __future__ import annotations

import inspect
import json
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from arena.addons.table import page_games
from arena.addons.table.open_game import MOST_OPEN, News
from arena.addons.table.page_games import PersonGame
from arena.entries.catalogue import ELO
from arena.lanes.cleanup import FOLDER_VARIABLE
from arena.tournament.config import convert
from arena.tournament.schedule import Fixture
from engine.play import Draw
from engine.state import random_deal
from tests.addons.table import Client, running
from tests.addons.table.test_session import command, expected
from tests.conftest import Arena
from tests.waiting import until

PLIES = 9  # until the person has acted four times, and the bot, too
LOWEST = """
class Lowest:
    def __init__(self, setup):
        pass

    def choose(self, view):
        return view.legal[0]

bot = Lowest
"""
BROKEN = LOWEST.replace("view.legal[0]", "print('<noise>') or 1 / 0")
SLEEPER = f"import time\n{LOWEST.replace('return', 'time.sleep(600); return')}"


@pytest.fixture(autouse=True)
def seed_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every session has seed 0, or 1 if the bot is to begin."""
    monkeypatch.setattr("arena.addons.table.visitor.secrets.randbelow", lambda _: 0)


def sit_down(client: Client, **asked: Any) -> str:
    """Begin a game, and return its address."""
    number = client.ask("api/games", {"bot": "greedy", "begins": "me"} | asked)["id"]
    return f"api/games/{number}"


def lines(client: Client) -> list[str]:
    return client.table.records.path.read_text().splitlines()


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
    """The same line, byte by byte; and `arena replay` agrees with it."""
    typed, actions = expected(0)
    last = client.play(sit_down(client))
    done = command(tmp_path, "human", "greedy", "--seed", "0", typed=typed)
    assert done.returncode == 0, done.stderr
    (of_terminal,) = (tmp_path / "results" / "human" / "games.jsonl").read_text().splitlines()
    assert lines(client)[last["line"] - 1] == of_terminal
    record = json.loads(of_terminal)
    assert record["actions"] == actions
    judged = json.loads(
        arena("replay", str(client.table.records.path), "--json").stdout.splitlines()[-1]
    )
    assert record["bots"][judged["winner"]] == record["winner"]
    assert last["result"] in done.stdout
    assert last["command"] == "arena human greedy --seed 0"
    frames = client.ask(f"api/record?line={last['line']}")["frames"]
    assert all(None not in frame["hands"] for frame in frames)


@pytest.mark.slow
def test_seats_alternate_from_game_to_game(client: Client) -> None:
    """The next game is begun once, however many tabs ask; no seed that was told deals it."""
    first = sit_down(client, begins="bot", bot="uniform")
    earlier = client.play(first)
    assert earlier["seat"] == 1
    asked = [client.ask(f"{first}/next", {})["id"] for _ in range(2)]
    assert asked[0] == asked[1]
    last = client.play(f"api/games/{asked[0]}")
    assert last["seat"] == 0
    records = [json.loads(line) for line in lines(client)[-2:]]
    assert [record["game"] for record in records] == ["human/uniform/0/1", "human/uniform/0/0"]
    assert [record["seed"] for record in records] == [1, 0]  # 2 times a new number, and the seat
    for end, record in zip((earlier, last), records, strict=True):
        assert end["command"] == f"arena human uniform --seed {record['seed']}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "card"), [("english", "Support"), ("german", "Bande"), ("deck", "\u2663")]
)
def test_names_are_those_that_were_asked_for(client: Client, names: str, card: str) -> None:
    """In the sentences about what happened, and in the command."""
    path = sit_down(client, names=names)
    news = next(client.news(f"{path}/events"))
    assert news["names"] == names
    last = client.play(path)
    assert any(card in text for text in last["texts"])
    assert (f"--names {names}" in last["command"]) is (names != "english")


@pytest.mark.parametrize(
    ("spec", "label"),
    [
        ("greedy", "greedy"),
        ("ismcts(iterations=9)", "ismcts(iterations=9)"),
        ("{folder}/lowest.py", "lowest"),
        ("Ann={folder}/lowest.py", "Ann"),
    ],
)
def test_a_bot_is_named_as_on_the_command_line(
    client: Client, tmp_path: Path, spec: str, label: str
) -> None:
    """It has the limits of `arena play`, and a process of its own."""
    (tmp_path / "lowest.py").write_text(LOWEST)
    path = sit_down(client, bot=spec.format(folder=tmp_path))
    news = next(news for news in client.news(f"{path}/events") if news["phase"] == "yours")
    assert news["players"] == ["human", label]
    session = client.table.hall.find(path.rpartition("/")[2], PersonGame).session
    assert session.limits == convert({"bots": ["greedy", "uniform"], "pairs": 1}, "play").limits
    assert len(bot_processes(client)) >= 1
    client.ask(f"{path}/leave", {})
    (*_,) = client.news(f"{path}/events")
    until(lambda: not bot_processes(client))


def test_the_bots_of_the_ladder_are_offered(client: Client) -> None:
    """The strongest first, with their ratings."""
    bots = client.ask("api/home")["bots"]
    rated = {bot["name"]: bot["elo"] for bot in bots if bot["elo"] is not None}
    assert rated == ELO
    assert [*rated] == sorted(ELO, key=lambda name: -ELO[name])
    assert all(bot["description"] for bot in bots)


@pytest.mark.slow
def test_only_what_leaves_a_choice_is_asked(client: Client) -> None:
    """An action that is the only one is carried out for the person."""
    path = sit_down(client)
    asked = []
    for news in client.news(f"{path}/events"):
        if news["phase"] == "yours":
            frame = news["frames"][-1]
            asked.append(frame["ply"])
            assert len(frame["legal"]) > 1
            client.ask(f"{path}/act", {"ply": frame["ply"], "action": frame["legal"][0]})
    own = [frame["ply"] - 1 for frame in news["frames"][1:] if frame["action"]["seat"] == 0]
    assert {*asked} < {*own}


def test_a_game_is_there_in_every_tab_and_after_a_reload(client: Client) -> None:
    """The state is the server's: whoever opens it sees all of it, and one action counts once."""
    path = sit_down(client)
    stream = client.news(f"{path}/events")
    first = next(news for news in stream if news["phase"] == "yours")
    act = {"ply": 0, "action": first["frames"][-1]["legal"][0]}
    client.ask(f"{path}/act", act)
    assert "does not wait" in client.ask(f"{path}/act", act, 400)["error"]
    asked_again = (news for news in client.news(f"{path}/events") if len(news["frames"]) > 2)
    assert next(asked_again)["frames"][:1] == first["frames"]
    assert path.rpartition("/")[2] in [game["id"] for game in client.ask("api/home")["open"]]
    stream.close()
    client.ask(f"{path}/leave", {})


ILLEGAL: list[tuple[dict[str, Any], str]] = [
    ({"ply": 0, "action": "q"}, "not legal; legal: "),
    ({"ply": 0, "action": ""}, "not legal"),
    ({"ply": 0, "action": "56"}, "not legal"),
    ({"ply": 1, "action": "5"}, "does not wait"),
    ({"ply": "0", "action": "5"}, "$.ply"),
    ({"ply": 0}, "action"),
]


@pytest.mark.slow
def test_what_is_not_legal_is_refused_and_the_game_goes_on(client: Client) -> None:
    """In one line that says why."""
    path = sit_down(client)
    next(news for news in client.news(f"{path}/events") if news["phase"] == "yours")
    for body, message in ILLEGAL:
        assert message in client.ask(f"{path}/act", body, 400)["error"]
    assert client.play(path)["phase"] == "ended"
    assert client.ask(f"{path}/act", {"ply": 0, "action": "5"}, 400)


@pytest.mark.slow
def test_a_game_that_is_left_is_kept_unfinished(client: Client) -> None:
    """Its bot's process ends; its hidden cards are not told; an empty game leaves no record."""
    before = len(lines(client))
    path = sit_down(client)
    next(news for news in client.news(f"{path}/events") if news["phase"] == "yours")
    assert client.ask(f"api/record?line={before + 1}", status=404)
    client.ask(f"{path}/leave", {})
    (*_, last) = client.news(f"{path}/events")
    assert (last["phase"], last["line"]) == ("left", None)
    assert client.ask(f"api/record?line={before + 1}", status=404)
    assert len(lines(client)) == before
    path = sit_down(client, begins="bot")
    next(news for news in client.news(f"{path}/events") if news["phase"] == "yours")
    client.ask(f"{path}/leave", {})
    (*_, last) = client.news(f"{path}/events")
    assert last["line"] == before + 1
    assert json.loads(lines(client)[-1])["win_type"] is None
    until(lambda: not bot_processes(client))


@pytest.mark.slow
def test_a_game_can_be_left_while_the_bot_thinks(client: Client, tmp_path: Path) -> None:
    """A bot that sleeps does not hold anybody up; two games go on beside each other."""
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    slow = sit_down(client, bot=str(tmp_path / "sleeper.py"), begins="bot")
    assert client.play(sit_down(client))["phase"] == "ended"
    assert next(client.news(f"{slow}/events"))["phase"] == "bot"
    client.ask(f"{slow}/leave", {})
    (*_, last) = client.news(f"{slow}/events")
    assert last["phase"] == "left"
    until(lambda: not bot_processes(client))


@pytest.mark.slow
def test_a_bots_fault_is_a_forfeit_with_its_evidence(client: Client, tmp_path: Path) -> None:
    """The file has a process of its own, and the record has the fault."""
    (tmp_path / "broken.py").write_text(BROKEN)
    last = client.play(sit_down(client, bot=str(tmp_path / "broken.py"), begins="bot"))
    assert last["result"] == "You win."
    assert "ZeroDivisionError" in last["evidence"]
    assert last["result"] not in last["evidence"]
    assert "<noise>" in last["evidence"]
    record = json.loads(lines(client)[-1])
    assert (record["win_type"], record["fault"]["kind"]) == ("forfeit", "exception")
    assert record["opponent"]["lane"] == "process"


@pytest.mark.slow
def test_there_are_not_too_many_games(client: Client) -> None:
    """One more than eight is refused until another one has been left."""
    assert MOST_OPEN == 8
    paths = [sit_down(client, bot="uniform") for _ in range(MOST_OPEN)]
    asked = {"bot": "uniform"}
    assert "leave one of them" in client.ask("api/games", asked, 400)["error"]
    watched = {"bots": ["uniform", "greedy"]}
    assert "leave one of them" in client.ask("api/watched", watched, 400)["error"]
    for path in paths:
        client.ask(f"{path}/leave", {})
        (*_,) = client.news(f"{path}/events")
    assert client.play(sit_down(client, bot="uniform"))["phase"] == "ended"


def test_there_is_no_game_of_another_kind(client: Client) -> None:
    """An id leads to a game of its kind, or to nothing."""
    path = sit_down(client)
    number = path.rpartition("/")[2]
    assert client.ask(f"api/watched/{number}/events", status=404)
    assert client.ask("api/games/99999/events", status=404)
    assert client.ask("api/games/x/leave", {}, 404)
    client.ask(f"{path}/leave", {})


@pytest.mark.slow
def test_a_hint_is_what_the_champion_would_do(client: Client) -> None:
    """With its chance to win after each action; there is none when it is not one's turn."""
    path = sit_down(client)
    news = next(news for news in client.news(f"{path}/events") if news["phase"] == "yours")
    hint = client.ask(f"{path}/hint", {})
    legal = news["frames"][-1]["legal"]
    assert hint["by"] == "champion"
    assert {thought["action"] for thought in hint["thoughts"]} == {*legal}
    (chosen,) = [thought for thought in hint["thoughts"] if thought["chosen"]]
    assert chosen["action"] == hint["action"]
    assert all(0 <= thought["value"] <= 1 for thought in hint["thoughts"])
    client.ask(f"{path}/leave", {})
    (*_,) = client.news(f"{path}/events")
    assert "not your turn" in client.ask(f"{path}/hint", {}, 400)["error"]


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
) -> tuple[list[bytes], list[bytes]]:
    """Return all that a server tells of a game that is left, and what it answers to requests."""
    published: list[tuple[News, bytes]] = []  # of a game that an earlier test has left, too
    answers: list[bytes] = []
    publish = News.publish

    def keep(news: News, document: dict[str, Any]) -> None:
        published.append((news, json.dumps(document).encode()))
        publish(news, document)

    with monkeypatch.context() as patch, running(results) as client:
        patch.setattr(Fixture, "draw", lambda *_: Draw(deal, (1, 2)))
        patch.setattr(News, "publish", keep)
        path = sit_down(client, bot=str(bot))
        game = client.table.hall.find(path.rpartition("/")[2], PersonGame)
        for ply in range(0, PLIES, 2):
            until(lambda ply=ply: game._awaited and len(game._awaited.history) == ply)
            until(lambda: next(client.news(f"{path}/events"))["frames"][-1]["legal"])
            with_frames = next(client.news(f"{path}/events"))
            answers.append(json.dumps(with_frames).encode())
            answers.append(client.ask_bytes(f"{path}/hint", {}))
            answers.append(client.ask_bytes("api/home"))
            answers.append(client.ask_bytes("api/records"))
            answers.append(client.ask_bytes("api/record?line=1", status=404))
            if ply < PLIES - 1:
                legal = with_frames["frames"][-1]["legal"]
                answers.append(client.ask_bytes(f"{path}/act", {"ply": ply, "action": legal[0]}))
        answers.append(client.ask_bytes(f"{path}/act", {"ply": PLIES - 1, "action": "q"}, 400))
        told = [text for news, text in published if news is game.news]
        if len(told) > 2 * PLIES:
            raise AssertionError("more is told than there are actions")
    return told, answers


@pytest.mark.slow
def test_no_byte_depends_on_what_the_person_cannot_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two deals differ in the bot's hand, in what is to come and in what is out of the game.

    All that the server tells and answers is the same, until the game is left.
    """
    bot = tmp_path / "lowest.py"
    bot.write_text(LOWEST)
    one, other = deals()
    assert sorted(one) == sorted(other)
    assert one[9] != other[9]
    seen = [
        sent_during(tmp_path / f"results-{number}", bot, deal, monkeypatch)
        for number, deal in enumerate((one, other))
    ]
    for told, answers in seen:
        assert len(told) >= PLIES
        assert len(answers) > 20
    names = [str(tmp_path / f"results-{number}").encode() for number in (0, 1)]
    first, second = (
        [text.replace(name, b"results") for part in parts for text in part]
        for parts, name in zip(seen, names, strict=True)
    )
    assert first == second


def test_news_are_made_of_the_view_and_of_nothing_else() -> None:
    """Whoever changes this: the State must not come near what is sent."""
    source = inspect.getsource(page_games.PersonGame)
    uses = [line.strip() for line in source.splitlines() if ".state" in line]
    assert uses == ["return view(self.recorded.state, self.recorded.seat)"]
