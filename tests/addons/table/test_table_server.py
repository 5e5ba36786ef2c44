"""The server of the table: who is let in, and its command."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import stat
import threading
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from urllib.parse import unquote, urlsplit

import psutil
import pytest

from arena.addons.table import table_games
from arena.addons.table import table_server as module
from arena.addons.table.table_games import TableGame
from arena.addons.table.table_server import MOST_BODY, POLICY, REFUSED, write_page
from arena.errors import ArenaError, InputError
from arena.processes import FOLDER_VARIABLE
from arena.replays.html_page import SCRIPTS
from arena.reports.http_server import listen
from arena.runs.judge_games import review_record
from arena.tournament.asking import PARTS
from arena.tournament.schedule import Fixture
from engine import Record, cards_of, sample
from engine.play import Draw
from engine.state import State, random_deal
from engine.view import view
from tests.addons.table import LOWEST, SLEEPER, Client, running
from tests.addons.table.test_human import command, expected
from tests.conftest import Arena, start_command
from tests.kit import refused
from tests.tiers import few
from tests.waiting import PATIENCE, until

PATHS = ["table.js", "api/home", "api/games/1", "api/games/1/act"]


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Return a client of one server for all tests that need no other."""
    with running(tmp_path_factory.mktemp("results")) as client:
        yield client


def is_refused(client: Client, method: str, path: str, headers: dict[str, str]) -> bool:
    """Return whether a request is refused, with nothing but where the address is."""
    answer, content = client.send(method, path, headers, b"{}")
    assert answer.headers["content-security-policy"] == POLICY
    assert not [name for name in answer.headers if name.lower().startswith("access-")]
    return (answer.status, content.decode()) == (403, "" if method == "HEAD" else REFUSED)


def test_the_address_has_256_random_bits_and_no_other_is_let_in(client: Client) -> None:
    """Neither a part of it, nor one with other letters, with or without the headers of a page."""
    secret = client.root.strip("/")
    assert len(urlsafe_b64decode(f"{secret}=")) == 32
    for root in ("/", "/x/", f"/{secret[:-1]}/", f"/{secret[::-1]}/", f"/{secret}x/", "/\u00e4/"):
        for path in ("", *PATHS):
            address = f"{root}{path}".encode().decode("latin1").replace("\u00c3\u00a4", "%C3%A4")
            assert is_refused(client, "GET", address, client.headers), address
    assert client.send("GET", client.root, {})[0].status == 200
    assert secret not in REFUSED


def test_who_may_open_the_page_and_what_changes_something(client: Client) -> None:
    """The page may be opened from anywhere; a POST needs an Origin and JSON."""
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert client.send("GET", client.root, headers)[0].status == 200
    for method, path in (("POST", ""), ("HEAD", ""), *(("GET", path) for path in PATHS)):
        assert is_refused(client, method, f"{client.root}{path}", headers)
    path = f"{client.root}api/games"
    assert is_refused(client, "POST", path, {"Content-Type": "application/json"})
    headers = client.headers | {"Content-Type": "text/plain"}
    assert client.send("POST", path, headers, b'{"bots": ["greedy"]}')[0].status == 400


def test_another_host_or_origin_is_refused_everywhere(client: Client) -> None:
    """Even with the address: a site whose name leads to 127.0.0.1 (DNS rebinding) has the browser.

    The same site is another port of this machine.
    """
    for host in ("example.com", "127.0.0.1", "127.0.0.1:1", "localhost", "[::1]:{port}"):
        headers = client.headers | {"Host": host.format(port=client.port)}
        for path in ("", *PATHS):
            assert is_refused(client, "GET", f"{client.root}{path}", headers)
    for name, site in (
        *(("Origin", site) for site in ("https://example.com", "null", "http://127.0.0.1:1")),
        *(("Sec-Fetch-Site", site) for site in ("cross-site", "same-site")),
    ):
        for path in PATHS:
            for method in ("GET", "POST", "OPTIONS", "DELETE"):
                headers = client.headers | {name: site}
                assert is_refused(client, method, f"{client.root}{path}", headers)


HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
}


def test_the_page_loads_only_files_of_the_server(client: Client) -> None:
    """It has no script of its own; each answer has the headers that keep it in."""
    page = client.ask_bytes("").decode()
    tags = re.findall(r"<(?:script|link|style|img)[^>]*>", page)
    names = [name for tag in tags for name in re.findall(r'(?:src|href)="([^"]+)"', tag)]
    assert len(tags) == len(names) > len(SCRIPTS)
    assert "<script>" not in page
    assert not re.search(r"\son\w+=", page)
    for name in names:
        assert name == "data:," or client.ask_bytes(name)
    for path, status in (("", 200), ("api/home", 200), ("nothing", 404), ("api/games/99", 404)):
        answer, _ = client.send("GET", f"{client.root}{path}", client.headers)
        assert answer.status == status
        assert dict(answer.headers).items() >= HEADERS.items()
        assert "server" not in answer.headers
    assert "unsafe" not in POLICY


BODIES: list[tuple[bytes, str]] = [
    (b"", "truncated"),
    (b"[]", "Expected `object`"),
    (b'{"bots": []}', "$.bots"),
    (b'{"bots": [""]}', "$.bots[0]"),
    (b'{"bots": ["greedy", "greedy", "greedy"]}', "$.bots"),
    (b'{"bots": ["greedy"], "more": 1}', "more"),
    (b'{"bots": ["greedy"], "begins": "them"}', "them"),
    (b'{"bots": ["no_such_bot"]}', "no bot 'no_such_bot'"),
    (b'{"bots": ["human"]}', "human"),
    (b'{"bots": ["greedy", "./none.py"]}', "none.py"),
    (b'{"bots": ["greedy(speed=3)"]}', "speed"),
    (b"\xff", "invalid"),
    (b"[" * 5000, "Expected"),
]


def test_a_body_that_does_not_fit_is_refused_in_one_line(client: Client) -> None:
    """And nothing is begun."""
    before = client.ask("api/home")["games"]
    for body, message in BODIES:
        answer, content = client.send("POST", f"{client.root}api/games", client.headers, body)
        assert (answer.status, b"\\n" in content) == (400, False)
        assert message.lower() in content.decode().lower()
    assert client.ask("api/home")["games"] == before


def test_the_server_is_bound_to_this_machine_alone_and_bodies_have_a_limit(client: Client) -> None:
    """To 127.0.0.1, and not to all addresses; a port in use is refused."""
    with listen(0) as bound:
        assert bound.getsockname()[0] == "127.0.0.1"
    with pytest.raises(InputError, match=f"--port {client.port}: "), listen(client.port):
        pass
    sent = b" " * (MOST_BODY + 1)
    answer, content = client.send("POST", f"{client.root}api/games", client.headers, sent)
    assert (answer.status, content) == (413, b"larger than 16 KB")


def test_the_page_with_the_address_is_a_new_file_of_this_user(tmp_path: Path) -> None:
    """Neither a file nor a link that lies there is followed; its text is no markup."""
    page, other = tmp_path / "page.html", tmp_path / "other"
    before = os.umask(0)
    try:
        write_page(page, 'http://localhost/?a=1&b="<>')
    finally:
        os.umask(before)
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert "http://localhost/?a=1&amp;b=&quot;&lt;&gt;" in page.read_text()
    other.write_text("mine")
    (tmp_path / "link").symlink_to(other)
    (tmp_path / "loose").symlink_to(tmp_path / "nowhere")
    for taken in ("other", "link", "loose"):
        with pytest.raises(FileExistsError):
            write_page(tmp_path / taken, "http://localhost/")
    assert other.read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()


