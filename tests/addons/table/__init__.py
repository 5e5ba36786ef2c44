"""The table: its server in this process, asked as a browser asks it."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

from arena.addons.table.guard import Guard
from arena.addons.table.server import make_server
from arena.addons.table.visitor import Table
from arena.lanes.scratch import scratch_folder
from arena.reports.page_server import listen
from tests.waiting import PATIENCE


class Client:
    """A browser that has opened the address; every answer comes with all its bytes."""

    def __init__(self, table: Table, guard: Guard, port: int) -> None:
        self.table = table
        self.guard = guard
        self.port = port
        self.root = guard.root
        self.origin = f"http://127.0.0.1:{port}"
        answer, _ = self.send("GET", self.new_path(), {})
        self.cookie = str(answer.headers["set-cookie"]).partition(";")[0]

    def new_path(self) -> str:
        """Return an address that lets a browser in, without the server's name."""
        return self.guard.door.make_address().removeprefix(self.origin)

    @property
    def headers(self) -> dict[str, str]:
        """What the browser sends of itself."""
        return {"Cookie": self.cookie, "Origin": self.origin, "Content-Type": "application/json"}

    def send(
        self, method: str, path: str, headers: dict[str, str], body: bytes | None = None
    ) -> tuple[HTTPResponse, bytes]:
        """Send a request with these headers and no others, and return the whole answer."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        with_host = {"Host": f"127.0.0.1:{self.port}"} | headers
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in with_host.items():
            connection.putheader(name, value)
        if body is not None and "Content-Length" not in with_host:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer, content

    def ask(self, path: str, body: Any = None, status: int = 200) -> Any:
        """Return the JSON of an answer, which must have this status."""
        return json.loads(self.ask_bytes(path, body, status))

    def ask_bytes(self, path: str, body: Any = None, status: int = 200) -> bytes:
        """Return the bytes of an answer, which must have this status."""
        method = "GET" if body is None else "POST"
        sent = None if body is None else json.dumps(body).encode()
        answer, content = self.send(method, f"{self.root}/{path}", self.headers, sent)
        assert answer.status == status, content
        return content

    def news(self, path: str) -> Iterator[dict[str, Any]]:
        """Yield the news of a stream, each with all frames so far."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request("GET", f"{self.root}/{path}", headers=self.headers)
        answer = connection.getresponse()
        assert answer.status == 200
        frames: list[Any] = []
        try:
            for line in answer:
                if line.startswith(b"data:"):
                    news = json.loads(line[5:])
                    if "frames" in news:
                        frames[news["from"] :] = news["frames"]
                    yield news | {"frames": frames}
                    if news["over"]:
                        return
        finally:
            connection.close()

    def news_of_run(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield the news of a run that is under way."""
        return self.news(f"api/run/events?name={name}")

    def play(self, path: str) -> dict[str, Any]:
        """Play a game to its end, always with the first legal action; return the last news."""
        for news in self.news(f"{path}/events"):
            if news["phase"] == "yours":
                frame = news["frames"][-1]
                self.ask(f"{path}/act", {"ply": frame["ply"], "action": frame["legal"][0]})
        return news


@contextmanager
def running(results: Path) -> Iterator[Client]:
    """Yield a client of a new server, which ends afterwards with all its games."""
    with scratch_folder() as folder, listen(0) as bound:
        table = Table(results, folder)
        port = bound.getsockname()[1]
        server, guard = make_server(table, port)
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[bound])))
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
            yield Client(table, guard, port)
        finally:
            server.end()
            thread.join(PATIENCE)
            table.hall.close()
