"""Leagues: owners hand in over HTTP while rounds are played, and the command is killed.

The processes are real ones on this machine. The check of a bot, which takes most of the time, is
replaced by one that accepts at once: what is studied is that nothing is lost, or taken twice. How
long whole checks take is a study of its own, in a league with the default settings.
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

import psutil

from arena.addons.league import post
from arena.addons.league.inbox import find_waiting
from arena.addons.league.league import League, make_league
from arena.addons.league.league_settings import check_settings, make_folder, new_settings
from arena.addons.league.league_site import write_site
from arena.addons.league.league_tables import REPLACED, Version
from arena.store.folder import write_text
from arena.threads import count_cores

SEED = 50
OWNERS, CONNECTIONS, MINUTES, KILLS = 200, 20, 10.0, 100
SUBMISSIONS = 10_000
_VERSIONS = 50  # of each bot in the large league
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
_WEB = """
import sys, time
from pathlib import Path
from arena.addons.league.web import serving

with serving(Path(sys.argv[3]), int(sys.argv[5]), "127.0.0.1"):
    while True:
        time.sleep(1)
"""
"""Only the web: no round is played meanwhile."""
_TIMED = """
import sys, time
from arena.addons.league.submission import Desk
from arena.cli import main

def check(desk, spec, *rest, whole=Desk.check):
    with open(f"{sys.argv[3]}/turns", "a") as file:
        print(spec, time.time(), file=file)
    return whole(desk, spec, *rest)

Desk.check = check
main()
"""
_HASTY = ("uniform", "greedy", "city_hunter", "majority", "denier", "timing", "endgame")
_SLOW = ("flat_mc", "pimc", "ismcts")  # searching bots: their checks take longest
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
def served(folder: Path, script: str = _SERVE, workers: int = 1) -> Iterator[tuple[int, Program]]:
    """Yield the port of a league's web, and the process that serves it."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        port = one.getsockname()[1]
    words = ("league", "host", str(folder), "--port", str(port), "--workers", str(workers))
    program = Program("-c", script, *words)
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


def _send(port: int, token: str, number: int, source: str = _BOT) -> tuple[float, float]:
    """Hand in a bot, and read the owner's page; return the seconds until each answer."""
    headers = {"Authorization": f"Bearer {token}"}
    kind = {"Content-Type": f"multipart/form-data; boundary={_BOUNDARY}"}
    body = (
        f"--{_BOUNDARY}\r\n"
        f'Content-Disposition: form-data; name="file"; filename="bot{number}.py"\r\n\r\n'
        f"{source.replace('{number}', str(number))}\r\n--{_BOUNDARY}--\r\n"
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


def measure_answers(names: tuple[str, ...] = _HASTY + _SLOW, workers: int = 2) -> list[float]:
    """Hand in these bots at once to a new league; return the seconds from turn to answer."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "club")
        make_league(folder, new_settings({}))
        for number, name in enumerate(names):
            source = Path("bots", f"{name}.py").read_bytes() + b"\n# of %d" % number
            post.receive(folder, f"owner{number}", f"bot{number}.py", source)
        with served(folder, _TIMED, workers):
            _wait_for_answers(folder)
        lines = (folder / "turns").read_text(encoding="utf-8").split()
        turns = dict(zip(lines[::2], map(float, lines[1::2]), strict=True))
        found = []
        with closing(League(folder)) as league:
            for number in range(len(names)):
                (version,) = league.ledger.versions("name = ?", f"bot{number}")
                (path,) = (folder / post.ANSWERS).glob(f"*~owner{number}")
                found.append(path.stat().st_mtime - turns[version.spec])
        return found


def measure_large(submissions: int = SUBMISSIONS) -> dict[str, tuple[float, float]]:
    """Return the median seconds, and those of a processor, of requests to a large league."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "club")
        make_league(folder, check_settings(_SMALL))
        token = _fill(folder, submissions)
        with served(folder, _WEB) as (port, program):
            headers = {"Authorization": f"Bearer {token}"}
            web = psutil.Process(program.process.pid)
            return {
                "an owner's page": _time(web, lambda: _ask(port, "GET", "/", headers)),
                "the standings": _time(web, lambda: _ask(port, "GET", "/site/index.html", {})),
                "a bot's page": _time(web, lambda: _ask(port, "GET", "/site/bots/bot0.html", {})),
                "a receipt, and the page after it": _time(web, lambda: _send_next(port, token)),
            }


_next = iter(range(10**9, 10**9 + 1000))


def _send_next(port: int, token: str) -> None:
    _send(port, token, next(_next))


def _time(web: psutil.Process, work: Callable[[], object], times: int = 10) -> tuple[float, float]:
    """Return the median seconds of some work, and those of the web server's processor."""
    before, seconds = web.cpu_times(), []
    for _ in range(times):
        began = time.monotonic()
        work()
        seconds.append(time.monotonic() - began)
    after = web.cpu_times()
    cpu = after.user + after.system - before.user - before.system
    return statistics.median(seconds), cpu / times


def _fill(folder: Path, submissions: int) -> str:
    """Give a league so many versions, all answered; return the token of one owner."""
    bots = max(1, submissions // _VERSIONS)
    with closing(League(folder)) as league:
        at = "2026-01-01T12:00:00+00:00"  # not today, which has a limit
        spec = league.ledger.versions("name = 'greedy'")[0].spec
        with league.ledger.changing():
            for number in range(submissions):
                name, owner, sha256 = (
                    f"bot{number % bots}",
                    f"owner{number % bots}",
                    f"{number:064}",
                )
                values = Version(0, name, 0, owner, spec, sha256, 0.1, False, REPLACED, "", at)
                state = "active" if number >= submissions - bots else REPLACED
                league.ledger.add_version(values._replace(state=state))
        for number in range(submissions):
            receipt = f"{number:016x}~owner{number % bots}"
            write_text(make_folder(folder / post.ANSWERS) / receipt, "accepted")
        write_site(league)
        return post.invite(folder, "owner0")


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
    yield f"""
A league with {SUBMISSIONS:,} submissions: the median of ten requests.

| request | seconds | cpu |
|---|---|---|"""
    for what, (seconds, used) in measure_large().items():
        yield f"| {what} | {seconds:.3f} s | {used:.3f} s |"


def answers() -> Iterator[str]:
    """Yield how long owners wait for answers, from the turn of each."""
    yield f"""Bots of `bots/` are handed in at once to a league with the default settings, and
answered by `arena league host` with whole checks in the jail: seconds from when a bot's turn
comes, and so its check begins, until its answer is there.
{count_cores()} cores, with a load of {os.getloadavg()[0]:.0f} before.

| bots | workers | fast ones: half within, the longest | those that search: the longest |
|---|---|---|---|"""
    seconds = measure_answers()
    fast, slow = seconds[: len(_HASTY)], seconds[len(_HASTY) :]
    yield (
        f"| {len(seconds)} | 2 | {statistics.median(fast):.0f} s, {max(fast):.0f} s | "
        f"{max(slow):.0f} s |"
    )
