"""Authenticate requests by one-time address and cookie, and connections by the peer's user."""

from __future__ import annotations

import html
import os
import secrets
import socket
import struct
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias

from starlette.datastructures import Headers, QueryParams
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from arena.reports.page_server import HOST, guarded, is_own, read_cookie

Address: TypeAlias = tuple[str, int]

_ROOT: Final = 0
_SOCK_DIAG = 4  # names as in linux/sock_diag.h, inet_diag.h and netlink.h
_BY_FAMILY = 20
_REQUEST = 1
_ERROR = 2
_ANY = 0xFFFF_FFFF
_HEAD = struct.Struct("=IHHII")  # length, type, flags, sequence, port
_QUESTION = struct.Struct("=BBBBI")  # family, protocol, extensions, padding, states
_PORTS = struct.Struct("!HH")
_HOST = struct.Struct("4s12x")
_REST = struct.Struct("=III")  # interface, and no cookie
_FACTS = struct.Struct("=4x48xIIIII")  # ..., user, inode
_PATIENCE = 1.0  # seconds; the kernel answers at once
_TOKEN = 32  # random bytes
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>District Noir Arena</title>
<meta http-equiv="refresh" content="0; url={address}">
<p><a href="{address}">To the table</a></p>
</html>
"""

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""The security policy of a page: it loads only from this server, without inline scripts."""

_MODE = "sec-fetch-mode"
_GUESSES = ("sec-purpose", "purpose", "x-moz")  # headers of a browser's prefetch request

_CLOSE: Final = {"connection": "close"}

LOST: Final = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<link rel="icon" href="data:,">
<title>District Noir Arena</title>
<p>This browser is not let in, or not any more: an address works once. The last one that stands in
the terminal of <code>arena table</code> does. <a href="./">To the table</a>, if this browser is in
already.</p>
</html>
"""


def is_of_stranger(client: Address | None, server: Address | None) -> bool:
    """Return whether a connection of 127.0.0.1 comes from a program of another user.

    The kernel reports the user (Linux); on other systems nobody is a stranger. Root is not a
    stranger: it could read everything here anyway. A client that has closed its end has no known
    user and is a stranger: it may have sent a request before. It takes 15 us.
    """
    if not kernel_tells():
        return False
    if client is None or server is None:
        return True
    try:
        ours, theirs = find_user(server, client), find_user(client, server)
    except OSError:
        return True
    return ours is None or theirs not in (ours, _ROOT)


@cache
def kernel_tells() -> bool:
    """Return whether the kernel reports the user of a connection, by a trial of our own."""
    try:
        with (
            socket.create_server((HOST, 0)) as server,
            socket.create_connection(server.getsockname()) as one,
        ):
            return find_user(one.getsockname(), server.getsockname()) is not None
    except OSError:
        return False


def find_user(here: Address, there: Address) -> int | None:
    """Return the user of the TCP socket at one end of a connection, None without an open socket.

    A socket that its program has closed has no user and no inode; the kernel reports root for it.
    The socket may also be an IPv6 socket connected to IPv4. Raises OSError if the kernel does not
    answer. Source: man 7 sock_diag.
    """
    ends = _PORTS.pack(here[1], there[1]) + b"".join(
        _HOST.pack(socket.inet_aton(host)) for host, _ in (here, there)
    )
    question = _QUESTION.pack(socket.AF_INET, socket.IPPROTO_TCP, 0, 0, _ANY) + ends
    question += _REST.pack(0, _ANY, _ANY)
    family = getattr(socket, "AF_NETLINK", socket.AF_UNSPEC)
    with socket.socket(family, socket.SOCK_RAW, _SOCK_DIAG) as kernel:
        kernel.settimeout(_PATIENCE)
        kernel.send(_HEAD.pack(_HEAD.size + len(question), _BY_FAMILY, _REQUEST, 0, 0) + question)
        answer = kernel.recv(4096)
    if len(answer) < _HEAD.size + _FACTS.size or _HEAD.unpack_from(answer)[1] == _ERROR:
        return None
    *_, user, inode = _FACTS.unpack_from(answer, _HEAD.size)
    return int(user) if inode else None


class Door:
    """Makes addresses of a page with secret tokens, each of which is valid once."""

    def __init__(self, page: str) -> None:
        self._page = page
        self._unused: dict[str, Callable[[], None]] = {}

    def make_address(self, then: Callable[[], None] = lambda: None) -> str:
        """Return a new address, which opens once; `then` is called after that."""
        token = secrets.token_urlsafe(_TOKEN)
        self._unused[token] = then
        return f"{self._page}?token={token}"

    def open(self, token: str) -> bool:
        """Return whether a token is valid, and invalidate it."""
        right = [
            one for one in self._unused if secrets.compare_digest(one.encode(), token.encode())
        ]
        for one in right:
            self._unused.pop(one)()
        return bool(right)


def lead_to(address: str) -> str:
    """Return a page that opens an address at once."""
    return _PAGE.format(address=html.escape(address))


def write_page(path: Path, address: str) -> None:
    """Write a page that opens an address, as a new file that only this user can read.

    A browser gets the file's path and not the address, because all users can read command lines.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with open(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
        file.write(lead_to(address))