def open_address(address: str) -> tuple[HTTPConnection, str, dict[str, str]]:
    """Open the printed address as a browser does."""
    parts = urlsplit(address.strip())
    assert parts.hostname == "127.0.0.1"
    assert parts.port is not None
    connection = HTTPConnection(parts.hostname, parts.port, timeout=PATIENCE)
    connection.request("GET", parts.path)
    assert b"<title>" in connection.getresponse().read()
    origin = f"http://127.0.0.1:{parts.port}"
    return connection, parts.path, {"Origin": origin, "Content-Type": "application/json"}


def is_alive(process: psutil.Process) -> bool:
    """Return whether a process is there, and not only waits to be forgotten."""
    with suppress(psutil.NoSuchProcess):
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    return False


@pytest.mark.parametrize(
    ("number", "status"),
    few([(signal.SIGTERM, 143), (signal.SIGINT, 0), (signal.SIGHUP, 129)], 0, unpack=True),
)
def test_a_signal_ends_it_and_leaves_no_process(tmp_path: Path, number: int, status: int) -> None:
    """Also while a bot thinks, and a page waits for news, which it gets."""
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    server = start_command(tmp_path, "table", "--no-browser")
    assert server.stdout is not None
    try:
        connection, root, headers = open_address(server.stdout.readline())
        assert "Ctrl-C" in server.stdout.readline()
        body = b'{"bots": ["./sleeper.py"], "begins": "bot"}'
        connection.request("POST", f"{root}api/games", body, headers)
        path = f"{root}api/games/{json.load(connection.getresponse())['id']}"
        news = {"phase": "", "version": 0}
        while news["phase"] != "bot":
            connection.request("GET", f"{path}?after={news['version']}", headers=headers)
            news = json.load(connection.getresponse())
        below = until(lambda: psutil.Process(server.pid).children(recursive=True))
        connection.request("GET", f"{path}?after={news['version']}", headers=headers)
        server.send_signal(number)
        assert json.load(connection.getresponse())["phase"] == "bot"
        out, errors = server.communicate(timeout=PATIENCE)
    finally:
        server.kill()
    assert (server.returncode, out, errors) == (status, "", "")
    until(lambda: not any(map(is_alive, below)))
    assert (tmp_path / "results" / "human" / "games.jsonl").read_text() == ""


@pytest.mark.slow
def test_a_page_that_leads_to_the_table_is_opened_in_the_browser(tmp_path: Path) -> None:
    """Only the user can read it, and it goes with the server. $BROWSER is given the page."""
    opened = tmp_path / "opened"
    browser = tmp_path / "browser.sh"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}.part\nmv {opened}.part {opened}\n')
    browser.chmod(0o755)
    server = start_command(tmp_path, "table", BROWSER=str(browser))
    assert server.stdout is not None
    try:
        until(opened.exists)
        page = Path(unquote(urlsplit(opened.read_text().strip()).path))
        assert stat.S_IMODE(page.stat().st_mode) == 0o600
        assert stat.S_IMODE(page.parent.stat().st_mode) == 0o700
        (address,) = set(re.findall(r"http:[^\"]+", page.read_text()))
        connection, root, headers = open_address(address)
        connection.request("GET", f"{root}api/home", headers=headers)
        assert connection.getresponse().status == 200
    finally:
        server.send_signal(signal.SIGINT)
        out, _ = server.communicate(timeout=PATIENCE)
    assert out.startswith(f"{address}\n")
    assert not page.exists()
    assert server.returncode == 0


