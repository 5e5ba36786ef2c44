"""The front of every command that listens: which clients may ask, how long, and what all get.

Who connects is known before anything is read. Of many connections that wait for their client, the
address that has most of them loses the one that was silent for longest, so that each address has a
share. A request has a deadline, and an error is one line.
"""

from __future__ import annotations

import asyncio
import ipaddress
import signal
import socket
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import h11
import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from arena.errors import ArenaError, InputError

HOST: Final = "127.0.0.1"
WHOLE: Final = 10.0
"""Seconds in which a request must be complete."""

MOST_WAITING: Final = 100
"""Connections that wait for their client, at most."""

TOO_LARGE: Final = 413
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


class Front:
    """Answers the requests that are not refused, with the headers of every answer.

    `refuse` returns the answer to a request that is refused, before its body is read. `policy` is
    the security policy of pages. Pages with forms need the `referrer` same-origin: otherwise a
    browser does not say from which origin a form comes. A request has `whole` seconds to come.
    """

    def __init__(
        self,
        app: ASGIApp,
        refuse: Callable[[Scope], ASGIApp | None],
        policy: str = "default-src 'none'",
        referrer: str = "no-referrer",
        whole: float = WHOLE,
    ) -> None:
        self.app = app
        self.refuse = refuse
        self.whole = whole
        self._added = {"content-security-policy": policy, "referrer-policy": referrer, **_HEADERS}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; a client that breaks off, and the end of the server, are no errors."""

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._added.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await (self.refuse(scope) or self.app)(scope, receive, send_guarded)
        except (ClientDisconnect, asyncio.CancelledError):
            pass
        except Exception as error:
            _tell(f"a request failed: {type(error).__name__}: {error}")


def _tell(why: str) -> None:
    print(f"error: {ArenaError(why)}", file=sys.stderr, flush=True)


class Bounded(Request):
    """A request whose body has at most `most` bytes; raises HTTPException 413 for a larger one."""

    def __init__(self, request: Request, most: int) -> None:
        super().__init__(request.scope, request.receive)
        self.most = most

    async def stream(self) -> AsyncIterator[bytes]:  # type: ignore[override]
        """Yield the parts of the body."""
        size = 0
        async for part in super().stream():
            size += len(part)
            if size > self.most:
                said = f"larger than {self.most >> 10:,} KB"
                raise HTTPException(TOO_LARGE, said, {"connection": "close"})
            yield part


def is_own(method: str, headers: Headers, origin: str) -> bool:
    """Return whether a browser's request comes from a page of this origin, or from no page."""
    if headers.get("origin", origin) != origin:
        return False
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    return method in _NEVER_CHANGES or "origin" in headers


def network_of(client: str) -> str:
    """Return a client's address; of IPv6 the half that a client cannot choose.

    >>> network_of("2001:db8::1:2:3:4"), network_of("127.0.0.1")
    ('2001:db8::/64', '127.0.0.1')
    """
    try:
        address = ipaddress.ip_address(client)
    except ValueError:
        return client[:64]
    if address.version == 6:
        return str(ipaddress.ip_network((int(address), 64), strict=False))
    return str(address)


class Connection(H11Protocol):
    """A connection that is closed if its client is too slow, or if others need its place."""

    network = ""
    heard = 0.0
    has_ended = False
    deadline: asyncio.TimerHandle | None = None

    @property
    def waits(self) -> bool:
        """Whether it waits for its client: to send a request, or to read an answer."""
        is_sending = self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        return not self.has_ended and (is_sending or self.flow.write_paused)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection; if too many are waiting, close one of them."""
        super().connection_made(transport)
        self.network = network_of(self.client[0]) if self.client else ""
        self.heard = self.loop.time()
        self._watch()
        others = [one for one in self.connections if isinstance(one, Connection) and one.waits]
        if len(others) > MOST_WAITING:
            shares = Counter(one.network for one in others)
            max(others, key=lambda one: (shares[one.network], -one.heard)).give_up()

    def data_received(self, data: bytes) -> None:
        """Read more of a request."""
        self.heard = self.loop.time()
        try:
            super().data_received(data)
        except h11.ProtocolError:  # in the middle of an answer
            self.give_up()
        self._watch()

    def pause_writing(self) -> None:
        """Note that the client reads its answer more slowly than it is written."""
        super().pause_writing()
        self._watch()

    def resume_writing(self) -> None:
        """Note that the client has read enough."""
        super().resume_writing()
        self._forget_deadline()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the client has gone."""
        super().connection_lost(exc)
        self.has_ended = True
        self._forget_deadline()

    def give_up(self) -> None:
        """Close the connection at once."""
        self.has_ended = True
        self.transport.abort()

    def _watch(self) -> None:
        """Set a deadline while the client is waited for."""
        if not self.waits:
            self._forget_deadline()
        elif self.deadline is None:
            whole: float = self.config.app.whole  # type: ignore[union-attr]
            self.deadline = self.loop.call_later(whole, self.give_up)

    def _forget_deadline(self) -> None:
        if self.deadline is not None:
            self.deadline.cancel()
        self.deadline = None


class FrontServer(uvicorn.Server):
    """A server that ends on a signal, which it does not raise again, or by `end`.

    Besides Ctrl-C, the signals of `ends` end it. `closing` is called when it begins to end.
    """

    signal = 0

    def __init__(
        self, front: Front, ends: Sequence[int] = (), closing: Callable[[], object] = lambda: None
    ) -> None:
        config = uvicorn.Config(
            front,
            log_config=None,
            log_level="critical",  # the front tells what is to be told
            access_log=False,
            server_header=False,
            date_header=False,
            lifespan="off",
            http=Connection,
            ws="none",
            backlog=_MOST_ACCEPTED,
            proxy_headers=False,
            limit_concurrency=_MOST_AT_ONCE,
            timeout_graceful_shutdown=_PATIENCE,
        )
        super().__init__(config)
        self.closing = closing
        self.ends = ends
        self._told: set[str] = set()
        self.ready: Callable[[], object] = lambda: None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept connections."""
        asyncio.get_running_loop().set_exception_handler(self._hear_failure)
        await super().startup(sockets)
        self.ready()

    def _hear_failure(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Tell each kind of failure once, in one line, such as that there are no open files."""
        if context["message"] not in self._told:
            self._told.add(context["message"])
            _tell(f"{context['message']}: {context.get('exception')}")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the requests that wait for news before the server, which would wait for them."""
        self.closing()
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

    def run_until_end(self, bound: socket.socket, ready: Callable[[], object]) -> None:
        """Serve until a signal, and call `ready` once it answers.

        Returns after Ctrl-C; other signals exit as usual.
        """
        self.ready = ready
        asyncio.run(self.serve(sockets=[bound]))
        if self.signal not in (0, signal.SIGINT):
            sys.exit(128 + self.signal)


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
