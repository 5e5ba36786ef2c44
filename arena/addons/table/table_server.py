"""The web server of `arena table`: its page, whom it lets in, and its end by a signal."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Callable
from dataclasses import replace
from html import escape as escape_html
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec
from msgspec import Meta
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Scope

from arena.addons.table.table_games import SEEDS, Hall, Match, Records, Session, TableGame
from arena.entries.catalogue import STRENGTHS, catalogue
from arena.entries.resolve import resolve
from arena.errors import ArenaError, InputError, escape
from arena.lanes.temp_and_cache_folders import scratch_folder
from arena.processes import TERMINATION
from arena.replays.html_page import SCRIPTS, STYLE, STYLES, render, static
from arena.reports.http_server import HOST, Bounded, Front, FrontServer, is_own, listen
from arena.runs.rerun import find_opponent, start_apart
from arena.tournament.config_keys import MOST_SEED
from arena.tournament.schedule import Fixture, Pairing
from engine import RULES_TEXT

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The security policy of the page: it loads only from this server, without inline scripts."""

REFUSED: Final = "Not let in: the terminal of the running `arena table` has the address."

_SECRET: Final = 32  # random bytes
_PAGE: Final = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<title>District Noir Arena</title>
<meta http-equiv="refresh" content="0; url={address}">
<p><a href="{address}">To the table</a></p>
</html>
"""


class Guard:
    """Refuses requests that are not below a path of random letters.

    The page itself may be opened from anywhere; every other request must come from a page of this
    server. Another name of the host is refused, to which a site's name could lead (DNS
    rebinding).
    """

    def __init__(self, port: int) -> None:
        self.root = f"/{secrets.token_urlsafe(_SECRET)}/"
        self.address = f"http://{HOST}:{port}{self.root}"
        self._hosts = ([f"{HOST}:{port}"], [f"localhost:{port}"])

    def refuse(self, scope: Scope) -> ASGIApp | None:
        """Return the answer to a request that is refused."""
        path, method, headers = scope["path"], scope["method"], Headers(scope=scope)
        hosts, asked = headers.getlist("host"), path[: len(self.root)].encode()
        if hosts in self._hosts and secrets.compare_digest(asked, self.root.encode()):
            opens_page = method == "GET" and path == self.root
            if opens_page or is_own(method, headers, f"http://{hosts[0]}"):
                return None
        return PlainTextResponse(REFUSED, 403, {"connection": "close"})


def write_page(path: Path, address: str) -> None:
    """Write a page that opens an address, as a new file that only this user can read.

    A browser gets the file's path and not the address, because all users can read command lines.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with open(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
        file.write(_PAGE.format(address=escape_html(address)))


MOST_BODY: Final = 1 << 14
_PERSON: Final = "human"
_LONGEST: Final = 20.0  # seconds until an answer without news
_GLANCE: Final = 0.03  # seconds between two looks for news
_OWN: Final = ("arena.addons.table/table.css", "arena.addons.table/table.js")
_FILES: Final = {
    name.partition("/")[2]: name for name in (STYLE, *STYLES, _OWN[0], *SCRIPTS, _OWN[1])
}
"""The files of the page by the last part of their address; scripts load in this order."""

Text = Annotated[str, Meta(min_length=1, max_length=4000)]
Seed = Annotated[int, Meta(ge=0, le=MOST_SEED)]


class NewGame(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a request for a game: against one bot, or of two bots that are watched."""

    bots: Annotated[list[Text], Meta(min_length=1, max_length=2)]
    begins: Literal["me", "bot", "lot"] = "lot"
    seed: Seed | None = None


class Act(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a request with the person's action for a ply."""

    ply: int
    action: str


class Nothing(msgspec.Struct, forbid_unknown_fields=True):
    """The empty body of a request whose address says everything."""


AnyBody = TypeVar("AnyBody", NewGame, Act, Nothing)


async def read_body(request: Request, wanted: type[AnyBody]) -> AnyBody:
    """Return the body of a request; raises InputError if it is not of the wanted form."""
    if request.headers.get("content-type") != "application/json":
        raise InputError("the request: expected application/json")
    body = await Bounded(request, MOST_BODY).body()
    try:
        return msgspec.json.decode(body, type=wanted)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"the request: {error}") from None


