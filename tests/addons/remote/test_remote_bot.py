"""A bot that lives elsewhere plays as any other; rogue servers, networks that fail, and clocks."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from arena.addons.league.league_settings import Settings
from arena.addons.remote import remote_bot
from arena.addons.remote.remote_bot import TOKENS, find_token, parse_address
from arena.entries.resolve import default_lane, resolve
from arena.entries.spec import HERE
from arena.errors import InputError, Unreachable
from arena.executors.worker import Worker
from arena.lanes.limits import Limits
from arena.tournament.plan import Chunk, Played
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.addons.remote.servers import Handler, Message, Server, answering, serving
from tests.rogues import write
from tests.tiers import few

LIMITS = Limits(decision=60.0)
FIRST = "return view.legal[0]"
Before = Callable[[Handler, list[Message]], bool]


def played(
    spec: str | Path,
    folder: Path,
    pairs: int = 1,
    limits: Limits = LIMITS,
    lane: str | None = None,
) -> Played:
    """Return the games of a bot against uniform."""
    entries = [resolve(str(spec), label="bot", lane=lane), resolve("uniform")]
    tournament = Tournament("test", 0, pairs, entries, STANDARD, limits)
    with closing(Worker(tournament, folder / f"worker-{time.monotonic_ns()}")) as worker:
        return worker.play(Chunk(0, 0, pairs))


@pytest.mark.slow
@pytest.mark.parametrize("games", [1, 16])
def test_a_game_is_the_same_as_in_any_lane(server: Server, games: int, tmp_path: Path) -> None:
    """One game in a request, and many; each session is ended."""
    server.games = games
    here = played(write(tmp_path, "first", FIRST), tmp_path, pairs=4)
    there = played(server.url, tmp_path, pairs=4)
    assert there.results == here.results
    assert server.ended >= 3  # one for its version, and one for each seat
    most = max(int(key.rpartition("-")[2]) for key in server.keys)
    assert (server.requests < most) == (games > 1)


@pytest.mark.slow
def test_a_network_that_fails_plays_no_decision_twice(server: Server, tmp_path: Path) -> None:
    """Each request that was reset comes again with its key, and gets the answer of before."""
    failed: Counter[str] = Counter()

    def reset(handler: Handler, _: list[Message]) -> bool:
        key = handler.headers["Idempotency-Key"]
        if int(key.rpartition("-")[2]) % 3 or failed[key] >= 2:
            return False
        failed[key] += 1
        handler.reset()
        return True

    expected = played(server.url, tmp_path).results
    before, asked = server.requests, len(server.keys)
    server.before = reset
    assert played(server.url, tmp_path).results == expected
    assert len(failed) > 5
    assert server.requests - before > len(server.keys) - asked


def endless(handler: Handler, messages: list[Message]) -> bool:
    """Answer with 100 MB, as long as they are taken."""
    if messages[0]["type"] != "choose":
        return False
    handler.send_response(200)
    handler.send_header("Content-Length", str(100 << 20))
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b" " * (1 << 20))
    return True


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (answering(b"hello\n"), "not an answer"),
        (endless, "an answer of more than 65,537 bytes"),
        (answering(b""), "an empty line instead of an answer"),
        (answering(b'{"id":77}\n'), "an answer to message 77 instead of 2"),
    ],
)
def test_bad_answers_are_faults(
    server: Server, wrong: Before, message: str, tmp_path: Path
) -> None:
    """The fault is of the same kind as in a process, and comes back in the repetition."""
    server.before = wrong
    results = played(server.url, tmp_path).results
    faults = [game.fault for game in results if game.fault]
    assert [fault.kind for fault in faults] == ["protocol"] * 2
    assert message in faults[0].message


@pytest.mark.parametrize(
    ("said", "kind"),
    few(
        [
            ({"action": "C9"}, "illegal"),
            ({"error": "boom"}, "exception"),
            ({"error": "full", "kind": "memory"}, "memory"),
            ({"error": "gone", "kind": "crash"}, "crash"),
            ({"error": "odd", "kind": "idle"}, "exception"),
            ({}, "protocol"),
        ],
        unpack=True,
    ),
)
def test_faults_have_their_kinds(server: Server, said: Message, kind: str, tmp_path: Path) -> None:
    """It may say of itself what its own server saw, but not what would put it out of a run."""
    server.reply = lambda one: said if one["type"] == "choose" else server.play(one)
    results = played(server.url, tmp_path).results
    assert {game.fault.kind for game in results if game.fault} == {kind}


def sleep(_: Handler, messages: list[Message]) -> bool:
    """Answer late in round 2."""
    time.sleep(3.0 * (messages[0].get("round") == 2))
    return False


def drip(handler: Handler, messages: list[Message]) -> bool:
    """Send a byte now and then in round 2."""
    if messages[0].get("round") != 2:
        return False
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    for _ in range(200):
        handler.wfile.write(b"x")
        time.sleep(0.05)
    return True


@pytest.mark.slow
@pytest.mark.parametrize("late", [sleep, drip])
def test_no_answer_in_time_is_a_servers_fault(server: Server, late: Before, tmp_path: Path) -> None:
    """The network is not to blame, as it answers an empty request; a whole answer is in time."""
    server.before = late
    fault = played(server.url, tmp_path, limits=Limits(decision=0.1)).results[0].fault
    assert (fault.kind, fault.message) == ("timeout", "no answer within 0.1 s")


@pytest.mark.slow
def test_a_server_that_falls_silent_is_an_outage(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is late, and answers no empty request either: nobody knows whose fault that is."""

    def fall_silent(_: Handler, messages: list[Message]) -> bool:
        if messages[0].get("round") == 2:
            monkeypatch.setattr(remote_bot, "_CONNECT", 0.1)
            server.delay = 9.0
            time.sleep(server.delay)
            server.delay = 0.0
        return False

    server.before = fall_silent
    unplayed = played(server.url, tmp_path, limits=Limits(decision=0.1))
    assert not unplayed.results
    assert unplayed.refusal.startswith(f"bot: {server.url}: ")


