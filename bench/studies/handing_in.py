"""Leagues: owners hand in over HTTP while rounds are played, and the command is killed.

The processes are real ones on this machine. The check of a bot, which takes most of the time, is
replaced by one that accepts at once: what is studied is that nothing is lost, or taken twice.
"""

from __future__ import annotations

import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, NamedTuple

from arena.addons.league import post
from arena.addons.league.inbox import find_waiting
from arena.addons.league.league import League, make_league
from arena.addons.league.league_settings import check_settings
from arena.threads import count_cores

SEED = 50
OWNERS, CONNECTIONS, MINUTES, KILLS = 200, 20, 10.0, 100
_BOUNDARY = "a-line-between-parts"
_ENDLESS = 3600.0  # seconds
_BOT = """
class First:
    def __init__(self, setup):
        self.number = {number}

    def choose(self, view):
        return view.legal[0]


bot = First
"""
_SERVE = """
import sys
from arena.addons.league import submission
from arena.check.item import Item
from arena.cli import main

def accept(*_, **__):
    yield Item("time", "ok", "fast", figures={"median": 0.0001, "p99": 0.001})

submission.run_check = accept
main()
"""
_SMALL: dict[str, Any] = {"lane": "process", "panel": ["uniform", "greedy"], "round_pairs": 60}


class HandedIn(NamedTuple):
    """What became of the submissions: lost and taken twice, and seconds until answers."""

    sent: int
    lost: int
    twice: int
    rounds: int
    receipts: list[float]
    pages: list[float]


class Program:
    """A process that is started again after each kill."""

    def __init__(self, *words: str) -> None:
        self.words = words
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, *self.words], stdout=subprocess.DEVNULL)

    def kill(self) -> None:
        """Kill it at once, and start it again."""
        self.process.kill()
        self.process.wait()
        self.process = self._start()

    def end(self) -> None:
        """Kill it."""
        self.process.kill()
        self.process.wait()


@contextmanager
def served(folder: Path) -> Iterator[tuple[int, Program]]:
    """Yield the port of a league's web, and the process that serves it."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        port = one.getsockname()[1]
    words = ("league", "host", str(folder), "--port", str(port), "--workers", "1")
    program = Program("-c", _SERVE, *words)
    try:
        _patiently(lambda: _ask(port, "GET", "/style.css", {}))
        yield port, program
    finally:
        program.end()


def _ask(port: int, method: str, path: str, headers: dict[str, str], body: bytes = b"") -> bytes:
    """Return the answer to a request; raises OSError or HTTPException if there is none."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request(method, path, body or None, headers)
        answer = connection.getresponse()
        content = answer.read()
        if answer.status >= HTTPStatus.BAD_REQUEST:
            raise ValueError(f"{answer.status} {content[:200]!r}")
        return content


def _patiently(work: Callable[[], Any]) -> float:
    """Try some work until it is done, and return the seconds of the last attempt."""
    end = time.monotonic() + _ENDLESS
    while True:
        began = time.monotonic()
        try:
            work()
        except (OSError, HTTPException):
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
        else:
            return time.monotonic() - began


def hand_in(
    owners: int = OWNERS,
    connections: int = CONNECTIONS,
    seconds: float = 60 * MINUTES,
    kills: int = 0,
) -> HandedIn:
    """Let each owner hand in a bot of its own at a random moment, with so many kills meanwhile."""
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "club")
        make_league(folder, check_settings(_SMALL))
        tokens = [post.invite(folder, f"owner{number}") for number in range(owners)]
        moments = sorted(rng.uniform(0, seconds) for _ in tokens)
        with served(folder) as (port, program):
            began, receipts, pages = time.monotonic(), [0.0] * owners, [0.0] * owners

            def send(first: int) -> None:
                for number in range(first, owners, connections):
                    time.sleep(max(0.0, began + moments[number] - time.monotonic()))
                    received, read = _send(port, tokens[number], number)
                    receipts[number], pages[number] = received, read

            threads = [threading.Thread(target=send, args=(n,)) for n in range(connections)]
            for thread in threads:
                thread.start()
            for _ in range(kills):
                time.sleep(rng.uniform(0, 2 * seconds / kills))
                program.kill()
            for thread in threads:
                thread.join()
            _wait_for_answers(folder)
        return _count(folder, owners, receipts, pages)


def _send(port: int, token: str, number: int) -> tuple[float, float]:
    """Hand in a bot, and read the owner's page; return the seconds until each answer."""
    headers = {"Authorization": f"Bearer {token}"}
    kind = {"Content-Type": f"multipart/form-data; boundary={_BOUNDARY}"}
    body = (
        f"--{_BOUNDARY}\r\n"
        f'Content-Disposition: form-data; name="file"; filename="bot{number}.py"\r\n\r\n'
        f"{_BOT.replace('{number}', str(number))}\r\n--{_BOUNDARY}--\r\n"
    ).encode()
    received = _patiently(lambda: _ask(port, "POST", "/hand-in", headers | kind, body))
    return received, _patiently(lambda: _ask(port, "GET", "/", headers))


def _wait_for_answers(folder: Path) -> None:
    """Wait until every upload has an answer."""
    end = time.monotonic() + _ENDLESS
    while find_waiting(folder) and time.monotonic() < end:
        time.sleep(0.2)


def _count(folder: Path, owners: int, receipts: list[float], pages: list[float]) -> HandedIn:
    """Return what the league has of each owner."""
    with closing(League(folder)) as league:
        names = Counter(one.name for one in league.ledger.versions("NOT panel"))
        names.update(one.name for one in league.ledger.refusals())
        rounds = league.number
    lost = sum(not names[f"bot{number}"] for number in range(owners))
    return HandedIn(owners, lost, sum(names.values()) - len(names), rounds, receipts, pages)


def lines() -> Iterator[str]:
    """Yield the section of this study."""
    yield f"""{OWNERS} owners hand in a bot each over HTTP, from {CONNECTIONS} connections, while
rounds are played. `arena league host` is killed at random moments; a request without an answer is
sent again. Times are those of requests that were answered. The check of bots is replaced by one
that accepts at once.
{count_cores()} cores, with a load of {os.getloadavg()[0]:.0f} before.

| kills | minutes | lost | twice | rounds | receipt: median, longest | page: median, longest |
|---|---|---|---|---|---|---|"""
    for kills in (0, KILLS):
        found = hand_in(kills=kills)
        times = (
            f"{1000 * statistics.median(some):.0f} ms, {1000 * max(some):.0f} ms"
            for some in (found.receipts, found.pages)
        )
        yield (
            f"| {kills} | {MINUTES:.0f} | {found.lost} | {found.twice} | {found.rounds} | "
            f"{' | '.join(times)} |"
        )