class Table:
    """Answers the requests of the page; `folder` is a scratch folder for the processes of bots."""

    def __init__(self, results: Path, folder: Path) -> None:
        self.hall = Hall(folder)
        self.records = Records(results / "human")
        self.closing = asyncio.Event()

    def application(self, root: str) -> Starlette:
        """Return the web application below this address."""
        game, post = "/api/games/{id}", ["POST"]
        routes = [
            Route("/", self.page),
            *(Route(f"/{name}", self.file) for name in _FILES),
            Route("/api/home", self.home),
            Route("/api/games", self.new_game, methods=post),
            Route(game, self.news),
            Route(f"{game}/act", self.act, methods=post),
            Route(f"{game}/leave", self.leave, methods=post),
            Route(f"{game}/judge", self.judge, methods=post),
        ]
        return Starlette(
            routes=[Mount(root.rstrip("/"), routes=routes)],
            exception_handlers={ArenaError: _refuse, LookupError: _not_there},
        )

    async def page(self, _request: Request) -> Response:
        """Send the page, with the rules."""
        rules = RULES_TEXT.splitlines()[1:]
        page = render("arena.addons.table/index.html", files=[*_FILES], rules=rules)
        return Response(page, media_type="text/html")

    async def file(self, request: Request) -> Response:
        """Send a script or a style."""
        name = request.url.path.rpartition("/")[2]
        kind = "text/css" if name.endswith("css") else "text/javascript"
        return Response(static(_FILES[name]), media_type=kind)

    async def home(self, _request: Request) -> Response:
        """Send the bots that have names, and the games at this table."""
        return JSONResponse({"bots": list_bots(), "games": self.hall.listing()})

    async def new_game(self, request: Request) -> Response:
        """Begin a game, and send its id."""
        asked = await read_body(request, NewGame)
        return JSONResponse({"id": await run_in_threadpool(self._begin, asked)})

    def _begin(self, asked: NewGame) -> str:
        if len(asked.bots) == 2:
            return self.hall.open(_make_watched(asked), self.records)
        entry = find_opponent(_PERSON, asked.bots[0])
        lot = secrets.randbelow(2) == 0
        begins = lot if asked.begins == "lot" else asked.begins == "me"
        seed = 2 * secrets.randbelow(SEEDS // 2) + (not begins)
        session = Session(_PERSON, entry, asked.bots[0], seed)
        return self.hall.open(session.match(0), self.records, session)

    async def news(self, request: Request) -> Response:
        """Send the state of a game, once it is newer than the version in the request."""
        game, after = self._game(request), request.query_params.get("after", "")
        ends = asyncio.get_running_loop().time() + _LONGEST
        while str(game.news["version"]) == after and not self.closing.is_set():
            await asyncio.sleep(_GLANCE)
            if asyncio.get_running_loop().time() > ends:
                break
        return JSONResponse(game.news)

    async def act(self, request: Request) -> Response:
        """Carry out the person's action."""
        asked = await read_body(request, Act)
        self._game(request).act(asked.ply, asked.action)
        return JSONResponse({})

    async def leave(self, request: Request) -> Response:
        """End a game."""
        await read_body(request, Nothing)
        self._game(request).leave()
        return JSONResponse({})

    async def judge(self, request: Request) -> Response:
        """Send a finished game with the loss of each decision, which takes seconds."""
        await read_body(request, Nothing)
        return JSONResponse(await run_in_threadpool(self._game(request).judge))

    def _game(self, request: Request) -> TableGame:
        return self.hall.find(request.path_params["id"])


def list_bots() -> list[dict[str, str]]:
    """Return the bots to choose from, with a text for each: those for newcomers come first."""
    strengths = [
        {"name": one.bot, "text": f"{one.number} {one.words}: {one.bot} (Elo {one.elo})"}
        for one in STRENGTHS
    ]
    named = {one.bot for one in STRENGTHS}
    others = sorted(bot.name for bot in catalogue() if bot.name not in named)
    return [*strengths, *({"name": name, "text": name} for name in others)]


def _make_watched(asked: NewGame) -> Match:
    """Return a game of two bots, on the deal of pair 0, with the first bot in seat 0."""
    first, second = (start_apart(resolve(spec)) for spec in asked.bots)
    if first.label == second.label:
        second = replace(second, label=f"{second.label[:50]} (2)")
    seed = secrets.randbelow(SEEDS) if asked.seed is None else asked.seed
    return Match(Fixture(Pairing(first.label, second.label), 0, 0), {0: first, 1: second}, seed)


def _refuse(_request: Request, error: Exception) -> Response:
    return JSONResponse({"error": escape(str(error))}, 400)


def _not_there(_request: Request, _error: Exception) -> Response:
    return JSONResponse({"error": "there is no such game"}, 404)


def make_server(results: Path, folder: Path, port: int) -> tuple[FrontServer, Guard, Table]:
    """Return a server for a port of this machine, its guard, and its table."""
    guard, table = Guard(port), Table(results, folder)
    front = Front(table.application(guard.root), guard.refuse, POLICY)
    return FrontServer(front, TERMINATION, table.closing.set), guard, table


def serve(
    results: Path, port: int, tell: Callable[[str], None], show: Callable[[Path], Any] | None
) -> None:
    """Serve the table; once it answers, pass its address to `tell`, and a page's path to `show`.

    The page opens the address; only this user can read it, and it is removed when the server ends.
    Port 0 means any free port. Returns after Ctrl-C; SIGTERM and SIGHUP exit as usual. Raises
    InputError for a port that cannot be used.
    """
    with listen(port) as bound, scratch_folder() as folder:
        server, guard, table = make_server(results, folder, bound.getsockname()[1])

        def ready() -> None:
            tell(guard.address)
            if show is not None:
                page = folder / "open.html"
                write_page(page, guard.address)
                show(page)

        try:
            server.run_until_end(bound, ready)
        finally:
            table.hall.close()
