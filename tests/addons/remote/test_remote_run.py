"""Bots that live elsewhere in runs, leagues and at the table, and `arena serve-bot`."""

from __future__ import annotations

import http.client
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from starlette.exceptions import HTTPException

import arena
from arena.addons.league.league import League
from arena.addons.league.ledger import ACTIVE, WITHDRAWN
from arena.addons.league.submission import Refused
from arena.addons.remote import bot_server
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.tokens import SERVE_TOKEN
from tests import ROOT, markdown
from tests.addons.league.small import a_league, play
from tests.addons.remote.servers import Server, answering
from tests.addons.table import Client, running
from tests.conftest import run_command, start_command
from tests.kit import refused, run_python
from tests.rogues import write
from tests.waiting import until

PAGE = (ROOT / "docs" / "remote.md").read_text()
SECRET = "hush-4711"
FIRST = "return view.legal[0]"
FAILING_LATER = answering(status=503, when=lambda message: len(message["history"]) > 4)
CALM = {"panel": ["uniform", "greedy"], "round_pairs": 60}
HELLO = b'{"id": 0, "type": "hello", "protocol": 1, "rules": {}, "params": {}}\n'
NEW = (
    b'{"id": 1, "type": "new", "game": 0, "seat": 0, "seed": "00000000000000000000000000000000",'
    b'"seconds_per_decision": null, "seconds_per_game": null}'
)
KEPT = ("games.csv", "standings.csv", "faults.csv", "verdicts.csv", "head_to_head.csv")


@contextmanager
def served(*words: str, **variables: str) -> Iterator[str]:
    """Yield the address of `arena serve-bot`, which ends afterwards."""
    program = start_command(ROOT, "serve-bot", "--port", "0", *words, **variables)
    try:
        line = program.stdout.readline()
        assert "Ctrl-C ends it" in line, line
        yield line.split(" is at ")[1].partition(";")[0]
    finally:
        program.terminate()
        program.communicate()
    assert program.returncode == 128 + 15


