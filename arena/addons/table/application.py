"""The web application in which a person plays: its routes, handlers, and streams of events."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future
from html import escape as escape_html
from typing import Any, Final
from urllib.parse import quote

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from arena.addons.table.looking_up import (
    describe_run,
    find_hint,
    find_record,
    follow_run,
    list_games,
    show_game,
)
from arena.addons.table.page_games import BotGame, PersonGame
from arena.addons.table.player import explain, list_cards
from arena.addons.table.visitor import (
    Act,
    Back,
    NewGame,
    NewWatch,
    Nothing,
    OfLine,
    Other,
    Table,
    read_body,
)
from arena.errors import ArenaError, escape
from arena.reports.page_server import REPORT_POLICY
from arena.store.html_page import SCRIPTS, STYLE, STYLES, static
from engine import EngineError


async def at_length(work: Callable[[], dict[str, Any]], closing: asyncio.Event) -> dict[str, Any]:
    """Return the result of work that takes seconds, done in a daemon thread.

    Raises what the work raises, and HTTPException 503 if the server ends before.
    """
    future: Future[dict[str, Any]] = Future()
    threading.Thread(target=_do, args=(work, future), daemon=True).start()
    done = asyncio.wrap_future(future)
    ended = asyncio.ensure_future(closing.wait())
    either: set[asyncio.Future[Any]] = {done, ended}
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    ended.cancel()
    if not done.done():
        done.cancel()
        raise HTTPException(503, "the table ends")
    return done.result()


def _do(work: Callable[[], dict[str, Any]], future: Future[dict[str, Any]]) -> None:
    future.set_running_or_notify_cancel()
    try:
        future.set_result(work())
    except Exception as error:
        future.set_exception(error)


def stream(documents: AsyncIterator[dict[str, Any]], closing: asyncio.Event) -> Response:
    """Return a response that streams documents as they arrive, until the server ends."""

    async def events() -> AsyncIterator[ServerSentEvent]:
        async for document in _until(closing, documents):
            yield ServerSentEvent(json.dumps(document, separators=(",", ":")))

    return EventSourceResponse(
        events(), ping=15, ping_message_factory=lambda: ServerSentEvent(comment="still there")
    )


async def _until(
    closing: asyncio.Event, documents: AsyncIterator[dict[str, Any]]
) -> AsyncIterator[dict[str, Any]]:
    """Yield documents until the event `closing` is set."""
    ended = asyncio.ensure_future(closing.wait())
    try:
        while not closing.is_set():
            following = asyncio.ensure_future(anext(documents))
            try:
                await asyncio.wait({ended, following}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                if not following.done():
                    following.cancel()
            if not following.done():
                return
            try:
                yield following.result()
            except StopAsyncIteration:
                return
    finally:
        ended.cancel()


_HTML: Final = "text/html"
_SCRIPTS: Final = ("page", "learn", "start", "play", "again", "watch", "runs", "main")
_OWN: Final = tuple(f"arena.addons.table/{name}.js" for name in _SCRIPTS)
_STYLES: Final = (STYLE, *STYLES, "arena.addons.table/table.css")
_TYPES: Final = {"css": "text/css", "js": "text/javascript"}
_FILES: Final = {name.partition("/")[2]: name for name in (*_STYLES, *SCRIPTS, *_OWN)}
"""The files of the page by the last part of their address; scripts load in this order."""

_ALONE: Final = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{root}/table.css">
<title>{name}</title>
<body class="alone">
<iframe class="report" sandbox="allow-scripts" title="Report of {name}" src="{source}"></iframe>
</html>
"""

Handler = Callable[[Request], Awaitable[Response]]


