"""Encode and decode the messages between a site and its host, as the data of frames.

What a site is to play is pickled: its host has that from the client. What a site answers is
MessagePack, and is validated while it is read: no code of a site runs in the client.
"""

from __future__ import annotations

import hashlib
import pickle
import platform
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from arena.executors.answers import Part, from_part, to_part
from arena.executors.frames import Garbled
from arena.executors.log import Line as Line
from arena.lanes.evidence import ROOT
from arena.tournament.plan import Chunk, Played, join, join_chunks
from arena.tournament.tournament import Tournament
from arena.tournament.versions import engine_sha256, version_here
from engine.state import Seat

_SHOWN = 12  # characters of a hash


class Versions(msgspec.Struct, frozen=True):
    """The hashes of the engine's and the arena's source, and Python's minor version.

    `release` is the number of the arena's version, which is only shown.
    """

    engine: str
    arena: str
    python: str
    release: str = ""

    def differences(self, here: Versions) -> list[str]:
        """Return what differs, as "engine: there 1f, here 2e"; this one is there.

        >>> there = Versions("1f", "2e", "3.11", "1.0.0")
        >>> there.differences(Versions("1f", "3d", "3.12", "1.0.1"))
        ['arena: there 1.0.0 (2e), here 1.0.1 (3d)', 'python: there 3.11, here 3.12']
        """
        return [
            f"{name}: there {self._show(name)}, here {here._show(name)}"
            for name in ("engine", "arena", "python")
            if getattr(self, name) != getattr(here, name)
        ]

    def _show(self, name: str) -> str:
        text: str = getattr(self, name)[:_SHOWN]
        return f"{self.release} ({text})" if name == "arena" else text


@cache
def versions_here() -> Versions:
    """Return the versions of this process."""
    major, minor, _ = platform.python_version_tuple()
    return Versions(engine_sha256(), arena_sha256(), f"{major}.{minor}", version_here())


def arena_sha256() -> str:
    """Return the hash of the names and texts of the arena's modules."""
    folder = Path(ROOT) / "arena"
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        digest.update(f"{name}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


HEAD, BATCH = 1, 2
"""Kinds of frames to a site: what it is to play, and some chunks of it."""

HELLO, ANSWER, BEAT = 1, 2, 3
"""Kinds of frames from a site: what it lacks, what a batch came to, and that it lives."""


class Head(NamedTuple):
    """What a site has to know of a run; `imports` are the entries' `hash_imports`.

    Without `workers` the site has as many as its host says.
    """

    tournament: Tournament
    versions: Versions
    imports: Sequence[str]
    workers: int


class Hello(msgspec.Struct, array_like=True):
    """What a site says first: why it does not play, and which bots do not start on it."""

    refusals: list[str]
    problems: list[str]


class Answer(msgspec.Struct, array_like=True):
    """What the chunks of a batch came to, and the site's log meanwhile."""

    number: int
    parts: list[Part]
    lines: list[Line]


class _Told(msgspec.Struct, array_like=True):
    """A head as it travels: only a site with these versions can read what follows them."""

    versions: Versions
    head: bytes


class _Asked(msgspec.Struct, array_like=True):
    number: int
    chunks: list[tuple[int, int, int, tuple[Seat, ...], bytes]]


class _Numbered(msgspec.Struct, array_like=True):
    number: int


_told = msgspec.msgpack.Decoder(_Told)
_hello = msgspec.msgpack.Decoder(Hello)
_answer = msgspec.msgpack.Decoder(Answer)
_asked = msgspec.msgpack.Decoder(_Asked)
_numbered = msgspec.msgpack.Decoder(_Numbered)


def write_head(head: Head) -> bytes:
    """Return what a site is told first."""
    return msgspec.msgpack.encode(_Told(head.versions, pickle.dumps(head)))


def read_versions(data: bytes) -> Versions:
    """Return the versions of what `write_head` has written, which may be those of another arena."""
    return _told.decode(data).versions


def read_head(data: bytes) -> Head:
    """Return what `write_head` has written, where the versions are the same."""
    head: Head = pickle.loads(_told.decode(data).head)
    return head


def write_hello(hello: Hello) -> bytes:
    """Return what a site says first."""
    return msgspec.msgpack.encode(hello)


def read_hello(data: bytes) -> Hello:
    """Return what a site has said first; raises Garbled."""
    try:
        return _hello.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Garbled(f"its first message cannot be read: {error}") from None


def write_batch(number: int, chunks: Sequence[Chunk]) -> bytes:
    """Return what a site is asked to play."""
    places = [
        (*chunk[:3], chunk.seats, pickle.dumps(chunk.question) if chunk.question else b"")
        for chunk in chunks
    ]
    return msgspec.msgpack.encode(_Asked(number, places))


def read_batch(data: bytes) -> tuple[int, list[Chunk]]:
    """Return the number and the chunks of a batch."""
    asked = _asked.decode(data)
    return asked.number, [
        Chunk(*place[:3], seats=place[3], question=pickle.loads(place[4]) if place[4] else None)
        for place in asked.chunks
    ]


def write_answer(number: int, played: Sequence[Played], lines: list[Line]) -> bytes:
    """Return what a site answers to a batch; chunks that follow each other are one part of it."""
    parts = [
        to_part(join(chunk, (one for one in played if _is_in(one.chunk, chunk))))
        for chunk in join_chunks([one.chunk for one in played])
    ]
    return msgspec.msgpack.encode(Answer(number, parts, lines))


def _is_in(part: Chunk, whole: Chunk) -> bool:
    return part.pairing == whole.pairing and 0 <= part.first - whole.first < whole.pairs


def number_of(answer: bytes) -> int:
    """Return the number of the batch that an answer is for; raises Garbled."""
    try:
        return _numbered.decode(answer).number
    except (msgspec.DecodeError, RecursionError) as error:
        raise Garbled(f"its answer cannot be read: {error}") from None


def read_answer(data: bytes, chunks: Sequence[Chunk]) -> tuple[list[Played], list[Line]]:
    """Return what these chunks came to, in order, and the site's log.

    Chunks that follow each other are one. Raises Garbled unless it is every game of every chunk,
    once, and each of them can be.
    """
    try:
        answer = _answer.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Garbled(f"its answer cannot be read: {error}") from None
    parts = {(part.pairing, part.first): part for part in answer.parts}
    played = []
    for chunk in join_chunks(chunks):
        part = parts.get(chunk[:2])
        if part is None:
            raise Garbled("its answer has other games than it was asked for")
        played.append(from_part(part, chunk))
    return played, answer.lines
