"""Keep what owners hand in over the web, as files of a league's folder: tokens and uploads.

An upload is a folder with one file, which appears whole; it stays until it is answered. So a kill
at any moment loses none. Of a token only the hash is kept.
"""

from __future__ import annotations

import hashlib
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Final

from arena.addons.league.league_settings import make_folder
from arena.entries.file import replacing
from arena.errors import ArenaError
from arena.store.folder import write_text

TOKENS: Final = "tokens"
UPLOADS: Final = "uploads"
"""Folders in the league's folder, which only this user enters."""

_OF: Final = "~"  # between the hash of an upload and its owner; no name has it
_MOST_BYTES: Final = 4 << 30  # of all uploads that wait


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def find_owner(league: Path, token: str) -> str:
    """Return the owner of a token, empty for a wrong one."""
    known = _hash(token)
    for owner in invited(league):
        with suppress(OSError):  # it has just been revoked
            if (league / TOKENS / owner).read_text(encoding="utf-8") == known:
                return owner
    return ""


def invited(league: Path) -> list[str]:
    """Return the owners who have a token."""
    return sorted(path.name for path in (league / TOKENS).glob("[!.]*"))


def invite(league: Path, owner: str) -> str:
    """Return a new token of an owner, in place of the one before."""
    token = secrets.token_urlsafe(32)
    write_text(make_folder(league / TOKENS) / owner, _hash(token))
    return token


def receive(league: Path, owner: str, file: str, content: bytes) -> None:
    """Keep an upload until its turn; raises ArenaError if there is no room.

    The same file of the same name is one upload while it waits.
    """
    size = len(content)
    for _, waiting in find_uploads(league):
        with suppress(OSError):  # it has just been answered
            size += waiting.stat().st_size
    if size > _MOST_BYTES:
        raise ArenaError("too many uploads wait already")
    digest = hashlib.sha256(f"{owner}\0{file}\0".encode() + content).hexdigest()[:16]
    place = make_folder(league / UPLOADS) / f"{digest}{_OF}{owner}"
    try:
        place.mkdir(0o700, exist_ok=True)
        with replacing(place / file) as part:
            part.write_bytes(content)
    except OSError as error:
        raise ArenaError(f"{place}: cannot be written: {error.strerror or error}") from None


def find_uploads(league: Path) -> list[tuple[str, Path]]:
    """Return the owner and the file of each upload that waits, the oldest first."""
    found = []
    for file in (league / UPLOADS).glob(f"*{_OF}*/[!.]*"):
        with suppress(OSError):  # it has just been answered
            found.append((file.stat().st_mtime_ns, file.parent.name.partition(_OF)[2], file))
    return [one[1:] for one in sorted(found)]
