"""Run the web server of `arena table` on 127.0.0.1 until told to end, and leave nothing behind."""

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

from arena.errors import InputError
from arena.lanes.cleanup import TERMINATION, adopt_orphans
from arena.lanes.scratch import scratch_folder
from arena.table.application import make_application
from arena.table.guard import Door, Guard, is_of_stranger, write_page
from arena.table.visitor import Table

HOST: Final = "127.0.0.1"
_PAGE = "open.html"
_PATIENCE = 1  # seconds for answers under way when the server ends
_MOST_AT_ONCE = 200  # connections
MOST_WAITING = 100  # connections, when the one that has asked for nothing for longest is closed
_MOST_ACCEPTED = 256  # connections in one go; each is a descriptor until it is known whose it is
WHOLE = 10.0  # seconds in which a request has come whole


class Connection(H11Protocol):
    """A connection, which is closed at once if it is a stranger's, and soon if it only waits."""

    deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin with a connection; of too many that wait, the oldest is closed."""
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
        """Go on with a request."""
        super().data_received(data)
        self._watch()

    def _watch(self) -> None:
        """Have a deadline while a request has not come whole."""
        waits = self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        if waits and not self.deadline:
            self.deadline = self.loop.call_later(WHOLE, self.give_up)
        elif self.deadline and not waits:
            self.deadline.cancel()
            self.deadline = None

    def give_up(self) -> None:
        """Close a connection on which no whole request comes."""
        self.deadline = None
        self.transport.abort()


class TableServer(uvicorn.Server):
    """A server whose end comes with a signal that is not passed on, or with `end`."""

    signal = 0

    def __init__(self, config: uvicorn.Config, closing: asyncio.Event) -> None:
        super().__init__(config)
        self.closing = closing
        self.failed = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept connections; where none can be accepted, that is said once."""
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
        """End the streams of news first: nobody else would."""
        self.closing.set()
        await super().shutdown(sockets)

    def end(self) -> None:
        """End soon; another thread may call this."""
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Let Ctrl-C, SIGTERM and SIGHUP end the server; they belong to the main thread.

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
    """Serve the table; as soon as it answers, call `tell` with an address, `show` with a page.

    Each lets one browser in: `tell` gets another address when one has been used. The page leads
    to one that is told nobody; only this user can read it, and it goes when the server ends.
    Port 0 stands for a free one. Returns after Ctrl-C; SIGTERM and SIGHUP exit as usual.
    Raises InputError for a port that cannot be used.
    """
    adopt_orphans()
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
    """Tell of an address, and of the next one whenever the last has been used."""

    def tell_next() -> None:
        with suppress(OSError):  # nobody reads it any more
            _tell_addresses(door, tell)

    tell(door.make_address(tell_next))


def make_server(table: Table, port: int) -> tuple[TableServer, Guard]:
    """Return a server for a port of this machine, and who guards it."""
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
    """Yield a socket that only programs of this machine reach; raises InputError."""
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
