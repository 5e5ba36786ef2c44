"""A league's web in this process, asked as programs and browsers ask it."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

from arena.addons.league.post import Post
from arena.addons.league.web import Web, make_server
from arena.reports.front import listen
from tests.waiting import PATIENCE

BOUNDARY = "a-line-between-parts"


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

    def __init__(self, port: int, folder: Path) -> None:
        self.port = port
        self.folder = folder
        self.origin = f"http://127.0.0.1:{port}"

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
        with closing(Post(self.folder)) as post:
            return {"Authorization": f"Bearer {post.invite(owner)}"}

    def hand_in(
        self, token: Mapping[str, str], file: str, content: bytes, name: str = ""
    ) -> tuple[int, Any]:
        """Hand in a file; return the status, and the receipt or the error."""
        kind = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
        answer, data = self.send("POST", "/hand-in", {**token, **kind}, form(file, content, name))
        return answer.status, json.loads(data)

    def mine(self, token: Mapping[str, str]) -> Any:
        """Return the data of an owner's page."""
        answer, data = self.send("GET", "/mine", token)
        assert answer.status == 200, data
        return json.loads(data)

    def connect(self, sent: bytes) -> socket.socket:
        """Return a connection on which these bytes were sent."""
        one = socket.create_connection(("127.0.0.1", self.port), PATIENCE)
        one.sendall(sent)
        return one


@contextmanager
def serving(folder: Path, proxy: str = "") -> Iterator[Client]:
    """Yield a client of a league's web, which ends afterwards."""
    with listen(0) as bound, closing(Web(folder)) as web:
        port = bound.getsockname()[1]
        server = make_server(web, "127.0.0.1", port, proxy)
        thread = threading.Thread(target=lambda: server.run_until_end(bound, lambda: None))
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
            yield Client(port, folder)
        finally:
            server.end()
            thread.join(PATIENCE)
