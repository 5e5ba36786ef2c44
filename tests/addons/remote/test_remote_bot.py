"""A bot that lives elsewhere plays as any other; rogue servers, networks that fail, and clocks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arena.addons.league.league_settings import Settings
from arena.addons.remote import remote_bot
from arena.entries.resolve import resolve
from arena.errors import InputError, Unreachable
from arena.executors.worker import Worker
from arena.lanes.limits import Limits
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Played
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.addons.remote.servers import Handler, Message, Server, serving
from tests.rogues import write
from tests.tiers import few

LIMITS = Limits(decision=60.0)
FIRST = "    def choose(self, view, /):\n        return view.legal[0]"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A good server; the arena does not wait between its tries."""
    monkeypatch.setattr(remote_bot.RemoteBot, "pauses", (0.0, 0.0, 0.0))
    with serving() as made:
        yield made


def played(
    spec: str | Path,
    folder: Path,
    pairs: int = 1,
    limits: Limits = LIMITS,
    lane: str | None = None,
) -> tuple[Played, Worker]:
    """Return the games of a bot against uniform, and the worker that has played them."""
    entries = [resolve(str(spec), label="bot", lane=lane), resolve("uniform")]
    tournament = Tournament("test", 0, pairs, entries, STANDARD, limits)
    worker = Worker(tournament, folder / f"worker-{time.monotonic_ns()}")
    try:
        return worker.play(Chunk(0, 0, pairs)), worker
    finally:
        worker.close()


def kind_of(game: GameResult) -> str:
    """Return the kind of a game's fault."""
    return game.fault.kind if game.fault else ""


@pytest.mark.slow
@pytest.mark.parametrize("games", [1, 16])
def test_a_game_is_the_same_as_in_any_other_lane(
    server: Server, games: int, tmp_path: Path
) -> None:
    """One game in a request, and many; each session is ended."""
    server.games = games
    here = played(write(tmp_path, "first", FIRST), tmp_path, pairs=4)[0]
    there = played(server.url, tmp_path, pairs=4)[0]
    assert there.results == here.results
    assert server.ended >= 3  # one for its version, and one for each seat
    most = max(int(key.rpartition("-")[2]) for key in server.keys)
    assert (server.requests < most) == (games > 1)


def reset_once(server: Server, handler: Handler) -> bool:
    """Reset the connection after every third request, when it was answered for itself."""
    key = handler.headers["Idempotency-Key"]
    if int(key.rpartition("-")[2]) % 3 or server.failed.get(key, 0) >= 2:  # type: ignore[attr-defined]
        return False
    server.failed[key] = server.failed.get(key, 0) + 1  # type: ignore[attr-defined]
    handler.reset()
    return True


@pytest.mark.slow
def test_a_network_that_fails_plays_no_decision_twice(server: Server, tmp_path: Path) -> None:
    """Each request that was reset comes again with its key, and gets the answer of before."""
    expected = played(server.url, tmp_path)[0].results
    asked = len(server.keys)
    server.failed = {}  # type: ignore[attr-defined]
    server.before = lambda handler, _: reset_once(server, handler)
    before = server.requests
    assert played(resolve(server.url).target, tmp_path)[0].results == expected
    assert len(server.failed) > 5  # type: ignore[attr-defined]
    assert server.requests - before > len(server.keys) - asked


def answer_with(text: bytes, status: int = 200, **headers: str) -> Callable[[Handler], bool]:
    """Return what answers a request with this text."""

    def answer(handler: Handler) -> bool:
        handler.send(text, status, **headers)
        return True

    return answer


