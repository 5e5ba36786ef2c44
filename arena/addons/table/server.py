"""Run the web server of `arena table` on 127.0.0.1 until a signal ends it, and clean up."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from arena.addons.table.application import make_application
from arena.addons.table.guard import Door, Guard, is_of_stranger, write_page
from arena.addons.table.visitor import Table
from arena.errors import InputError
from arena.lanes.cleanup import TERMINATION
from arena.lanes.scratch import scratch_folder

HOST: Final = "127.0.0.1"
_PAGE = "open.html"
_PATIENCE = 1  # seconds for unfinished answers when the server ends
_MOST_AT_ONCE = 200  # connections
MOST_WAITING = 100  # waiting connections, above which the longest waiting one is closed
_MOST_ACCEPTED = 256  # connections accepted together; each is open until its user is known
WHOLE = 10.0  # seconds in which a request must be complete


class Connection(H11Protocol):
    """A connection; closed at once if it is another user's, and soon if it sends nothing."""

    deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection; if too many are waiting, close the oldest of them."""
        super().connection_made(transport)
        if is_of_stranger(*map(transport.get_extra_info, ("peername", "sockname"))):
            transport.abort()
            return
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
            self.deadline = self.loop.call_later(WHOLE, self.give_up)
        elif self.deadline and not waits:
            self.deadline.cancel()
            self.deadline = None

    def give_up(self) -> None:
        """Close a connection without a complete request."""
        self.deadline = None
        self.transport.abort()


class TableServer(uvicorn.Server):
    """A server that ends on a signal, which it does not raise again, or by `end`."""

    signal = 0

    def __init__(self, config: uvicorn.Config, closing: asyncio.Event) -> None:
        super().__init__(config)
        self.closing = closing
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
        """End the streams of events before the server, which would wait for them."""
        self.closing.set()
        await super().shutdown(sockets)

    def end(self) -> None:
        """Request the server's end; another thread may call this."""
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Let Ctrl-C, SIGTERM and SIGHUP end the server; only the main thread handles signals.

        The handler is a plain function: from a bound method sse_starlette would find the server,
        and cut off the streams before `closing` ends them in order.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def hear(number: int, _frame: object) -> None:
            self.signal = number
            self.end()

        before = {number: signal.signal(number, hear) for number in (signal.SIGINT, *TERMINATION)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def serve(
    results: Path, port: int, tell: Callable[[str], None], show: Callable[[Path], None] | None
) -> None:
    """Serve the table; once it answers, pass an address to `tell`, and a page's path to `show`.

    An address admits one browser; after its use, the callback gets a new one. The page opens a
    further, secret address; only this user can read the page, which is removed when the server
    ends. Port 0 means any free port. Returns after Ctrl-C; SIGTERM and SIGHUP exit as usual. Raises
    InputError for a port that cannot be used.
    """
    with listen(port) as bound, scratch_folder() as folder:
        table = Table(results, folder)

        def ready() -> None:
            _tell_addresses(guard.door, tell)
            if show is not None:
                page = folder / _PAGE
                write_page(page, guard.door.make_address())
                show(page)

        try:
            server, guard = make_server(table, bound.getsockname()[1])
            asyncio.run(_serve(server, bound, ready))
        finally:
            table.hall.close()
    if server.signal not in (0, signal.SIGINT):
        sys.exit(128 + server.signal)


def _tell_addresses(door: Door, tell: Callable[[str], None]) -> None:
    """Pass an address to the callback, and a new one whenever the last was used."""

    def tell_next() -> None:
        with suppress(OSError):  # the output was closed
            _tell_addresses(door, tell)

    tell(door.make_address(tell_next))


def make_server(table: Table, port: int) -> tuple[TableServer, Guard]:
    """Return a server for a port of this machine, and its guard."""
    guard = Guard(lambda scope, receive, send: application(scope, receive, send), port)
    closing = asyncio.Event()
    application = make_application(table, guard.root, closing)
    config = uvicorn.Config(
        guard,
        log_config=None,
        log_level="error",
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
    return TableServer(config, closing), guard


@contextmanager
def listen(port: int) -> Iterator[socket.socket]:
    """Yield a socket that only programs on this machine can reach; raises InputError."""
    bound = socket.socket()
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((HOST, port))
    except OSError as error:
        bound.close()
        raise InputError(f"--port {port}: {error.strerror or error}") from None
    with bound:
        yield bound


async def _serve(server: TableServer, bound: socket.socket, ready: Callable[[], None]) -> None:
    serving = asyncio.create_task(server.serve(sockets=[bound]))
    while not server.started and not serving.done():
        await asyncio.sleep(0.01)
    if server.started:
        ready()
    await serving
