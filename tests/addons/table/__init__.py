"""The table: its server in this process, asked as a browser asks it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

from arena.addons.table.table_server import Guard, Table, make_server
from arena.lanes.temp_and_cache_folders import scratch_folder
from arena.reports.http_server import listen
from tests.kit import serving
from tests.waiting import PATIENCE

HOSTILE = "<b onclick>'&amp;\""
"""A label that is no markup."""

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


class Client:
    """A browser that has the address; every answer comes with all its bytes."""

    def __init__(self, table: Table, guard: Guard, port: int) -> None:
        self.table = table
        self.address = guard.address
        self.port = port
        self.root = guard.root
        self.headers = {
            "Origin": f"http://127.0.0.1:{port}",
            "Content-Type": "application/json",
        }

    def send(
        self, method: str, path: str, headers: dict[str, str], body: bytes | None = None
    ) -> tuple[HTTPResponse, bytes]:
        """Send a request with these headers and no others, and return the whole answer."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in ({"Host": f"127.0.0.1:{self.port}"} | headers).items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer, content

    def ask_bytes(self, path: str, body: Any = None, status: int = 200) -> bytes:
        """Return the bytes of an answer, which must have this status."""
        method = "GET" if body is None else "POST"
        sent = None if body is None else json.dumps(body).encode()
        answer, content = self.send(method, f"{self.root}{path}", self.headers, sent)
        assert answer.status == status, content
        return content

    def ask(self, path: str, body: Any = None, status: int = 200) -> Any:
        """Return the JSON of an answer, which must have this status."""
        return json.loads(self.ask_bytes(path, body, status))

    def begin(self, *bots: str, **asked: Any) -> str:
        return f"api/games/{self.ask('api/games', {'bots': bots} | asked)['id']}"

    def news(self, path: str) -> Iterator[dict[str, Any]]:
        """Yield the news of a game until it is over."""
        news = self.ask(path)
        yield news
        while not news["over"]:
            after = self.ask(f"{path}?after={news['version']}")
            if after["version"] != news["version"]:
                yield after
            news = after

    def until(self, path: str, *phases: str) -> dict[str, Any]:
        """Return the first news of a game in one of these phases, or the last."""
        for news in self.news(path):
            if news["phase"] in phases:
                break
        return news

    def play(self, path: str) -> dict[str, Any]:
        """Play a game to its end, always with the first legal action; return the last news."""
        for news in self.news(path):
            if news["phase"] == "yours":
                frame = news["timeline"]["frames"][-1]
                self.ask(f"{path}/act", {"ply": frame["ply"], "action": frame["legal"][0]})
        return news

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.table.records.path.read_text().splitlines()]


@contextmanager
def running(results: Path) -> Iterator[Client]:
    """Yield a client of a new server, which ends afterwards with all its games."""
    with scratch_folder() as folder, listen(0) as bound:
        port = bound.getsockname()[1]
        server, guard, table = make_server(results, folder, port)
        with closing(table.hall), serving(server, bound):
            yield Client(table, guard, port)