@pytest.mark.slow
def test_all_tries_of_a_request_share_its_time(server: Server, tmp_path: Path) -> None:
    """A connection that is reset again and again gives no more of it."""

    def reset(handler: Handler, messages: list[Message]) -> bool:
        if is_late := messages[0].get("round") == 2:
            time.sleep(0.3)
            handler.reset()
        return is_late

    server.before = reset
    results = played(server.url, tmp_path, limits=Limits(decision=0.5, latency=0.0)).results
    assert [game.fault and game.fault.kind for game in results] == ["timeout"] * 2


def test_the_network_is_told_apart_from_thinking_and_makes_no_late_answer(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As far as an empty request takes as long, and no more than `latency`: in a league 0."""
    server.delay = 0.02
    apart = []
    for most in (1.0, 0.005, 0.0):
        limits = Limits(decision=60.0, latency=most)
        timing = played(server.url, tmp_path, limits=limits).timings["bot"]
        apart.append((timing.wall.total - timing.cpu.total) / timing.decisions)
    assert apart[0] >= server.delay
    assert apart[1:] == pytest.approx([0.005, 0.0])
    assert Settings().limits.latency == 0
    monkeypatch.setattr("arena.addons.remote.remote_bot.RemoteBot.ping", lambda _: 60.0)
    server.delay = 0.04
    kinds = []
    for most in (10.0, 0.0):
        limits = Limits(decision=0.02, start=60.0, latency=most)
        results = played(server.url, tmp_path, limits=limits).results
        kinds.append([game.fault.kind if game.fault else "" for game in results])
    assert kinds == [["", ""], ["timeout", "timeout"]]


def test_a_bot_is_its_address_and_its_version(server: Server, tmp_path: Path) -> None:
    """The games stay unplayed; parameters and labels are as for any bot, and no lane is."""
    entry = resolve(server.url, label="bot")
    assert entry.program == "1"
    server.version = "2"
    tournament = Tournament("test", 0, 1, [entry, resolve("uniform")], STANDARD, LIMITS)
    worker = Worker(tournament, tmp_path / "worker")
    unplayed = worker.play(Chunk(0, 0, 1))
    worker.close()
    assert not unplayed.results
    with pytest.raises(Unreachable, match=r"^bot: http://.*: its version is '2' now, and was '1'"):
        unplayed.check()
    assert resolve(server.url).sha256 != entry.sha256
    server.version = "7.1"
    entry = resolve(f"gpu={server.url}/(depth=3)")
    assert (entry.label, entry.target, entry.lane) == ("gpu", server.url, "remote")
    assert (entry.program, entry.params, entry.source) == ("7.1", {"depth": 3}, None)
    assert entry.sha256 == resolve(server.url.upper()).sha256
    assert resolve(server.url).label == f"127.0.0.1-{server.server_address[1]}"
    assert default_lane(server.url) == "remote"
    assert entry.sha256 != resolve(f"{server.url}/other").sha256
    for lane in HERE:
        with pytest.raises(InputError, match=f"'{lane}' is not one of its lanes: remote"):
            resolve(server.url, lane=lane)
    with pytest.raises(InputError, match="'remote' is not one of its lanes: inproc, process"):
        resolve("greedy", lane="remote")


OUTAGES = {
    "503": b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n",
    "401": b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n",
    "redirect": b"HTTP/1.1 307 No\r\nLocation: ELSEWHERE\r\nContent-Length: 0\r\n\r\n",
    "no HTTP": b"\x00\x01 not HTTP\r\n\r\n" * 100,
    "headers without an end": b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * (1 << 20),
}


@pytest.mark.parametrize("outage", OUTAGES)
def test_an_outage_is_no_forfeit(server: Server, outage: str, tmp_path: Path) -> None:
    """Neither a server that is overloaded nor one that speaks no HTTP loses a game.

    A redirect is not followed, with a game or with a token.
    """

    def answer(handler: Handler, _: list[Message]) -> bool:
        if server.requests < 9:
            return False
        handler.wfile.write(OUTAGES[outage].replace(b"ELSEWHERE", other.url.encode()))
        handler.close_connection = True
        return True

    with serving() as other:
        server.before = answer
        unplayed = played(server.url, tmp_path)
        assert other.requests == other.pings == 0
    assert not unplayed.results
    assert unplayed.refusal.startswith(f"bot: {server.url}: ")


def test_a_server_that_is_not_there_a_proxy_and_a_missing_library_are_bad_input(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line says which, before a run begins; a page is shown by its beginning."""
    with serving() as gone:
        url = gone.url
    with pytest.raises(InputError, match=rf"bot '{url}': .*refused"):
        resolve(url)
    page = b"<!doctype html><html><body>404 not found, and so on</body></html>"
    monkeypatch.setattr(server, "lines", lambda _: page)
    with pytest.raises(InputError, match="<!doctype html><html><body>404 not found"):
        resolve(server.url)
    monkeypatch.delitem(sys.modules, remote_bot.__name__)
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(InputError, match=r"pip install 'district-noir-arena\[remote\]'"):
        resolve("http://127.0.0.1:1")


@pytest.mark.parametrize(
    ("hello", "why"),
    [
        ({"error": "no GPU"}, "no GPU"),
        ({}, "not ready"),
        ({"ready": True, "version": "1\n2"}, "its version"),
        ({"ready": True, "version": 3}, "Expected `str`"),
    ],
)
def test_a_bad_hello_is_bad_input(server: Server, hello: Message, why: str) -> None:
    """The message names the address and what is wrong."""
    server.reply = lambda _: hello
    with pytest.raises(InputError, match=why):
        resolve(server.url)


@pytest.mark.slow
def test_a_session_ends_after_a_fault(server: Server, tmp_path: Path) -> None:
    """The next game begins in a new one, as in a new process."""
    server.before = answering(b"no\n", when=lambda message: message["seat"] == 1)
    games = played(server.url, tmp_path, pairs=2).results
    assert [bool(game.fault) for game in games] == [False, True] * 2
    sessions = {key.rpartition("-")[0] for key in server.keys}
    assert len(sessions) >= 2 + 2 * 2


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("http://ann:secret@host:1", f"a token stands in {TOKENS}"),
        ("http://host:1/?key=secret", "parameters stand in"),
        ("http://host:1/#x", "parameters stand in"),
        ("http://:8000", "http://HOST:PORT"),
        ("http://", "http://HOST:PORT"),
        ("http://host:0", "http://HOST:PORT"),
        ("http://host:99999", "http://HOST:PORT"),
        ("http://[::1", "not an address"),
        ("http://h\u00f6st", "in ASCII"),
        ("http://ho st", "in ASCII"),
    ],
)
def test_an_address_has_a_host_a_port_and_a_path(spec: str, why: str) -> None:
    """Anything else is one line that names the bot; nothing is asked."""
    with pytest.raises(InputError, match=why):
        resolve(spec)