def test_the_options_say_where_and_whether_a_browser_is_opened(
    arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Port 0 is a free one; results that cannot be written are refused before all."""
    served: list[tuple[str, int, bool]] = []

    def serve(folder: Path, number: int, _tell: object, show: object) -> None:
        served.append((str(folder), number, show is not None))

    with monkeypatch.context() as patch:
        patch.setattr(module, "serve", serve)
        for words in ("", "--no-browser", "--port 8123 --results elsewhere"):
            assert arena("table", *words.split()).returncode == 0
    assert served == [("results", 0, True), ("results", 0, False), ("elsewhere", 8123, True)]
    (tmp_path / "file").touch()
    line = refused(arena("table", "--no-browser", "--results", "file"))
    assert line.startswith("file/human: cannot be written")


PLIES = 9  # until the person has acted four times, and the bot, too


@pytest.fixture(autouse=True)
def seed_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every game has seed 0, or 1 if the bot is to begin."""
    monkeypatch.setattr("arena.addons.table.table_server.secrets.randbelow", lambda _: 0)


def frames_of(news: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = news["timeline"]["frames"]
    return found


def actions_of(news: dict[str, Any]) -> str:
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
def test_a_record_is_that_of_the_terminal(client: Client, tmp_path: Path, arena: Arena) -> None:
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


def test_a_game_is_there_in_every_tab_and_what_is_not_legal_is_refused(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    monkeypatch.setattr(module, "_LONGEST", 0.0)  # an answer without news
    later = client.until(path, "yours")
    assert client.ask(f"{path}?after={later['version']}") == later
    client.ask(f"{path}/leave", {})
    path = client.begin("greedy", begins="bot")
    assert client.until(path, "yours")["version"] == 3  # begun, and the bot has been thinking
    client.ask(f"{path}/leave", {})
    for other in ("api/games/99999", "api/games/x"):
        assert client.ask(other, status=404)
        assert client.ask(f"{other}/leave", {}, 404)


@pytest.mark.slow
def test_a_game_that_is_left_is_kept_unfinished(client: Client, tmp_path: Path) -> None:
    """No hidden card is told, an empty game leaves no record, and a bot that sleeps can be left."""
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
def test_a_finished_game_is_judged(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_game_that_fails_says_so(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its page gets one line; what nobody has foreseen goes to the terminal, too."""
    hooked, unforeseen = list[Any](), ZeroDivisionError("by 0")
    monkeypatch.setattr(threading, "excepthook", hooked.append)
    for error, why in (
        (ArenaError("no room"), "no room"),
        (unforeseen, "an error of the arena: see its terminal"),
    ):
        monkeypatch.setattr(TableGame, "_play", Mock(side_effect=error))
        last = client.play(client.begin("greedy"))
        ending = f"The game has failed: {why}"
        assert (last["phase"], last["timeline"]["ending"]) == ("failed", ending)
    assert [args.exc_value for args in hooked] == [unforeseen]


def deals() -> tuple[bytes, bytes]:
    """Return two deals that seat 0 cannot tell apart while both seats play their lowest cards."""
    for seed in count():
        rng = random.Random(seed)
        state = State(random_deal(rng))
        for _ in range(PLIES - 1):
            state.apply(state.legal()[0])
        twin = sample(view(state, 0), rng)
        own, other = (cards_of(one.hands[1])[0] for one in (state, twin))
        if own != other >= max(state.history[1::2]):
            return state.deal(), twin.deal()
    raise LookupError


def sent_during(
    results: Path, bot: Path, deal: bytes, monkeypatch: pytest.MonkeyPatch
) -> list[bytes]:
    """Return all that a server answers until a game is left."""
    answers: list[bytes] = []
    with monkeypatch.context() as patch, running(results) as client:
        patch.setattr(Fixture, "draw", lambda *_: Draw(deal, (1, 2)))
        path = client.begin(str(bot), begins="me")
        for ply in range(0, PLIES, 2):
            mine = (news for news in client.news(path) if news["phase"] == "yours")
            news = next(news for news in mine if len(frames_of(news)) == ply + 1)
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
def test_no_byte_tells_what_is_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bot's hand, what is to come and what is out of the game; also when the game is left."""
    bot = tmp_path / "lowest.py"
    bot.write_text(LOWEST)
    one, other = deals()
    assert one[:12] != other[:12]
    first, second = (
        sent_during(tmp_path / f"results-{number}", bot, deal, monkeypatch)
        for number, deal in enumerate((one, other))
    )
    assert len(first) > 15
    assert first == second
