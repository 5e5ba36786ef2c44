"""Admit only requests to a secret address that come from a page of this server."""

from __future__ import annotations

import html
import os
import secrets
from pathlib import Path
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from arena.reports.page_server import HOST, guarded, is_own

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
    """Answers requests below a path of random letters; all others are refused.

    The page itself may be opened from anywhere; whatever else is asked for must come from a page of
    this server. Another name of the host is refused, to which a site's name could lead (DNS
    rebinding).
    """

    def __init__(self, port: int) -> None:
        self.root = f"/{secrets.token_urlsafe(_SECRET)}/"
        self.app: ASGIApp = PlainTextResponse(REFUSED, 403)
        self._hosts = (f"{HOST}:{port}", f"localhost:{port}")
        self.address = f"http://{HOST}:{port}{self.root}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            raise ValueError(f"no {scope['type']} here")
        passes = self._may_pass(scope["path"], scope["method"], Headers(scope=scope))
        refusal = PlainTextResponse(REFUSED, 403, {"connection": "close"})
        await (self.app if passes else refusal)(scope, receive, guarded(send, POLICY))

    def _may_pass(self, path: str, method: str, headers: Headers) -> bool:
        asked = path[: len(self.root)].encode()
        if headers.getlist("host") not in [[host] for host in self._hosts]:
            return False
        if not secrets.compare_digest(asked, self.root.encode()):
            return False
        opens_page = method == "GET" and path == self.root
        return opens_page or is_own(method, headers, f"http://{headers['host']}")


def write_page(path: Path, address: str) -> None:
    """Write a page that opens an address, as a new file that only this user can read.

    A browser gets the file's path and not the address, because all users can read command lines.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with open(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
        file.write(_PAGE.format(address=html.escape(address)))
