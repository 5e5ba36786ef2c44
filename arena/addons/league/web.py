"""Serve a league: its pages for everybody, and for owners a form that fills the inbox."""

from __future__ import annotations

import logging
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from arena.addons.league.inbox import find_owner, find_queue, find_uploads, receive
from arena.addons.league.league import League
from arena.addons.league.league_settings import read_settings
from arena.addons.league.league_site import SITE
from arena.addons.league.submission import NotNow
from arena.errors import ArenaError, InputError, escape
from arena.files import read_file
from arena.replays.html_page import STYLE, render, static
from arena.reports.http_server import (
    REPORT_POLICY,
    TOO_LARGE,
    Bounded,
    Front,
    FrontServer,
    is_own,
    listen,
)

POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
"""The security policy of the page with the form: it has no scripts at all."""

_WHOLE: Final = 60.0  # seconds of a request: an upload of many megabytes may take a minute
_MOST_DRAINED: Final = 256 << 20  # bytes that are read of a body that is too large
_MOST_FORM: Final = 1 << 14  # bytes of a form beside its file
_MOST_PAGE: Final = 64 << 20  # bytes of a page of the league
_MOST_SHOWN: Final = 20  # answers
_COOKIE: Final = "arena_league"
_FILE: Final = re.compile(r"(?:bots/)?[A-Za-z0-9][A-Za-z0-9._-]{0,60}\.(html|json|csv)")
_ENDING: Final = re.compile(r"(.*?)(\.[A-Za-z0-9]{1,8})", re.DOTALL)
_TYPES: Final = {"html": "text/html", "json": "application/json", "csv": "text/csv"}


class Web:
    """The handlers of a league's web."""

    def __init__(self, folder: Path) -> None:
        """Read the league's settings; raises InputError."""
        self.folder = folder
        self.settings = read_settings(folder)
        self._most = (self.settings.most_megabytes << 20) + _MOST_FORM
        logging.getLogger("python_multipart").setLevel(logging.CRITICAL)  # strangers' bytes

    def application(self) -> Starlette:
        """Return the application; every address in its pages is relative."""
        routes = [
            Route("/", self.front),
            Route("/enter", self.enter, methods=["POST"]),
            Route("/hand-in", self.hand_in, methods=["POST"]),
            Route("/style.css", self.style),
            Route("/site/{name:path}", self.page),
        ]
        handlers: Any = {ArenaError: self._refuse, HTTPException: self._refuse}
        return Starlette(routes=routes, exception_handlers=handlers)

    def _admit(self, request: Request, token: str = "") -> str:
        """Return the owner of a token; raises HTTPException for a wrong one, or a foreign form."""
        own = is_own(request.method, request.headers, _origin(request))
        if request.method == "POST" and not (own or _bearer(request)):
            raise HTTPException(403, "this form is not of this page")
        if owner := find_owner(self.folder, token or _token_of(request)):
            return owner
        raise HTTPException(403, "this token is wrong, or not valid any more")

    async def front(self, request: Request) -> Response:
        """Send the page on which an owner enters the token, or hands in and reads the answers."""
        if not _token_of(request):
            return self._show()
        owner = self._admit(request)
        uploads = await run_in_threadpool(self._uploads, owner)
        if _wants_data(request):
            return JSONResponse({"owner": owner, "uploads": uploads})
        response = self._show(owner=owner, uploads=uploads)
        if any(one["place"] for one in uploads):
            response.headers["refresh"] = "15"
        return response

    def _uploads(self, owner: str) -> list[dict[str, Any]]:
        """Return what an owner has handed in: what waits here, then what has its answer."""
        with closing(League(self.folder)) as league:
            queue = [sent for _, sent in find_queue(league)]
            versions = league.ledger.versions("owner = ?", owner)
            refusals = league.ledger.refusals("owner = ?", owner)
        accepted = [(one.at, one.name, f"accepted: {one.title}") for one in versions]
        refused = [(one.at, one.name, f"refused: {one.name}: {one.why}") for one in refusals]
        answers = sorted([*accepted, *refused], reverse=True)[:_MOST_SHOWN]
        own = [(n, sent.name) for n, sent in enumerate(queue, 1) if sent.owner == owner]
        return [
            *({"bot": bot, "place": n} for n, bot in own),
            *({"bot": bot, "place": None, "at": at, "answer": text} for at, bot, text in answers),
        ]

    def _show(self, status: int = 200, **data: Any) -> Response:
        has_pages = (self.folder / SITE / "index.html").is_file()
        known: dict[str, Any] = {"settings": self.settings, "has_pages": has_pages, "uploads": []}
        known |= {"league": self.folder.resolve().name, "owner": "", "error": ""}
        page = render("arena.addons.league/hand_in.html", **known | data)
        return HTMLResponse(page, status)

    async def enter(self, request: Request) -> Response:
        """Let a browser in that has a right token, until it is closed."""
        form = await Bounded(request, _MOST_FORM).form(max_files=0, max_fields=4)
        token = str(form.get("token", "")).strip()
        self._admit(request, token)
        response = RedirectResponse("./", 303)
        is_safe = _origin(request).startswith("https:")
        how: Any = {"path": None, "httponly": True, "samesite": "lax", "secure": is_safe}
        response.set_cookie(_COOKIE, token, **how)
        return response

    async def hand_in(self, request: Request) -> Response:
        """Receive a file or a zip."""
        owner = self._admit(request)
        async with Bounded(request, self._most).form(max_files=1, max_fields=4) as form:
            file = form.get("file")
            if not isinstance(file, UploadFile) or not file.filename:
                raise InputError("the form: choose a file")
            name, ending = name_upload(file.filename, str(form.get("name", "")).strip())
            content = await file.read()
        if not content:
            raise InputError("the file: it is empty")
        await run_in_threadpool(self._receive, owner, name, ending, content)
        if _wants_data(request):
            return JSONResponse({"bot": name}, 202)
        return RedirectResponse("./", 303)

    def _receive(self, owner: str, name: str, ending: str, content: bytes) -> None:
        """Keep an upload; raises InputError and ArenaError."""
        with closing(League(self.folder)) as league:
            league.desk.check_right(name, owner)
        waiting = sum(sent.owner == owner for sent in find_uploads(self.folder))
        if waiting >= self.settings.a_day:
            raise NotNow(f"{waiting} of your uploads wait, as many as you have in a day")
        receive(self.folder, owner, f"{name}{ending}", content)

    async def style(self, _request: Request) -> Response:
        """Send the style of the pages."""
        text = static(STYLE) + static("arena.addons.league/web.css")
        return Response(text, media_type="text/css")

    async def page(self, request: Request) -> Response:
        """Send a page of the league, in an origin of its own, or one of its files."""
        name: str = request.path_params["name"] or "index.html"
        try:
            if not (kind := _FILE.fullmatch(name)):
                raise InputError(name)
            path = self.folder / SITE / name
            content = await run_in_threadpool(read_file, path, _MOST_PAGE, links=False)
        except InputError:
            raise HTTPException(404, "there is no such page") from None
        headers = {"content-security-policy": REPORT_POLICY, "referrer-policy": "no-referrer"}
        return Response(content, headers=headers, media_type=_TYPES[kind[1]])

    async def _refuse(self, request: Request, error: Exception) -> Response:
        """Answer an error with one line, on a page if a person reads it."""
        status, headers, why = 400, None, escape(str(error))
        if isinstance(error, HTTPException):
            status, headers, why = error.status_code, error.headers, error.detail
        elif isinstance(error, NotNow):
            status = 429
        elif not isinstance(error, InputError):
            print(f"error: {why}", file=sys.stderr, flush=True)  # it names files of this machine
            status, why = 503, "the league cannot be used now; try again in a minute"
        if status == TOO_LARGE:
            await _drain(request)
        if _wants_data(request):
            return JSONResponse({"error": why}, status, headers)
        response = self._show(status, error=why)
        response.headers.update(headers or {})
        return response