class Guard:
    """Admits only requests from a page of this server that carry its secret cookie.

    An address of the door sets the cookie and redirects to the address without the token. The
    cookie is limited to a path of random letters, because browsers send cookies of 127.0.0.1 to all
    its ports.
    """

    def __init__(self, app: ASGIApp, port: int) -> None:
        self.app = app
        self.root = f"/{secrets.token_hex(8)}"
        self._cookie = f"arena_table_{port}"
        self._secret = secrets.token_urlsafe(32)
        self._hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        kernel_tells()  # tried before the first request
        self.door = Door(f"http://{self._hosts[0]}{self.root}/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            raise ValueError(f"no {scope['type']} here")
        headers = Headers(scope=scope)
        answer = self._answer(scope, headers)
        await answer(scope, receive, guarded(send, POLICY))

    def _answer(self, scope: Scope, headers: Headers) -> ASGIApp:
        """Return the application that answers a request.

        A browser's prefetch request does not use up a token.
        """
        if headers.getlist("host") not in [[host] for host in self._hosts]:
            return _refusal()
        token, is_in = self._token_of(scope), self._may_pass(scope, headers)
        if token is None and not is_in:
            return self._refuse(scope)
        if token is not None and any(name in headers for name in _GUESSES):
            return _refusal()
        if token is None:
            return self.app
        if self.door.open(token):
            return self._welcome()
        return RedirectResponse("./", status_code=303) if is_in else self._refuse(scope)

    def _token_of(self, scope: Scope) -> str | None:
        """Return the token in a request for the page, None without one."""
        return QueryParams(scope["query_string"]).get("token") if self._at_page(scope) else None

    def _at_page(self, scope: Scope) -> bool:
        return bool(scope["path"] == f"{self.root}/" and scope["method"] == "GET")

    def _refuse(self, scope: Scope) -> Response:
        """Refuse a request, with an explanation if a person opened a page."""
        is_read = self._at_page(scope) or Headers(scope=scope).get(_MODE) == "navigate"
        return HTMLResponse(LOST, 403, _CLOSE) if is_read else _refusal()

    def _welcome(self) -> Response:
        """Return a page that sets the cookie and reloads; a redirect would not send the cookie."""
        response = HTMLResponse(lead_to("./"))
        response.set_cookie(
            self._cookie, self._secret, path=f"{self.root}/", httponly=True, samesite="strict"
        )
        return response

    def _may_pass(self, scope: Scope, headers: Headers) -> bool:
        """Return whether a request comes from a page of this server and has the cookie."""
        if not scope["path"].startswith(f"{self.root}/"):
            return False
        if not is_own(scope["method"], headers, f"http://{headers['host']}"):
            return False
        given = read_cookie(headers.get("cookie", ""), self._cookie)
        return secrets.compare_digest(given.encode(), self._secret.encode())


def _refusal() -> Response:
    return Response(status_code=403, headers=_CLOSE)
