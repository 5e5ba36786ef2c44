"""Serve a league: its pages for everybody, and for each owner a page and a place to hand in.

This process only receives: an upload is stored and queued, and `arena league serve` takes it.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
import sys
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Route
from starlette.types import ASGIApp, Scope

from arena.addons.league.league_site import SITE
from arena.addons.league.owner_page import Full, Reception, name_upload
from arena.addons.league.submission import TooMany
from arena.entries.file import read_file
from arena.errors import ArenaError, InputError, escape
from arena.lanes.signals import TERMINATION
from arena.reports.front import (
    REPORT_POLICY,
    TOO_LARGE,
    Bounded,
    Front,
    FrontServer,
    is_own,
    network_of,
    read_cookie,
    too_large,
)
from arena.statistics.wording import write_ends
from arena.store.html_page import STYLE, render, static

POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
"""The security policy of a page of an owner: it has no scripts at all."""

MOST_GUESSES: Final = 20
"""Wrong tokens that a client may send in a minute."""

_WHOLE: Final = 60.0  # seconds of a request: an upload of many megabytes may take a minute
_MOST_DRAINED: Final = 256 << 20  # bytes that are read of a body that is too large
_MINUTE: Final = 60.0
_MOST_CLIENTS: Final = 10_000  # whose wrong tokens are counted
_MOST_FORM: Final = 1 << 14  # bytes of a form beside its file
_MOST_PAGE: Final = 64 << 20  # bytes of a page of the league
_COOKIE: Final = "arena_league"
_DAYS_90: Final = 90 * 86_400
_HOST: Final = re.compile(r"(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?")
_PREFIX: Final = re.compile(r"(?:/[A-Za-z0-9._~-]{1,80}){0,8}")
_FILE: Final = re.compile(r"(?:bots/)?[A-Za-z0-9][A-Za-z0-9._-]{0,60}\.(html|json|csv)")
_TYPES: Final = {"html": "text/html", "json": "application/json", "csv": "text/csv"}
_ASKED: Final = "asked"

T = TypeVar("T")


class Asked(NamedTuple):
    """Who sent a request: the client's address, and the address under which it found this page."""

    client: str
    origin: str
    prefix: str


def read_asked(scope: Scope, hosts: tuple[str, ...], proxy: str) -> Asked | None:
    """Return who sent a request; None for an address that is not served here.

    Headers X-Forwarded-For, -Proto, -Host and -Prefix are believed only from the proxy.
    """
    headers = Headers(scope=scope)
    client, host = (scope["client"] or ("", 0))[0], ",".join(headers.getlist("host"))
    if not proxy or client != proxy:
        return Asked(client, f"http://{host}", "") if host in hosts else None

    def last(name: str) -> str:
        """Return what the proxy itself has added: the last value."""
        return ",".join(headers.getlist(f"x-forwarded-{name}")).rpartition(",")[2].strip()

    scheme, host, prefix = last("proto") or "http", last("host") or host, last("prefix").rstrip("/")
    is_right = scheme in ("http", "https") and _HOST.fullmatch(host) and _PREFIX.fullmatch(prefix)
    return Asked(last("for") or client, f"{scheme}://{host}", prefix) if is_right else None


class Gate:
    """Refuses requests under other names than those of this server."""

    def __init__(self, host: str, port: int, proxy: str) -> None:
        shown = f"[{host}]" if ":" in host else host
        self.hosts = tuple(f"{name}:{port}" for name in ("127.0.0.1", "localhost", shown))
        self.proxy = proxy

    def refuse(self, scope: Scope) -> ASGIApp | None:
        """Return the answer to a request that is refused, or note who sent it."""
        scope[_ASKED] = read_asked(scope, self.hosts, self.proxy)
        if scope[_ASKED] is not None:
            return None
        why = "403: this name is not served here; behind a proxy, name it with --proxy\n"
        return PlainTextResponse(why, 403, {"connection": "close"})


