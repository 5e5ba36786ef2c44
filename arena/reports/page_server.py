"""Serve pages over HTTP: headers that keep a page in, bounded connections, an end by a signal."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final

import h11
import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from arena.errors import InputError

HOST: Final = "127.0.0.1"
WHOLE: Final = 10.0
"""Seconds in which a request must be complete."""

MOST_WAITING: Final = 100
"""Waiting connections, above which the longest waiting one is closed."""

_PATIENCE = 1  # seconds for unfinished answers when the server ends
_MOST_AT_ONCE = 200  # connections
_MOST_ACCEPTED = 256  # connections accepted together

REPORT_POLICY: Final = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'"
)
"""The security policy of a report: it may run its own scripts, in an origin of its own."""

_HEADERS: Final = {
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
_NEVER_CHANGES = ("GET", "HEAD")


def guarded(send: Send, policy: str, referrer: str = "no-referrer") -> Send:
    """Return a `send` that adds the headers of every answer.

    `policy` is the security policy of its pages. Pages with forms need the `referrer` same-origin:
    otherwise a browser does not say from which origin a form comes.
    """
    added = {"content-security-policy": policy, "referrer-policy": referrer, **_HEADERS}

    async def send_guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in added.items():
                headers.setdefault(name, value)
        await send(message)

    return send_guarded


def is_own(method: str, headers: Headers, origin: str) -> bool:
    """Return whether a browser's request comes from a page of this origin, or from no page."""
    if headers.get("origin", origin) != origin:
        return False
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    return method in _NEVER_CHANGES or "origin" in headers


def read_cookie(header: str, name: str) -> str:
    """Return the value of a cookie in a header, empty without it."""
    try:
        cookies = SimpleCookie(header)
    except CookieError:
        return ""
    return cookies[name].value if name in cookies else ""


class Connection(H11Protocol):
    """A connection that is closed if its request does not arrive whole in time."""

    whole = WHOLE
    deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection; if too many are waiting, close the oldest of them."""
        super().connection_made(transport)
        others = (one for one in self.connections if isinstance(one, Connection))
        waiting = {one.deadline.when(): one for one in others if one.deadline}
        if len(waiting) >= MOST_WAITING:
            waiting[min(waiting)].give_up()
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Read more of a request."""
        super().data_received(data)
        self._watch()

    def _watch(self) -> None:
        """Set a deadline while a request is incomplete."""
        waits = self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        if waits and not self.deadline:
            self.deadline = self.loop.call_later(self.whole, self.give_up)
        elif self.deadline and not waits:
            self.deadline.cancel()
            self.deadline = None

    def give_up(self) -> None:
        """Close a connection without a complete request."""
        self.deadline = None
        self.transport.abort()


class PageServer(uvicorn.Server):
    """A server that ends on a signal, which it does not raise again, or by `end`.

    Besides Ctrl-C, the signals of `ends` end it. The event `closing` is set when it begins to end.
    """

    signal = 0

    def __init__(
        self,
        app: ASGIApp,
        closing: asyncio.Event,
        ends: Sequence[int],
        connection: type[Connection] = Connection,
    ) -> None:
        config = uvicorn.Config(
            app,
            log_config=None,
            log_level="error",
            access_log=False,
            server_header=False,
            date_header=False,
            lifespan="off",
            http=connection,
            ws="none",
            backlog=_MOST_ACCEPTED,
            proxy_headers=False,
            limit_concurrency=_MOST_AT_ONCE,
            timeout_graceful_shutdown=_PATIENCE,
        )
        super().__init__(config)
        self.closing = closing
        self.ends = ends
        self.failed = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept connections; failures to accept are reported once."""
        asyncio.get_running_loop().set_exception_handler(self._hear_failure)
        await super().startup(sockets)

    def _hear_failure(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not isinstance(error, OSError) or "accept" not in context["message"]:
            loop.default_exception_handler(context)
        elif not self.failed:
            self.failed = True
            why = f"no connection can be accepted now: {error.strerror or error}"
            print(f"warning: {why}", file=sys.stderr, flush=True)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the requests that wait for news before the server, which would wait for them."""
        self.closing.set()
        await super().shutdown(sockets)

    def end(self) -> None:
        """Request the server's end; another thread may call this."""
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Let signals end the server; only the main thread handles signals."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def hear(number: int, _frame: object) -> None:
            self.signal = number
            self.end()

        before = {number: signal.signal(number, hear) for number in (signal.SIGINT, *self.ends)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def run_until_end(self, bound: socket.socket, ready: Callable[[], None]) -> None:
        """Serve until a signal, and call `ready` once it answers.

        Returns after Ctrl-C; other signals exit as usual.
        """
        asyncio.run(self._serve_here(bound, ready))
        if self.signal not in (0, signal.SIGINT):
            sys.exit(128 + self.signal)

    async def _serve_here(self, bound: socket.socket, ready: Callable[[], None]) -> None:
        serving = asyncio.create_task(self.serve(sockets=[bound]))
        while not self.started and not serving.done():
            await asyncio.sleep(0.01)
        if self.started:
            ready()
        await serving


@contextmanager
def listen(port: int, host: str = HOST) -> Iterator[socket.socket]:
    """Yield a socket that programs on this machine can reach, or others with a `host`.

    It has its protocol: else asyncio does not switch off Nagle's algorithm, and an answer takes
    40 ms longer. Raises InputError.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        where = f"--port {port}" if host == HOST else f"--host {host} --port {port}"
        raise InputError(f"{where}: {error.strerror or error}") from None
    with bound:
        yield bound
