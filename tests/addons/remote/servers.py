"""Servers of a bot on loopback: a good one, and rogues by what is replaced in it."""

from __future__ import annotations

import json
import socket
import ssl
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

Message = dict[str, Any]


class Server(ThreadingHTTPServer):
    """Plays the first legal action; what it has seen can be read by the test.

    `reply` makes the answer to a message, `before` is called with each request that has messages,
    and may answer it in another way: it returns whether it has.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.reply: Callable[[Message], Message] = self.play
        self.before: Callable[[Handler, list[Message]], bool] = lambda *_: False
        self.version = "1"
        self.games = 1
        self.delay = 0.0  # seconds of every request, as in a slow network
        self.requests = 0  # with messages
        self.pings = 0
        self.ended = 0
        self.began = 0  # games
        self.headers: list[dict[str, str]] = []
        self.keys: list[str] = []
        self.answered: dict[str, bytes] = {}
        self.lock = Lock()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def play(self, message: Message) -> Message:
        """Answer a message as a good bot does."""
        if message["type"] == "hello":
            return {"ready": True, "version": self.version, "games": self.games}
        if message["type"] == "new":
            self.began += 1
        return {"action": message["legal"][0]} if message["type"] == "choose" else {}

    def lines(self, messages: list[Message]) -> bytes:
        """Return the answers to messages."""
        answers = ({"id": one["id"], **self.reply(one)} for one in messages)
        return b"".join(json.dumps(one).encode() + b"\n" for one in answers)

    def handle_error(self, *_: object) -> None:
        """The arena may close a connection at any time."""


class Handler(BaseHTTPRequestHandler):
    """Answers requests on one connection."""

    server: Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_DELETE(self) -> None:
        """Count a session that has ended."""
        self.server.ended += 1
        self.send(b"", 204)

    def do_POST(self) -> None:
        """Answer messages; a repeated request gets the answer that was given."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server = self.server
        time.sleep(server.delay)
        if not body:
            server.pings += 1
            self.send(b"", 204)
            return
        messages = [json.loads(line) for line in body.splitlines()]
        key = self.headers["Idempotency-Key"]
        server.requests += 1
        server.headers.append(dict(self.headers))
        with server.lock:
            if key not in server.answered:
                server.answered[key] = server.lines(messages)
                server.keys.append(key)
        if not server.before(self, messages):
            self.send(server.answered[key])

    def send(self, body: bytes, status: int = 200, **headers: str) -> None:
        """Send an answer."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def reset(self) -> None:
        """Reset the connection, as a network does that fails."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        with suppress(OSError):
            self.connection.close()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def answering(
    text: bytes = b"",
    status: int = 200,
    when: Callable[[Message], bool] = lambda _: True,
    **headers: str,
) -> Callable[[Handler, list[Message]], bool]:
    """Return what answers each `choose`, or some of them, with this text or status."""

    def answer(handler: Handler, messages: list[Message]) -> bool:
        if messages[0]["type"] != "choose" or not when(messages[0]):
            return False
        handler.send(text, status, **headers)
        return True

    return answer


@contextmanager
def serving(tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """Yield a server that answers, until the end."""
    with Server() as server:
        if tls:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
