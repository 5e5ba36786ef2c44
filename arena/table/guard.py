"""Guard: who may ask this server for anything; everybody else gets 403 and no content."""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie
from typing import Final

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.table.door import Door, lead_to
from arena.table.peer import is_of_stranger, kernel_tells

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""What a page of the table may do: everything comes from this server, no script is inline."""

_HEADERS: Final = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
_NEVER_CHANGES = ("GET", "HEAD")
_GUESSES = ("sec-purpose", "purpose", "x-moz")  # headers of a browser that loads in advance

_SAYING = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<link rel="icon" href="data:,">
<title>District Noir Arena</title>
<p>{}</p>
</html>
"""
LOST: Final = _SAYING.format(
    "This browser is not let in, or not any more: an address works once. The last one that stands "
    'in the terminal of <code>arena table</code> does. <a href="./">To the table</a>, if this '
    "browser is in already."
)
FOREIGN: Final = _SAYING.format("This table was started by another user of this machine.")
"""What is said at the table's own address to a browser that is not let in."""


class Guard:
    """Lets a request pass that comes from a page of this server, and knows its secret.

    An address of the door sets a cookie and leads to one without a token. The cookie belongs
    to a path of random letters, because cookies of 127.0.0.1 are sent to all its ports.
    """

    def __init__(self, app: ASGIApp, port: int) -> None:
        self.app = app
        self.root = f"/{secrets.token_hex(8)}"
        self._cookie = f"arena_table_{port}"
        self._secret = secrets.token_urlsafe(32)
        self._hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        kernel_tells()  # known before anybody can knock
        self.door = Door(f"http://{self._hosts[0]}{self.root}/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            raise ValueError(f"no {scope['type']} here")
        headers = Headers(scope=scope)
        answer = self._answer(scope, headers)
        await answer(scope, receive, _guarded(send))

    def _answer(self, scope: Scope, headers: Headers) -> ASGIApp:
        """Return what answers a request.

        A browser that loads in advance, and only guesses where its user goes, uses up no token.
        """
        if headers.getlist("host") not in [[host] for host in self._hosts]:
            return _refusal()
        token, is_in = self._token_of(scope), self._may_pass(scope, headers)
        if token is None and not is_in:
            return self._refuse(scope, LOST)
        if token is not None and any(name in headers for name in _GUESSES):
            return _refusal()
        if is_of_stranger(scope["client"], scope["server"]):
            return self._refuse(scope, FOREIGN)
        if token is None:
            return self.app
        if self.door.open(token):
            return self._welcome()
        return RedirectResponse("./", status_code=303) if is_in else self._refuse(scope, LOST)

    def _token_of(self, scope: Scope) -> str | None:
        """Return the token with which somebody asks for the page, None if there is none."""
        return QueryParams(scope["query_string"]).get("token") if self._at_page(scope) else None

    def _at_page(self, scope: Scope) -> bool:
        return bool(scope["path"] == f"{self.root}/" and scope["method"] == "GET")

    def _refuse(self, scope: Scope, why: str) -> Response:
        """Refuse a request; only at the page's own address a person may need to know why."""
        return HTMLResponse(why, 403) if self._at_page(scope) else _refusal()

    def _welcome(self) -> Response:
        """Return a page that goes on with the cookie: a strict one follows no redirect."""
        response = HTMLResponse(lead_to("./"))
        response.set_cookie(
            self._cookie, self._secret, path=f"{self.root}/", httponly=True, samesite="strict"
        )
        return response

    def _may_pass(self, scope: Scope, headers: Headers) -> bool:
        """Return whether a page of this server asks, with the cookie."""
        host = headers["host"]
        if not scope["path"].startswith(f"{self.root}/"):
            return False
        if headers.get("origin", f"http://{host}") != f"http://{host}":
            return False
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return False
        if scope["method"] not in _NEVER_CHANGES and "origin" not in headers:
            return False
        given = _read_cookie(headers.get("cookie", ""), self._cookie)
        return secrets.compare_digest(given.encode(), self._secret.encode())


def _read_cookie(header: str, name: str) -> str:
    try:
        cookies = SimpleCookie(header)
    except CookieError:
        return ""
    return cookies[name].value if name in cookies else ""


def _refusal() -> Response:
    return Response(status_code=403)


def _guarded(send: Send) -> Send:
    """Return what sends an answer with the headers that every answer has."""

    async def send_guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_guarded
