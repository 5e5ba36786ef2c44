"""Door: the addresses that let a browser in, each of them once."""

from __future__ import annotations

import html
import os
import secrets
from collections.abc import Callable
from pathlib import Path

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


class Door:
    """Makes addresses of a page with secret tokens, and forgets each token with its use."""

    def __init__(self, page: str) -> None:
        self._page = page
        self._unused: dict[str, Callable[[], None]] = {}

    def make_address(self, then: Callable[[], None] = lambda: None) -> str:
        """Return a new address, which opens once; `then` is called when it has."""
        token = secrets.token_urlsafe(_TOKEN)
        self._unused[token] = then
        return f"{self._page}?token={token}"

    def open(self, token: str) -> bool:
        """Return whether a token opens the door, which it does not do again."""
        right = [
            one for one in self._unused if secrets.compare_digest(one.encode(), token.encode())
        ]
        for one in right:
            self._unused.pop(one)()
        return bool(right)


def lead_to(address: str) -> str:
    """Return a page that leads to an address at once."""
    return _PAGE.format(address=html.escape(address))


def write_page(path: Path, address: str) -> None:
    """Write a page that leads to an address, as a new file that only this user can read.

    A browser is given the path, because every user of a machine can read command lines.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with open(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
        file.write(lead_to(address))