def endless(handler: Handler) -> bool:
    """Answer with 100 MB, as long as they are taken."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(100 << 20))
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b" " * (1 << 20))
    return True


WRONG: dict[str, tuple[Callable[[Handler], bool], str]] = {
    "no JSON": (answer_with(b"hello\n"), "not an answer"),
    "100 MB": (endless, "an answer of more than 65,537 bytes"),
    "nothing": (answer_with(b""), "an empty line instead of an answer"),
    "another": (answer_with(b'{"id":77}\n'), "an answer to message 77 instead of 2"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_answer_is_a_fault(server: Server, wrong: str, tmp_path: Path) -> None:
    """The fault is of the same kind as in a process, and comes back in the repetition."""
    answer, message = WRONG[wrong]
    server.before = lambda handler, some: some[0]["type"] == "choose" and answer(handler)
    results = played(server.url, tmp_path)[0].results
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
def test_faults_have_the_kinds_of_a_process(
    server: Server, said: Message, kind: str, tmp_path: Path
) -> None:
    """It may say of itself what its own server saw, but not what would put it out of a run."""
    server.reply = lambda one: said if one["type"] == "choose" else server.play(one)
    results = played(server.url, tmp_path)[0].results
    assert {game.fault.kind for game in results if game.fault} == {kind}


@pytest.mark.slow
def test_no_answer_in_time_is_a_fault_of_a_server_that_is_there(
    server: Server, tmp_path: Path
) -> None:
    """It answers an empty request: so the network is not to blame."""

    def sleep(_: Handler, messages: list[Message]) -> bool:
        time.sleep(3.0 * (messages[0].get("round") == 2))
        return False

    server.before = sleep
    fault = played(server.url, tmp_path, limits=Limits(decision=0.1))[0].results[0].fault
    assert fault
    assert (fault.kind, fault.message) == ("timeout", "no answer within 0.1 s")


@pytest.mark.slow
def test_an_answer_that_drips_ends_in_time(server: Server, tmp_path: Path) -> None:
    """A byte comes now and then, and the deadline is that of the whole answer."""

    def drip(handler: Handler, messages: list[Message]) -> bool:
        if messages[0].get("round") != 2:
            return False
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        for _ in range(200):
            handler.wfile.write(b"x")
            time.sleep(0.05)
        return True

    server.before = drip
    fault = played(server.url, tmp_path, limits=Limits(decision=0.1))[0].results[0].fault
    assert fault
    assert fault.kind == "timeout"


def test_the_network_is_told_apart_from_thinking(server: Server, tmp_path: Path) -> None:
    """As far as an empty request takes as long, and no more than `latency`: in a league 0."""
    server.delay = 0.02
    apart = []
    for most in (1.0, 0.005, 0.0):
        limits = Limits(decision=60.0, latency=most)
        timing = played(server.url, tmp_path, limits=limits)[0].timings["bot"]
        apart.append((timing.wall.total - timing.cpu.total) / timing.decisions)
    assert apart[0] >= server.delay
    assert apart[1:] == pytest.approx([0.005, 0.0])
    assert Settings().limits.latency == 0


def test_a_slow_network_is_no_late_answer(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A decision may take so much longer; without a discount it is late."""
    monkeypatch.setattr("arena.addons.remote.remote_bot.RemoteBot.ping", lambda _: 60.0)
    server.delay = 0.04
    ends = [
        played(server.url, tmp_path, limits=Limits(decision=0.02, start=60.0, latency=most))[0]
        for most in (10.0, 0.0)
    ]
    assert [[*map(kind_of, end.results)] for end in ends] == [["", ""], ["timeout", "timeout"]]


def test_another_version_ends_the_run(server: Server, tmp_path: Path) -> None:
    """The games stay unplayed, and one line says why."""
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


def garbage(handler: Handler) -> bool:
    """Answer with what is not HTTP."""
    handler.wfile.write(b"\x00\x01 not HTTP\r\n\r\n" * 100)
    handler.close_connection = True
    return True


def headed(handler: Handler) -> bool:
    """Answer with headers without an end."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n" + b"X-Long: " + b"x" * (1 << 20))
    handler.close_connection = True
    return True


OUTAGES = {
    "503": answer_with(b"", 503),
    "401": answer_with(b"", 401),
    "redirect": answer_with(b"", 302, Location="http://127.0.0.1:1/"),
    "garbage": garbage,
    "headers": headed,
}


@pytest.mark.parametrize("outage", OUTAGES)
def test_an_outage_is_no_forfeit(server: Server, outage: str, tmp_path: Path) -> None:
    """Neither a server that is overloaded nor one that speaks no HTTP loses a game."""
    server.before = lambda handler, _: server.requests >= 9 and OUTAGES[outage](handler)
    unplayed = played(server.url, tmp_path)[0]
    assert not unplayed.results
    assert unplayed.refusal.startswith(f"bot: {server.url}: ")


def test_a_server_that_is_not_there_is_bad_input() -> None:
    """One line says which, before a run begins."""
    with serving() as gone:
        url = gone.url
    with pytest.raises(InputError, match=rf"bot '{url}': .*refused"):
        resolve(url)


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
    server.before = lambda handler, some: (
        some[0]["type"] == "choose" and some[0]["seat"] == 1 and answer_with(b"no\n")(handler)
    )
    games = played(server.url, tmp_path, pairs=2)[0].results
    assert [bool(game.fault) for game in games] == [False, True] * 2
    sessions = {key.rpartition("-")[0] for key in server.keys}
    assert len(sessions) >= 2 + 2 * 2
