"""Run the web server of `arena table` on 127.0.0.1 until a signal ends it, and clean up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from arena.addons.table.application import make_application
from arena.addons.table.guard import Door, Guard, is_of_stranger, write_page
from arena.addons.table.visitor import Table
from arena.lanes.cleanup import TERMINATION
from arena.lanes.scratch import scratch_folder
from arena.reports.page_server import Connection, PageServer, listen

_PAGE = "open.html"


class OwnConnection(Connection):
    """A connection; closed at once if it is another user's."""

    def may_stay(self, transport: asyncio.Transport) -> bool:
        """Return whether the program at the other end is this user's, or root's."""
        return not is_of_stranger(*map(transport.get_extra_info, ("peername", "sockname")))


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
            server.run_until_end(bound, ready)
        finally:
            table.hall.close()


def _tell_addresses(door: Door, tell: Callable[[str], None]) -> None:
    """Pass an address to the callback, and a new one whenever the last was used."""

    def tell_next() -> None:
        with suppress(OSError):  # the output was closed
            _tell_addresses(door, tell)

    tell(door.make_address(tell_next))


def make_server(table: Table, port: int) -> tuple[PageServer, Guard]:
    """Return a server for a port of this machine, and its guard."""
    guard = Guard(lambda scope, receive, send: application(scope, receive, send), port)
    closing = asyncio.Event()
    application = make_application(table, guard.root, closing)
    return PageServer(guard, closing, TERMINATION, OwnConnection), guard