def make_application(table: Table, root: str, closing: asyncio.Event) -> Starlette:
    """Return the application; all its addresses begin with `root`.

    Streams of events end when `closing` is set.
    """
    handlers = _Handlers(table, root, closing)
    routes: list[BaseRoute] = [
        Route(f"{root}/", handlers.page),
        *(Route(f"{root}/{name}", handlers.file) for name in _FILES),
        Route(f"{root}/api/home", handlers.home),
        Route(f"{root}/api/games", handlers.new_game, methods=["POST"]),
        Route(f"{root}/api/interrupted/{{name}}/go-on", handlers.go_on, methods=["POST"]),
        Route(f"{root}/api/interrupted/{{name}}/keep", handlers.keep, methods=["POST"]),
        Route(f"{root}/api/games/{{id}}/events", handlers.game_events),
        Route(f"{root}/api/games/{{id}}/act", handlers.act, methods=["POST"]),
        Route(f"{root}/api/games/{{id}}/take-back", handlers.take_back, methods=["POST"]),
        Route(f"{root}/api/games/{{id}}/hint", handlers.hint, methods=["POST"]),
        Route(f"{root}/api/games/{{id}}/next", handlers.next_game, methods=["POST"]),
        Route(f"{root}/api/games/{{id}}/leave", handlers.leave_game, methods=["POST"]),
        Route(f"{root}/api/watched", handlers.new_watch, methods=["POST"]),
        Route(f"{root}/api/watched/{{id}}/events", handlers.watched_events),
        Route(f"{root}/api/watched/{{id}}/leave", handlers.leave_watched, methods=["POST"]),
        Route(f"{root}/api/watched/{{id}}/timeline", handlers.watched_timeline),
        Route(f"{root}/api/runs", handlers.runs),
        Route(f"{root}/api/run", handlers.run),
        Route(f"{root}/api/run/events", handlers.run_events),
        Route(f"{root}/api/run/games", handlers.run_games),
        Route(f"{root}/api/run/game", handlers.run_game),
        Route(f"{root}/api/league", handlers.league),
        Route(f"{root}/api/records", handlers.records),
        Route(f"{root}/api/record", handlers.record),
        Route(f"{root}/api/review", handlers.review, methods=["POST"]),
        Route(f"{root}/api/judged", handlers.judged, methods=["POST"]),
        Route(f"{root}/api/other", handlers.other, methods=["POST"]),
        Route(f"{root}/api/rules", handlers.rules),
        Route(f"{root}/report/{{name:path}}", handlers.report),
        Route(f"{root}/alone/{{name:path}}", handlers.alone),
    ]
    return Starlette(routes=routes, exception_handlers=_REFUSALS)


def _refuse(status: int) -> Callable[[Request, Exception], Response]:
    def refuse(_request: Request, error: Exception) -> Response:
        return JSONResponse({"error": escape(str(error))}, status)

    return refuse


def _refuse_http(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code)


def _not_there(_request: Request, _error: Exception) -> Response:
    return JSONResponse({"error": "there is no such thing here"}, 404)


_REFUSALS: Final = {
    ArenaError: _refuse(400),
    EngineError: _refuse(400),
    LookupError: _not_there,
    HTTPException: _refuse_http,
}


