"""A league's web in this process, asked as programs and browsers ask it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

from arena.addons.league import post, web
from tests.waiting import PATIENCE

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
        return {"Authorization": f"Bearer {post.invite(self.folder, owner)}"}

    def hand_in(
        self, token: Mapping[str, str], file: str, content: bytes, name: str = ""
    ) -> tuple[int, Any]:
        """Hand in a file; return the status, and the receipt or the error."""
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