async def _drain(request: Request) -> None:
    """Read the rest of a body: a client that still sends it would not see the answer."""
    left = _MOST_DRAINED
    while left > 0:
        message = await request.receive()
        left -= len(message.get("body", b""))
        if not message.get("more_body"):
            return


def name_upload(file: str, name: str) -> tuple[str, str]:
    """Return the name of a bot, by default that of its file, and the file's ending.

    Raises InputError.

    >>> name_upload("mine.py", ""), name_upload("Downloads/x (1).zip", "mine")
    (('mine', '.py'), ('mine', '.zip'))
    """
    parts = _ENDING.fullmatch(file.replace("\\", "/").rpartition("/")[2])
    if not parts:
        raise InputError("the file: its name has no ending such as .py or .zip")
    return name or parts[1], parts[2].lower()


def _origin(request: Request) -> str:
    """Return the origin of these pages as the browser has it; a proxy says whether it has TLS."""
    is_safe = request.headers.get("x-forwarded-proto") == "https"
    return f"http{'s' * is_safe}://{request.headers.get('host', '')}"


def _bearer(request: Request) -> str:
    """Return the token in the header of a program, empty without one."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def _token_of(request: Request) -> str:
    return _bearer(request) or request.cookies.get(_COOKIE, "")


def _wants_data(request: Request) -> bool:
    """Return whether a program asks, and not a browser."""
    return bool(_bearer(request)) or "json" in request.headers.get("accept", "")


@contextmanager
def serving(folder: Path, port: int, host: str) -> Iterator[tuple[str, FrontServer]]:
    """Serve a league in a thread of its own during a block; yield its address, and the server."""
    front = Front(Web(folder).application(), lambda _: None, POLICY, "same-origin", _WHOLE)
    server = FrontServer(front)
    with listen(port, host) as bound:
        ready = threading.Event()
        thread = threading.Thread(target=server.run_until_end, args=(bound, ready.set))
        thread.start()
        try:
            ready.wait(_WHOLE)
            shown = f"[{host}]" if ":" in host else host
            yield f"http://{shown}:{bound.getsockname()[1]}/", server
        finally:
            server.end()
            thread.join()
