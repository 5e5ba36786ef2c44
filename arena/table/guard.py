"""Guard: who may ask this server for anything; everybody else gets 403 and no content."""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie
from typing import Final

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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


class Guard:
    """Lets a request pass that comes from a page of this server, and knows its secret.

    The address with the token sets a cookie and leads to one without it. The cookie belongs
    to a path of random letters, because cookies of 127.0.0.1 are sent to all its ports.
    """

    def __init__(self, app: ASGIApp, port: int) -> None:
        self.app = app
        self.token = secrets.token_urlsafe(32)
        self.root = f"/{secrets.token_hex(8)}"
        self._cookie = f"arena_table_{port}"
        self._secret = secrets.token_urlsafe(32)
        self._hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        self.address = f"http://{self._hosts[0]}/?token={self.token}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            raise ValueError(f"no {scope['type']} here")
        headers = Headers(scope=scope)
        if headers.getlist("host") not in [[host] for host in self._hosts]:
            answer: ASGIApp = _refusal()
        elif self._is_door(scope):
            answer = self._welcome()
        elif self._may_pass(scope, headers):
            answer = self.app
        else:
            answer = _refusal()
        await answer(scope, receive, _guarded(send))

    def _is_door(self, scope: Scope) -> bool:
        """Return whether this is the address that was printed, with the right token."""
        token = QueryParams(scope["query_string"]).get("token", "")
        at_door = scope["path"] == "/" and scope["method"] == "GET"
        return at_door and secrets.compare_digest(token.encode(), self.token.encode())

    def _welcome(self) -> Response:
        response = RedirectResponse(f"{self.root}/", status_code=303)
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
