"""Whole runs with a bot that lives elsewhere: outages, tokens, files, and `arena serve-bot`."""

from __future__ import annotations

import http.client
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from concurrent import futures
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from starlette.exceptions import HTTPException

import arena
from arena.addons.remote import bot_server
from arena.entries.resolve import resolve
from arena.errors import InputError, Unreachable
from arena.tokens import SERVE_TOKEN, TOKENS
from tests import ROOT, markdown
from tests.addons.cluster.cluster import Cluster
from tests.addons.remote.servers import Handler, Message, Server, serving
from tests.rogues import write
from tests.waiting import until

PAGE = (ROOT / "docs" / "remote.md").read_text()
SECRET = "hush-4711"
FIRST = "    def choose(self, view, /):\n        return view.legal[0]"
KEPT = ("games.csv", "standings.csv", "faults.csv", "verdicts.csv", "head_to_head.csv")


@pytest.fixture
def server() -> Iterator[Server]:
    """A good server."""
    with serving() as made:
        yield made


def command(*words: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the arena."""
    return subprocess.run(
        [sys.executable, "-m", "arena", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | variables,
        cwd=ROOT,
    )


@contextmanager
def served(*words: str, **variables: str) -> Iterator[str]:
    """Yield the address of `arena serve-bot`, which ends afterwards."""
    program = subprocess.Popen(
        [sys.executable, "-m", "arena", "serve-bot", "--port", "0", *words],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | variables,
        cwd=ROOT,
    )
    assert program.stdout
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
        verified = command("verify", tmp_path / "there")
    arena.run(["greedy", "uniform"], out=tmp_path / "here", **keys)
    for name in KEPT:
        assert (tmp_path / "there" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()
    there = json.loads((tmp_path / "there" / "manifest.json").read_text())["bots"][0]
    sha256 = resolve("greedy").sha256
    assert (there["lane"], there["bot"]) == ("remote", url)
    assert there["program"] == f"greedy {sha256[:12]}"
    assert verified.returncode == 0
    assert "greedy: not replayed: it lives elsewhere" in verified.stdout


@pytest.mark.slow
def test_a_run_goes_on_after_an_outage(server: Server, tmp_path: Path) -> None:
    """One line and a status; then only what is missing is asked, and the files are the same."""
    words = ("play", f"a={server.url}", f"b={write(tmp_path, 'first', FIRST)}", "--pairs", 8)
    more = ("--seed", 5, "--workers", 1, "--no-repeat", "--quiet", "--out")
    whole = command(*words, *more, tmp_path / "whole")
    assert whole.returncode == 0, whole.stderr
    games = server.began

    def fail(handler: Handler, _: list[Message]) -> bool:
        if server.began < games + 6:
            return False
        handler.send(b"", 503)
        return True

    server.before = fail
    broken = command(*words, *more, tmp_path / "part")
    assert broken.returncode == 1
    (line,) = broken.stderr.splitlines()
    assert line.startswith(f"error: a: {server.url}: it answers 503; what was played is kept in ")
    assert "Traceback" not in line
    assert not (tmp_path / "part" / "games.csv").exists()
    server.before = lambda *_: False
    games = server.began
    again = command(*words, *more, tmp_path / "part")
    assert again.returncode == 0, again.stderr
    assert server.began - games < 16
    for name in (*KEPT, "report.md", "manifest.json"):
        whole_file, part = (tmp_path / run / name for run in ("whole", "part"))
        assert whole_file.read_bytes() == part.read_bytes(), name


@pytest.mark.slow
def test_a_token_stands_in_no_file(server: Server, tmp_path: Path) -> None:
    """Also where the server sends it back, in an error and in what is no answer."""

    def tell(handler: Handler, messages: list[Message]) -> bool:
        said = handler.headers["Authorization"]
        assert said == f"Bearer {SECRET}"
        if messages[0]["type"] != "choose":
            return False
        text = {"id": messages[0]["id"], "error": said, "traceback": said, "output": said}
        handler.send(json.dumps(text).encode() if messages[0]["seat"] else said.encode())
        return True

    server.before = tell
    tokens = {TOKENS: f"127.0.0.1:{server.server_address[1]}={SECRET}"}
    out = tmp_path / "run"
    words = ("play", server.url, "uniform", "--pairs", 2, "--verbose", "--out", out)
    done = command(*words, **tokens)
    assert done.returncode == 0, done.stderr
    assert "Bearer ***" in (out / "faults.csv").read_text()
    files = [path for path in out.rglob("*") if path.is_file()]
    assert len(files) > 10
    told = [done.stdout.encode(), done.stderr.encode(), *(path.read_bytes() for path in files)]
    assert not any(SECRET.encode() in content for content in told)


@pytest.mark.slow
def test_redirects_are_not_followed(server: Server) -> None:
    """Neither with a game nor with a token."""
    with serving() as other:
        server.before = lambda handler, some: (
            some[0]["type"] == "choose" and handler.send(b"", 307, Location=other.url) is None
        )
        with pytest.raises(Unreachable, match="it answers 307"):
            arena.run([server.url, "uniform"], pairs=1, progress=False)
        assert other.requests == other.pings == 0


@pytest.mark.slow
def test_another_version_in_a_run_ends_it(server: Server, tmp_path: Path) -> None:
    """Each session is asked for its version; the new one is then a changed bot."""
    sessions = count()

    def turn(_: Handler, messages: list[Message]) -> bool:
        if messages[0]["type"] == "hello":
            server.version = "2" if next(sessions) else "1"  # after the one that resolves it
        return False

    server.before = turn
    keys = {"pairs": 2, "progress": False, "out": tmp_path / "run"}
    with pytest.raises(Unreachable, match="its version is '2' now, and was '1'"):
        arena.run([server.url, "uniform"], **keys)
    with pytest.raises(arena.ChangedBots, match="changed since"):
        arena.run([server.url, "uniform"], **keys)


@pytest.mark.study
@pytest.mark.parametrize("where", ["pool", "dask"])
def test_other_machines_ask_it_as_this_one(server: Server, where: str, tmp_path: Path) -> None:
    """Each machine of a cluster asks the server itself; an outage ends the run there, too."""
    keys = {"pairs": 2, "seed": 1, "progress": False}
    here = arena.run([server.url, "uniform"], **keys).games
    with ExitStack() as opened:
        if where == "pool":
            executor: Any = opened.enter_context(futures.ProcessPoolExecutor(1))
        else:
            pytest.importorskip("distributed")
            cluster = opened.enter_context(Cluster(tmp_path))
            cluster.add()
            executor = {"kind": "dask", "scheduler": cluster.address, "patience": 600}
        there = arena.run([server.url, "uniform"], executor=executor, **keys).games
        assert there.equals(here)
        server.before = lambda handler, some: (
            some[0]["type"] == "choose" and handler.send(b"", 500) is None
        )
        with pytest.raises(Unreachable, match="it answers 500"):
            arena.run([server.url, "uniform"], executor=executor, **keys)


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
    body = "    def choose(self, view, /):\n        return self.rng.choice(view.legal)"
    bot = write(tmp_path, "draws_lots", body, init="self.rng = __import__('random').SystemRandom()")
    new = {"id": 1, "type": "new", "game": 0, "seat": 0, "seed": "0" * 32}
    new |= {"seconds_per_decision": None, "seconds_per_game": None}
    choose = {"id": 2, "type": "choose", "game": 0, "seat": 0, "legal": "5678C", "hand": "5678C"}
    choose |= {"row": "xy", "piles": ["", ""], "taken": [False, False], "history": ""}
    choose |= {"opening": "xy", "round": 1, "opponent_cards": 5, "seconds_left": None}
    hello = {"id": 0, "type": "hello", "protocol": 1, "rules": {}, "params": {}}
    with served(str(bot), ARENA_SERVE_TOKEN=SECRET) as url:
        token = {"Authorization": f"Bearer {SECRET}"}
        assert post(url, b"")[0] == post(url, b"", Authorization="Bearer x")[0] == 401
        assert post(url, b"", **token) == (204, b"")
        assert post(url, b"", session="", **token)[0] == 400
        assert post(url, b"x" * (1 << 20), **token)[0] == 413
        assert post(url, b"{}", **token)[0] == post(url, b"no", **token)[0] == 400
        assert post(url, json.dumps(choose).encode(), **token)[0] == 410
        status, said = post(url, json.dumps(hello).encode(), **token)
        assert status == 200
        assert json.loads(said)["ready"]
        assert post(url, json.dumps(new).encode(), **token)[0] == 200
        asked = [post(url, json.dumps(choose).encode(), **token) for _ in range(20)]
        assert len({*asked}) == 1
        assert json.loads(asked[0][1])["action"] in "5678C"
        assert post(url, json.dumps(new).encode(), **token)[0] == 410  # it is over


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
        assert run.stdout
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
    there, token = re.search(r"'([\d.:]+)=(\w+)", tokens).groups()  # type: ignore[union-attr]
    assert f"http://{there}" in play
    _, _, spec, *port = shlex.split(serve)
    assert port == ["--port", "8000"]
    with served(spec.replace("4000", "4"), ARENA_SERVE_TOKEN=token) as url:
        here = url.removeprefix("http://")
        command = f"{tokens}\n{play} --pairs 1".replace(there, here).replace("...", "")
        done = markdown.run(command, tmp_path)
        assert (done.returncode, "forfeits" in done.stdout) == (0, False), done.stderr
        assert markdown.run(f"{play} --pairs 1".replace(there, here), tmp_path).returncode == 2


def test_others_need_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """An open server would run a bot's processes for anybody."""
    monkeypatch.delenv(SERVE_TOKEN, raising=False)
    with pytest.raises(InputError, match="has to hold a token"):
        bot_server.serve(resolve("greedy"), "0.0.0.0", 0, print)


@pytest.mark.parametrize("verb", [("check",), ("serve-bot",)])
@pytest.mark.slow
def test_what_needs_a_program_says_so(server: Server, verb: tuple[str, ...]) -> None:
    """A check looks into a bot's process, and a server needs one."""
    done = command(*verb, server.url)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_a_session_that_thinks_for_ever_can_be_ended(tmp_path: Path) -> None:
    """The arena that asked has given it up, and its process must not stay."""
    loops = write(tmp_path, "loops", "    pass", init="\n        while True: pass")
    new = {"id": 1, "type": "new", "game": 0, "seat": 0, "seed": "0" * 32}
    new |= {"seconds_per_decision": None, "seconds_per_game": None}

    with closing(bot_server.Hall(resolve(str(loops)))) as hall, ThreadPoolExecutor() as threads:
        hall.answer("one", b'{"id":0,"type":"hello","rules":{},"params":{}}\n')
        session = hall.sessions["one"]
        asked = threads.submit(hall.answer, "one", json.dumps(new).encode())
        until(session.lock.locked)
        hall.end("one")
        with pytest.raises(HTTPException, match="410"):
            asked.result()
        assert session.process
        assert session.process.pid is None


@pytest.mark.slow
def test_a_person_plays_against_a_server(server: Server, tmp_path: Path) -> None:
    """An outage is one line, and no forfeit: the game is kept unfinished."""
    words = [sys.executable, "-m", "arena", "human", server.url, "--seed", "1", "--out", tmp_path]
    server.before = lambda handler, some: (
        some[0]["type"] == "choose"
        and len(some[0]["history"]) > 4
        and handler.send(b"", 503) is None
    )
    typed = "5\n6\n7\n8\nT\nC\nx\ny\nz\n2\n3\n4\n" * 60
    keys: dict[str, Any] = {"text": True, "capture_output": True, "cwd": ROOT, "check": False}
    broken = subprocess.run(words, input=typed, **keys)
    assert broken.returncode == 1
    assert "error: 127.0.0.1" in broken.stderr
    assert "it answers 503" in broken.stderr
    assert "Traceback" not in broken.stderr
    server.before = lambda *_: False
    again = subprocess.run(words, input=typed, **keys)
    assert again.returncode == 0, again.stderr
    first, second = map(json.loads, (tmp_path / "games.jsonl").read_text().splitlines())
    assert (first["win_type"], first["winner"]) == (None, None)
    assert second["actions"].startswith(first["actions"])
    assert second["win_type"] is not None