def test_a_token_is_bound_to_one_host(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host with a similar name does not get it, nor does the same host at another port."""
    port = server.server_address[1]
    tokens = f"127.0.0.1:{port}=right-one 127.0.0.1:{port + 1}=wrong-one"
    tokens += " a.org=of-a-org a.org:8000=of-port-8000"
    monkeypatch.setenv(TOKENS, tokens)
    resolve(server.url)
    assert server.headers[-1]["Authorization"] == "Bearer right-one"
    found = {
        url: find_token(parse_address(url))
        for url in ("https://a.org", "http://a.org", "https://a.org:8000", "https://A.org/x")
    }
    assert [*found.values()] == ["of-a-org", "of-a-org", "of-port-8000", "of-a-org"]
    for url in ("https://a-org", "https://b.a.org", "https://a.org.b", "https://a.org:8001"):
        assert not find_token(parse_address(url))
    monkeypatch.setenv(TOKENS, "a.org=fine-one hush-hush")  # of which nothing is shown
    with pytest.raises(InputError, match=f"^{TOKENS}: item 2 is not HOST:PORT=TOKEN$"):
        find_token(parse_address("https://a.org"))


def test_a_token_goes_public_by_tls_only(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The address is the one that was connected to; within a private network it goes as it is."""
    monkeypatch.setattr(remote_bot, "is_public", lambda _: True)
    assert resolve(server.url).program == "1"
    monkeypatch.setenv(TOKENS, f"127.0.0.1:{server.server_address[1]}=hush-hush")
    seen = len(server.headers)
    with pytest.raises(InputError, match="only sent by https"):
        resolve(server.url)
    assert len(server.headers) == seen
    monkeypatch.undo()
    assert resolve(server.url).program == "1"


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl makes the certificate")
def test_a_certificate_is_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the name of the host; a server whose certificate nobody knows is not asked."""
    key, made = tmp_path / "key.pem", tmp_path / "made.pem"
    words = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext"
    more = ["subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(made)]
    subprocess.run([*words.split(), *more], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made, key)
    remote_bot._context.cache_clear()
    try:
        with serving(context) as server:
            url = server.url.replace("http", "https").replace("127.0.0.1", "localhost")
            with pytest.raises(InputError, match="certificate verify failed"):
                resolve(url)
            assert not server.requests
            remote_bot._context.cache_clear()
            monkeypatch.setenv("SSL_CERT_FILE", str(made))
            assert resolve(url).program == "1"
            with pytest.raises(InputError, match="certificate verify failed: IP address mismatch"):
                resolve(url.replace("localhost", "127.0.0.1"))
    finally:
        remote_bot._context.cache_clear()