class Guesses:
    """Counts the wrong tokens of each client in a minute."""

    def __init__(self) -> None:
        self._counts: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def note(self, client: str) -> None:
        """Count a wrong token; of very many clients, the one first counted is forgotten."""
        now, key = time.monotonic(), network_of(client)
        since, count = self._counts.get(key, (now, 0))
        self._counts[key] = (since, count + 1) if now - since < _MINUTE else (now, 1)
        if len(self._counts) > _MOST_CLIENTS:
            self._counts.popitem(last=False)

    def is_over(self, client: str) -> bool:
        """Return whether a client has sent too many in the last minute."""
        since, count = self._counts.get(network_of(client), (0.0, 0))
        return count >= MOST_GUESSES and time.monotonic() - since < _MINUTE


class Web:
    """The handlers of a league's web."""

    def __init__(self, folder: Path) -> None:
        """Open the league; raises InputError. Only one thread uses its databases."""
        self.site = folder / SITE
        self._thread = ThreadPoolExecutor(1)
        self.reception = self._thread.submit(Reception, folder).result()
        self._most = (self.reception.league.settings.most_megabytes << 20) + _MOST_FORM
        self._name = folder.resolve().name
        self._guesses = Guesses()
        logging.getLogger("python_multipart").setLevel(logging.CRITICAL)  # strangers' bytes
        self._known: set[bytes] = set()

    def close(self) -> None:
        """Close the league's files."""
        self._thread.submit(self.reception.close).result()
        self._thread.shutdown()

    async def _do(self, work: Callable[[], T]) -> T:
        """Return the result of work with the databases."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def application(self) -> Starlette:
        """Return the application; every address in its pages is relative."""
        return Starlette(
            routes=[
                Route("/", self.front),
                Route("/enter", self.enter, methods=["POST"]),
                Route("/leave", self.leave, methods=["POST"]),
                Route("/mine", self.mine),
                Route("/hand-in", self.hand_in, methods=["POST"]),
                Route("/style.css", self.style),
                Route("/site/{name:path}", self.page),
            ],
            exception_handlers={
                ArenaError: self._refuse,
                HTTPException: self._refuse,
            },
        )

    # who asks

    async def _owner(self, request: Request) -> str:
        """Return the owner whose token a request has; raises HTTPException."""
        token = _bearer(request) or read_cookie(request.headers.get("cookie", ""), _COOKIE)
        if not token:
            raise HTTPException(401, "hand in with the token that the organiser gave you")
        return await self._admit(request, token)

    async def _admit(self, request: Request, token: str) -> str:
        """Return the owner of a token; raises HTTPException for a wrong one.

        A client that has sent many wrong ones waits, unless its token was right before.
        """
        asked: Asked = request.scope[_ASKED]
        key = hashlib.sha256(token.encode(errors="surrogatepass")).digest()
        if key not in self._known and self._guesses.is_over(asked.client):
            raise HTTPException(429, "too many wrong tokens: wait a minute", {"retry-after": "60"})
        owner = await self._do(lambda: self.reception.post.find_owner(token))
        if not owner:
            self._known.discard(key)
            self._guesses.note(asked.client)
            raise HTTPException(403, "this token is wrong, or not valid any more")
        self._known.add(key)
        return owner

    def _check_own(self, request: Request) -> None:
        """Raise HTTPException unless a browser sends a form of these pages."""
        asked: Asked = request.scope[_ASKED]
        if not is_own(request.method, request.headers, asked.origin):
            raise HTTPException(403, "this form is not of this page")

    # pages

    async def front(self, request: Request) -> Response:
        """Send the first page, on which an owner enters the token."""
        try:
            await self._owner(request)
        except HTTPException:
            return self._show_front()
        return RedirectResponse("./mine", 303)

    def _show_front(self, error: str = "", status: int = 200) -> Response:
        has_pages = (self.site / "index.html").is_file()
        page = render(
            "arena.addons.league/front.html", league=self._name, error=error, has_pages=has_pages
        )
        return HTMLResponse(page, status)

    async def enter(self, request: Request) -> Response:
        """Let a browser in that has a right token."""
        self._check_own(request)
        form = await Bounded(request, _MOST_FORM).form(max_files=0, max_fields=4)
        token = str(form.get("token", "")).strip()
        await self._admit(request, token)
        asked: Asked = request.scope[_ASKED]
        response = RedirectResponse("./mine", 303)
        response.set_cookie(
            _COOKIE,
            token,
            max_age=_DAYS_90,
            path=f"{asked.prefix}/",
            httponly=True,
            samesite="lax",
            secure=asked.origin.startswith("https:"),
        )
        return response

    async def leave(self, request: Request) -> Response:
        """Let a browser forget the token."""
        self._check_own(request)
        response = RedirectResponse("./", 303)
        response.delete_cookie(_COOKIE, path=f"{request.scope[_ASKED].prefix}/")
        return response

    async def mine(self, request: Request) -> Response:
        """Send the page of an owner, or its data."""
        owner = await self._owner(request)
        data = await self._do(lambda: self.reception.describe(owner))
        if _wants_data(request):
            return JSONResponse(data)
        receipt = request.query_params.get("receipt", "")
        new = next((one for one in data["uploads"] if str(one["receipt"]) == receipt), None)
        waits = new is not None and not new["answer"]
        page = render("arena.addons.league/mine.html", **data, new=new, write_ends=write_ends)
        return HTMLResponse(page, headers={"refresh": "15"} if waits else None)

    async def hand_in(self, request: Request) -> Response:
        """Receive a file or a zip, and send its receipt."""
        if not _bearer(request):
            self._check_own(request)
        owner = await self._owner(request)
        length = request.headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._most:
            raise too_large(self._most)
        async with Bounded(request, self._most).form(max_files=1, max_fields=4) as form:
            file = form.get("file")
            if not isinstance(file, UploadFile) or not file.filename:
                raise InputError("the form: choose a file")
            name, ending = name_upload(file.filename, str(form.get("name", "")).strip())
            content = await file.read()
        if not content:
            raise InputError("the file: it is empty")
        sha256 = hashlib.sha256(content).hexdigest()
        receive = self.reception.receive
        receipt = await self._do(lambda: receive(owner, name, ending, sha256, content))
        if not _wants_data(request):
            return RedirectResponse(f"./mine?receipt={receipt}", 303)
        places = await self._do(self.reception.post.places)
        data = {"receipt": receipt, "bot": name, "sha256": sha256, "place": places.get(receipt)}
        return JSONResponse(data, 202)

    async def style(self, _request: Request) -> Response:
        """Send the style of the pages."""
        return Response(
            static(STYLE) + static("arena.addons.league/web.css"), media_type="text/css"
        )

    async def page(self, request: Request) -> Response:
        """Send a page of the league, in an origin of its own, or one of its files."""
        name: str = request.path_params["name"] or "index.html"
        kind = _FILE.fullmatch(name)
        if not kind:
            raise HTTPException(404, "there is no such page")
        try:
            content = await run_in_threadpool(read_file, self.site / name, _MOST_PAGE, links=False)
        except InputError:
            raise HTTPException(404, "there is no such page") from None
        headers = {"content-security-policy": REPORT_POLICY, "referrer-policy": "no-referrer"}
        return Response(content, headers=headers, media_type=_TYPES[kind[1]])

    # refusals

    async def _refuse(self, request: Request, error: Exception) -> Response:
        """Answer an error with one line, on a page if a person reads it."""
        status, headers, why = 400, None, escape(str(error))
        if isinstance(error, HTTPException):
            status, headers, why = error.status_code, error.headers, error.detail
        elif isinstance(error, TooMany):
            status = 429
        elif isinstance(error, Full):
            status = 503
        elif isinstance(error, ArenaError) and not isinstance(error, InputError):
            print(f"error: {why}", file=sys.stderr, flush=True)  # it names files of this machine
            status, why = 503, "the league cannot be used now; try again in a minute"
        if status == TOO_LARGE:
            await _drain(request)
        if _wants_data(request):
            return JSONResponse({"error": why}, status, headers)
        response = self._show_front(why, status)
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


def _bearer(request: Request) -> str:
    """Return the token in the header of a program, empty without one."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def _wants_data(request: Request) -> bool:
    """Return whether a program asks, and not a browser."""
    return bool(_bearer(request)) or "json" in request.headers.get("accept", "")


def make_server(web: Web, host: str, port: int, proxy: str) -> FrontServer:
    """Return what answers requests on a port of this machine, directly or by a proxy."""
    gate = Gate(host, port, proxy)
    front = Front(web.application(), gate.refuse, POLICY, "same-origin", _WHOLE)
    return FrontServer(front, TERMINATION)
