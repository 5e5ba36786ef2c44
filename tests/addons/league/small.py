"""Small leagues for tests: fast bots of the arena, in the lane process."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import pytest

from arena.addons.league import inbox, submission, web
from arena.addons.league.inbox import take_all
from arena.addons.league.league import League, RoundResult, make_league
from arena.addons.league.league_settings import Settings, check_settings
from arena.addons.league.league_standing import Standing
from arena.addons.league.ledger import ACTIVE, Version
from arena.check.item import Item, Order
from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET
from tests.waiting import PATIENCE

NOON = datetime(2026, 11, 24, 12, tzinfo=UTC)

SMALL: dict[str, Any] = {
    "lane": "process",
    "panel": ["uniform", "greedy", "majority"],
    "round_pairs": 60,
    "check_games": 4,
}

BOT = '''"""Take the first legal action."""

from engine import View


class First:
    """The simplest bot."""

    def __init__(self, setup):
        self.number = {number}

    def choose(self, view: View) -> int:
        """Return the first legal action."""
        return view.legal[0]


bot = First
'''


def settings(**changes: Any) -> Settings:
    """Return small settings."""
    return check_settings(SMALL | changes)


@contextmanager
def a_league(folder: Path, **changes: Any) -> Iterator[League]:
    """Yield a new league; the second one with these settings is a copy, which costs a tenth."""
    name = repr(sorted(changes.items()))
    if name in _MADE and not folder.exists():
        folder.mkdir(parents=True)
        for path, mode, content in _MADE[name]:
            if content is None:
                (folder / path).mkdir()
            else:
                (folder / path).write_bytes(content)
            (folder / path).chmod(mode)
    else:
        make_league(folder, settings(**changes), lambda: NOON)
        _MADE[name] = [
            (path.relative_to(folder), path.stat().st_mode, _content(path))
            for path in sorted(folder.rglob("*"))
        ]
    with closing(League(folder, lambda: NOON)) as league:
        yield league


_MADE: dict[str, list[tuple[Path, int, bytes | None]]] = {}
"""What is in a new league with such changes: names, modes and bytes, None for a folder."""


def _content(path: Path) -> bytes | None:
    return None if path.is_dir() else path.read_bytes()


@contextmanager
def an_unchecked_league(
    folder: Path, patch: pytest.MonkeyPatch, **changes: Any
) -> Iterator[League]:
    """Yield a league with an inbox, whose check finds nothing.

    `patch` is the test's own: two that change the same check must end in their order.
    """
    with a_league(folder, **changes) as league:
        patch.setattr(submission, "run_check", accept)
        (folder / "inbox").mkdir()
        yield league


def take(league: League, settled: float = 0.0) -> list[str]:
    """Take what was handed in, and return what was told."""
    told: list[str] = []
    for _ in take_all(league, told.append, settled):
        pass
    return told


def play(league: League, rounds: int = 1, workers: int = 1) -> list[RoundResult]:
    """Play some rounds."""
    with league.playing():
        results = [league.play_round(LocalExecutor(workers), shown=QUIET) for _ in range(rounds)]
    return [result for result in results if result]


def write_bot(folder: Path, name: str = "mine", number: int = 0) -> Path:
    """Write a bot, other bytes for each number."""
    path = folder / f"{name}.py"
    path.write_text(BOT.replace("{number}", str(number)))
    return path


def accept(_order: Order, *_: object, **__: object) -> Iterator[Item]:
    """Stand in for a check that finds nothing."""
    yield Item("time", "ok", "fast", figures={"median": 0.0001, "p99": 0.001})


def version(number: int, name: str = "", **changes: Any) -> Version:
    """Return a version with this id, which is of no league."""
    made = Version(number, name or f"bot{number}", 1, "", "", "", 0.1)
    return made._replace(**changes)


def standing(rank: int | None, bot: str, group: str, elo: float = 1500.0) -> Standing:
    """Return the standing of a bot."""
    return Standing(rank, bot, 2, "Ann", elo, elo - 30, elo + 30, 1260, group, ACTIVE, "")


BOUNDARY = "a-line-between-parts"
KIND = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}


def form(file: str, content: bytes, name: str = "") -> bytes:
    """Return the body of a form with a file, as browsers send it."""
    parts = [
        f'Content-Disposition: form-data; name="name"\r\n\r\n{name}\r\n'.encode(),
        f'Content-Disposition: form-data; name="file"; filename="{file}"\r\n'
        f"Content-Type: text/x-python\r\n\r\n".encode()
        + content
        + b"\r\n",
    ]
    line = f"--{BOUNDARY}".encode()
    return b"".join(line + b"\r\n" + part for part in parts) + line + b"--\r\n"


class Client:
    """Somebody who reaches the port; every answer comes with all its bytes."""

    def __init__(self, url: str, folder: Path) -> None:
        self.origin = url.rstrip("/")
        self.port = int(self.origin.rpartition(":")[2])
        self.folder = folder

    def send(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> tuple[HTTPResponse, bytes]:
        """Send a request, and return the whole answer."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as connection:
            connection.request(method, path, body, dict(headers))
            answer = connection.getresponse()
            return answer, answer.read()

    def invite(self, owner: str) -> dict[str, str]:
        """Return the headers of a program of an owner."""
        return {"Authorization": f"Bearer {inbox.invite(self.folder, owner)}"}

    def hand_in(
        self, token: Mapping[str, str], file: str, content: bytes, name: str = ""
    ) -> tuple[int, Any]:
        """Hand in a file; return the status, and the bot's name or the error."""
        answer, data = self.send("POST", "/hand-in", {**token, **KIND}, form(file, content, name))
        return answer.status, json.loads(data)

    def uploads(self, token: Mapping[str, str]) -> Any:
        """Return what the page says of an owner's uploads."""
        answer, data = self.send("GET", "/", token)
        assert answer.status == 200, data
        return json.loads(data)["uploads"]


@contextmanager
def serving(folder: Path) -> Iterator[Client]:
    """Yield a client of a league's web, which ends afterwards."""
    with web.serving(folder, 0, "127.0.0.1") as (url, _):
        yield Client(url, folder)