class _Handlers:
    """Answers requests; slow work is done in a thread."""

    def __init__(self, table: Table, root: str, closing: asyncio.Event) -> None:
        self.table = table
        self.root = root
        self.closing = closing

    async def page(self, _request: Request) -> Response:
        files = [f'<link rel="stylesheet" href="{name}">' for name in _FILES if "css" in name]
        files += [f'<script defer src="{name}"></script>' for name in _FILES if "js" in name]
        page = static("arena.addons.table/index.html").replace("<!-- files -->", "\n".join(files))
        return Response(page, media_type=_HTML)

    async def file(self, request: Request) -> Response:
        name = request.url.path.rpartition("/")[2]
        return Response(static(_FILES[name]), media_type=_TYPES[name.rpartition(".")[2]])

    async def home(self, _request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(self.table.home))

    async def new_game(self, request: Request) -> Response:
        asked = await read_body(request, NewGame)
        return JSONResponse({"id": await run_in_threadpool(self.table.sit_down, asked)})

    async def go_on(self, request: Request) -> Response:
        await read_body(request, Nothing)
        name = request.path_params["name"]
        return JSONResponse({"id": await run_in_threadpool(self.table.go_on, name)})

    async def keep(self, request: Request) -> Response:
        await read_body(request, Nothing)
        name = request.path_params["name"]
        return JSONResponse({"line": await run_in_threadpool(self.table.keep, name)})

    async def new_watch(self, request: Request) -> Response:
        asked = await read_body(request, NewWatch)
        return JSONResponse({"id": await run_in_threadpool(self.table.watch, asked)})

    async def game_events(self, request: Request) -> Response:
        return stream(self._game(request).news.follow(), self.closing)

    async def watched_events(self, request: Request) -> Response:
        return stream(self._watched(request).news.follow(), self.closing)

    async def act(self, request: Request) -> Response:
        asked = await read_body(request, Act)
        self._game(request).act(asked.ply, asked.action)
        return JSONResponse({})

    async def take_back(self, request: Request) -> Response:
        asked = await read_body(request, Back)
        self._game(request).take_back(asked.ply)
        return JSONResponse({})

    async def hint(self, request: Request) -> Response:
        await read_body(request, Nothing)
        seen = self._game(request).asked()
        return JSONResponse(await run_in_threadpool(find_hint, seen))

    async def next_game(self, request: Request) -> Response:
        await read_body(request, Nothing)
        game = self._game(request)
        return JSONResponse({"id": await run_in_threadpool(self.table.sit_down_again, game)})

    async def leave_game(self, request: Request) -> Response:
        await read_body(request, Nothing)
        self._game(request).leave()
        return JSONResponse({})

    async def leave_watched(self, request: Request) -> Response:
        await read_body(request, Nothing)
        self._watched(request).leave()
        return JSONResponse({})

    async def watched_timeline(self, request: Request) -> Response:
        game = self._watched(request)
        return JSONResponse(await run_in_threadpool(self.table.timeline_of_bots, game))

    async def runs(self, request: Request) -> Response:
        """Send all that was started, or only one run."""
        if "name" in request.query_params:
            name = _text(request, "name")
            found = [await run_in_threadpool(self.table.shelf.describe, name)]
        else:
            found = await run_in_threadpool(self.table.shelf.listing)
        return JSONResponse({"runs": found})

    async def run(self, request: Request) -> Response:
        path = self.table.shelf.find(_text(request, "name"))
        return JSONResponse(await run_in_threadpool(describe_run, path))

    async def run_events(self, request: Request) -> Response:
        path = self.table.shelf.find(_text(request, "name"))
        return stream(follow_run(path), self.closing)

    async def run_games(self, request: Request) -> Response:
        path = self.table.shelf.find(_text(request, "name"))
        numbers = _number(request, "pairing"), _number(request, "first")
        return JSONResponse(await run_in_threadpool(list_games, path, *numbers))

    async def run_game(self, request: Request) -> Response:
        path = self.table.shelf.find(_text(request, "name"))
        place = [_number(request, name) for name in ("pairing", "pair", "seat")]
        return JSONResponse(await run_in_threadpool(show_game, path, *place))

    async def league(self, request: Request) -> Response:
        content = await run_in_threadpool(self.table.shelf.league, _text(request, "name"))
        return Response(content, media_type="application/json")

    async def records(self, _request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(self.table.own_games))

    async def record(self, request: Request) -> Response:
        line = _number(request, "line")
        return JSONResponse(await run_in_threadpool(find_record, self.table.records.path, line))

    async def review(self, request: Request) -> Response:
        asked = await read_body(request, OfLine)
        return JSONResponse(await at_length(lambda: self.table.review(asked.line), self.closing))

    async def judged(self, request: Request) -> Response:
        asked = await read_body(request, OfLine)
        return JSONResponse(await at_length(lambda: self.table.judged(asked.line), self.closing))

    async def other(self, request: Request) -> Response:
        asked = await read_body(request, Other)
        return JSONResponse(await at_length(lambda: self.table.other(asked), self.closing))

    async def rules(self, _request: Request) -> Response:
        parts = [part._asdict() for part in explain()]
        return JSONResponse({"parts": parts, "cards": list_cards()})

    async def report(self, request: Request) -> Response:
        """Send a report into a frame only: in a tab of its own it could open another site there."""
        if request.headers.get("sec-fetch-dest", "iframe") != "iframe":
            address = f"{self.root}/alone/{quote(request.path_params['name'])}"
            return RedirectResponse(address, status_code=303)
        content = await run_in_threadpool(self.table.shelf.report, request.path_params["name"])
        headers = {"content-security-policy": REPORT_POLICY}
        return Response(content, media_type=_HTML, headers=headers)

    async def alone(self, request: Request) -> Response:
        """Send a page with only a report, in a frame that cannot open another site in the tab."""
        name = request.path_params["name"]
        self.table.shelf.find_report(name)
        source = f"{self.root}/report/{quote(name)}"
        page = _ALONE.format(root=self.root, name=escape_html(name), source=source)
        return Response(page, media_type=_HTML)

    def _game(self, request: Request) -> PersonGame:
        return self.table.hall.find(request.path_params["id"], PersonGame)

    def _watched(self, request: Request) -> BotGame:
        return self.table.hall.find(request.path_params["id"], BotGame)


def _text(request: Request, name: str) -> str:
    value: str = request.query_params[name]
    return value


def _number(request: Request, name: str) -> int:
    """Return a number in an address; an invalid one gives an answer "not found"."""
    text = _text(request, name)
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise LookupError(text)
    return int(text)