@pytest.mark.slow
def test_a_served_bot_plays_the_same_games(tmp_path: Path) -> None:
    """The files of a run are those of the bot here, but for its address and the clocks."""
    with served("greedy") as url:
        keys = {"pairs": 6, "seed": 3, "workers": 2, "progress": False}
        arena.run([{"bot": url, "label": "greedy"}, "uniform"], out=tmp_path / "there", **keys)
        verified = run_command(tmp_path, "verify", "there")
    arena.run(["greedy", "uniform"], out=tmp_path / "here", **keys)
    for name in KEPT:
        assert (tmp_path / "there" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()
    there = json.loads((tmp_path / "there" / "manifest.json").read_text())["bots"][0]
    sha256 = resolve("greedy").sha256
    assert (there["lane"], there["bot"]) == ("remote", url)
    assert there["program"] == f"greedy {sha256[:12]}"
    assert verified.returncode == 0
    assert "greedy: not played again: it lives elsewhere" in verified.stdout


@pytest.mark.slow
def test_a_run_goes_on_after_an_outage(server: Server, tmp_path: Path) -> None:
    """One line and a status; then only what is missing is asked, and the files are the same."""
    words = ("play", f"a={server.url}", f"b={write(tmp_path, 'first', FIRST)}", "--pairs", "8")
    more = ("--seed", "5", "--workers", "1", "--no-repeat", "--quiet", "--out")
    whole = run_command(tmp_path, *words, *more, "whole")
    assert whole.returncode == 0, whole.stderr
    games = server.began

    server.before = answering(status=503, when=lambda _: server.began >= games + 6)
    broken = run_command(tmp_path, *words, *more, "part")
    assert broken.returncode == 1
    (line,) = broken.stderr.splitlines()
    assert line.startswith(f"error: a: {server.url}: it answers 503; what was played is kept in ")
    assert "Traceback" not in line
    assert not (tmp_path / "part" / "games.csv").exists()
    server.before = lambda *_: False
    games = server.began
    again = run_command(tmp_path, *words, *more, "part")
    assert again.returncode == 0, again.stderr
    assert server.began - games < 16
    for name in (*KEPT, "report.md", "manifest.json"):
        whole_file, part = (tmp_path / run / name for run in ("whole", "part"))
        assert whole_file.read_bytes() == part.read_bytes(), name


def post(url: str, body: bytes, session: str = "s", **headers: str) -> tuple[int, bytes]:
    """Send a request, and return status and body of the answer."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"))
    given = {"Arena-Session": session} if session else {}
    connection.request("POST", "/", body, given | headers)
    answer = connection.getresponse()
    return answer.status, answer.read()


@pytest.mark.slow
def test_a_server_answers_a_repeated_request_as_before(tmp_path: Path) -> None:
    """The bot is not asked again; what is no request is refused."""
    body = "return self.rng.choice(view.legal)"
    bot = write(tmp_path, "draws_lots", body, init="self.rng = __import__('random').SystemRandom()")
    choose = {"id": 2, "type": "choose", "game": 0, "seat": 0, "legal": "5678C", "hand": "5678C"}
    choose |= {"row": "xy", "piles": ["", ""], "taken": [False, False], "history": ""}
    choose |= {"opening": "xy", "round": 1, "opponent_cards": 5, "seconds_left": None}
    with served(str(bot), ARENA_SERVE_TOKEN=SECRET) as url:
        token = {"Authorization": f"Bearer {SECRET}"}
        assert post(url, b"")[0] == post(url, b"", Authorization="Bearer x")[0] == 401
        assert post(url, b"", **token) == (204, b"")
        missing = b"ValueError: the header Arena-Session is missing"
        assert post(url, b"", session="", **token) == (400, missing)
        assert post(url, b"x" * (1 << 20), **token)[0] == 413
        assert post(url, b"{}", **token)[0] == post(url, b"no", **token)[0] == 400
        assert post(url, json.dumps(choose).encode(), **token)[0] == 410
        status, said = post(url, HELLO, **token)
        assert status == 200
        assert json.loads(said)["ready"]
        assert post(url, NEW, **token)[0] == 200
        asked = [post(url, json.dumps(choose).encode(), **token) for _ in range(20)]
        assert len({*asked}) == 1
        assert json.loads(asked[0][1])["action"] in "5678C"
        assert post(url, NEW, **token)[0] == 410  # it is over


@pytest.mark.slow
def test_the_server_on_the_page_plays(tmp_path: Path) -> None:
    """It takes the first legal action, and gives a lost answer again."""
    (program,) = (block.text for block in markdown.fences(PAGE) if block.language == "python")
    code = program.replace(
        'ThreadingHTTPServer(("127.0.0.1", 8000), Bot).serve_forever()',
        'made = ThreadingHTTPServer(("127.0.0.1", 0), Bot)\n'
        "print(made.server_port, flush=True)\nmade.serve_forever()",
    )
    here = arena.run([write(tmp_path, "first", FIRST), "uniform"], pairs=2, progress=False)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as run:
        bot = {"bot": f"http://127.0.0.1:{int(run.stdout.readline())}", "label": "first"}
        there = arena.run([bot, "uniform"], pairs=2, progress=False)
        run.terminate()
    assert there.games.equals(here.games)


@pytest.mark.slow
def test_the_commands_on_the_page_play(tmp_path: Path) -> None:
    """The served bot, the token of its host, and the bot in a match, all on this machine."""
    play, serve, tokens = (
        block.text.strip()
        for block in markdown.fences(PAGE)
        if block.language == "console" and block.not_run
    )
    there, token = re.search(r"'([\d.:]+)=(\w+)", tokens).groups()
    assert f"http://{there}" in play
    _, _, spec, *port = shlex.split(serve)
    assert port == ["--port", "8000"]
    with served(spec.replace("4000", "4"), ARENA_SERVE_TOKEN=token) as url:
        here = url.removeprefix("http://")
        command = f"{tokens}\n{play} --pairs 1".replace(there, here).replace("...", "")
        done = markdown.run(command, tmp_path)
        assert (done.returncode, "forfeits" in done.stdout) == (0, False), done.stderr
        assert markdown.run(f"{play} --pairs 1".replace(there, here), tmp_path).returncode == 2


def test_others_need_a_token_and_sessions_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An open server would run processes for anybody, and those of who has gone must not stay."""
    monkeypatch.delenv(SERVE_TOKEN, raising=False)
    with pytest.raises(InputError, match="has to hold a token"):
        bot_server.serve(resolve("greedy"), "0.0.0.0", 0, print)
    loops = write(tmp_path, "loops", "pass", init="\n        while True: pass")
    with closing(bot_server.Hall(resolve(str(loops)))) as hall, ThreadPoolExecutor() as threads:
        hall.answer("one", HELLO)
        session = hall.sessions["one"]
        asked = threads.submit(hall.answer, "one", NEW)
        until(session.lock.locked)
        hall.end("one")
        with pytest.raises(HTTPException, match="410"):
            asked.result()
        assert session.process.pid is None


@pytest.mark.parametrize("verb", ["check", "serve-bot"])
@pytest.mark.slow
def test_what_needs_a_program_says_so(server: Server, verb: str, tmp_path: Path) -> None:
    """A check looks into a bot's process, and a server needs one."""
    refused(run_command(tmp_path, verb, server.url))


@pytest.mark.slow
def test_a_person_plays_against_a_server(server: Server, tmp_path: Path) -> None:
    """An outage is one line, and no forfeit: the game is kept unfinished."""
    words = ["-m", "arena", "human", server.url, "--seed", "1", "--out", "."]
    server.before = FAILING_LATER
    typed = "5\n6\n7\n8\nT\nC\nx\ny\nz\n2\n3\n4\n" * 60
    broken = run_python(*words, folder=tmp_path, text=typed)
    assert broken.returncode == 1
    assert "error: 127.0.0.1" in broken.stderr
    assert "it answers 503" in broken.stderr
    assert "Traceback" not in broken.stderr
    server.before = lambda *_: False
    again = run_python(*words, folder=tmp_path, text=typed)
    assert again.returncode == 0, again.stderr
    first, second = map(json.loads, (tmp_path / "games.jsonl").read_text().splitlines())
    assert (first["win_type"], first["winner"]) == (None, None)
    assert second["actions"].startswith(first["actions"])
    assert second["win_type"] is not None


def pairs_of(league: League, name: str) -> int:
    """Return how many pairs a bot has played."""
    (version,) = league.find(name)
    return sum(one["games"] // 2 for one in league.games.results.get(version.label, ()))


@pytest.mark.slow
def test_a_league_plays_on_without_a_server_that_is_away(server: Server, tmp_path: Path) -> None:
    """Also with another version there, until that is handed in; an outage is no refusal."""
    with a_league(tmp_path / "club", **CALM) as league:
        league.desk.submit(server.url, "ann")
        server.before = answering(status=503)
        (result,) = play(league)
        assert result.pairs > 0
        (why,) = result.away
        assert f"{server.url}: it answers 503" in why
        assert not pairs_of(league, "ann")
        assert pairs_of(league, "greedy")
        server.before = lambda *_: False
        assert not play(league)[0].away
        assert pairs_of(league, "ann")
        server.version = "2"
        (why,) = play(league)[0].away
        assert "is not what was submitted" in why
        league.desk.submit(server.url, "ann")
        assert [version.state for version in league.find("ann")] == ["replaced", "active"]
        assert not play(league)[0].away
        assert league.withdraw("ann").state == ACTIVE  # as it was
        assert league.find("ann")[-1].state == WITHDRAWN
    with a_league(tmp_path / "other", **CALM) as league:
        server.reply = lambda one: (
            {"error": "no model"} if one["type"] == "choose" else server.play(one)
        )
        with pytest.raises(Refused, match="exception: no model"):
            league.desk.submit(server.url, "ann")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    """A browser at a table without games."""
    with running(tmp_path / "results") as made:
        yield made


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
def test_an_outage_keeps_the_game_open(client: Client, server: Server, bots: list[str]) -> None:
    """It is no forfeit; a game that is watched leaves no record."""
    server.before = FAILING_LATER
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
    wrong = ("http://127.0.0.1", "http://me:secret@127.0.0.1:8000")
    for bots in ([server.url], ["greedy", server.url], *([one] for one in wrong)):
        error = client.ask("api/games", {"bots": bots}, 400)["error"]
        assert "http://" in error
        assert "\n" not in error
    assert client.ask("api/home")["games"] == []
