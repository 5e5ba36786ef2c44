"""Keep what owners hand in over the web, as files of a league's folder: tokens, uploads, answers.

An upload is a folder with one file, and appears whole; it stays until it is answered. So a kill
at any moment loses none, and lets none be taken twice. Of a token only the hash is kept.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from arena.addons.league.league_settings import make_folder
from arena.entries.layout import remove_tree
from arena.errors import ArenaError
from arena.store.folder import write_text

TOKENS: Final = "tokens"
UPLOADS: Final = "uploads"
ANSWERS: Final = "answers"
"""Folders in the league's folder, which only this user enters."""

_OF: Final = "~"  # between a receipt and its owner; no name has it
_MOST_BYTES: Final = 4 << 30  # of all uploads that wait
_OLD: Final = 3600.0  # seconds after which an upload that was not completed is removed


class Full(ArenaError):
    """Too much waits already: no upload can be received for now."""


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def find_owner(league: Path, token: str) -> str:
    """Return the owner of a token, empty for a wrong one."""
    with suppress(OSError):
        return (league / TOKENS / _hash(token)).read_text(encoding="utf-8")
    return ""


def invited(league: Path) -> dict[str, Path]:
    """Return the file of each owner who has a token."""
    found = {}
    for path in (league / TOKENS).glob("[0-9a-f]*"):
        with suppress(OSError):
            found[path.read_text(encoding="utf-8")] = path
    return dict(sorted(found.items()))


def invite(league: Path, owner: str) -> str:
    """Return a new token of an owner, in place of the one before."""
    token, before = secrets.token_urlsafe(32), invited(league).get(owner)
    if before:
        before.unlink(missing_ok=True)
    write_text(make_folder(league / TOKENS) / _hash(token), owner)
    return token


def time_of(path: Path, *, moved: bool = False) -> str:
    """Return when a file or folder was last written, or `moved`, as the ledger writes times.

    It is empty for one that is not there any more.
    """
    with suppress(OSError):
        status = path.lstat()  # a ctime is that of the last renaming
        at = datetime.fromtimestamp(int(status.st_ctime if moved else status.st_mtime), UTC)
        return at.isoformat(timespec="seconds")
    return ""


def receive(league: Path, owner: str, file: str, content: bytes) -> str:
    """Keep an upload until its turn, and return its receipt; raises Full, and ArenaError.

    The same file of the same name has the same receipt, and is one upload while it waits.
    """
    size = len(content)
    for _, waiting in find_uploads(league):
        with suppress(OSError):  # it has just been answered
            size += waiting.stat().st_size
    if size > _MOST_BYTES:
        raise Full("too many uploads wait already; send it again in an hour")
    receipt = hashlib.sha256(f"{owner}\0{file}\0".encode() + content).hexdigest()[:16]
    place = make_folder(league / UPLOADS) / f"{receipt}{_OF}{owner}"
    part = place.with_name(f".{secrets.token_hex(8)}")
    try:
        part.mkdir(0o700)
        with (part / file).open("xb") as written:
            written.write(content)
            written.flush()
            os.fsync(written.fileno())
        os.rename(part, place)
    except OSError as error:
        remove_tree(part)
        if not place.is_dir():
            raise ArenaError(f"{place}: cannot be written: {error.strerror or error}") from None
    return receipt


def find_uploads(league: Path) -> list[tuple[str, Path]]:
    """Return the owner and the file of each upload that waits, the oldest first."""
    found = []
    for place in (league / UPLOADS).glob("*"):
        with suppress(OSError):
            at = place.stat().st_mtime_ns
            if place.name.startswith("."):
                if time.time() - at / 1e9 > _OLD:
                    remove_tree(place)
            elif files := [*place.iterdir()]:
                found.append((at, place.name.partition(_OF)[2], files[0]))
            else:
                place.rmdir()
    return [one[1:] for one in sorted(found)]


def receipt_of(file: Path) -> str:
    """Return the receipt of an upload, by its file."""
    return file.parent.name.partition(_OF)[0]


def answer(league: Path, file: Path, text: str) -> None:
    """Keep what became of an upload for its owner, and remove it."""
    write_text(make_folder(league / ANSWERS) / file.parent.name, text)
    remove_tree(file.parent)


def answers_of(league: Path, owner: str) -> Iterator[tuple[str, str, str]]:
    """Yield receipt, time and answer of an owner's uploads, the newest first."""
    paths = [path for path in (league / ANSWERS).glob(f"*{_OF}*") if path.name[17:] == owner]
    for path in sorted(paths, key=lambda path: -path.stat().st_mtime_ns):
        yield path.name[:16], time_of(path), path.read_text(encoding="utf-8")
