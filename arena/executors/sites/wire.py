"""Wire: what a site and its host say to each other, as bytes.

A frame is its length, its kind and its text. A site is told what to play by pickled data, which
its host has from the client; what a site says is MessagePack that is checked while it is read,
so that nothing of a site runs in the client.
"""

from __future__ import annotations

import os
import pickle
import struct
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from arena.errors import ArenaError
from arena.executors.sites.versions import Versions
from arena.games.match import GameResult
from arena.games.timing import Timing, TimingData
from arena.tournament.chunk import Chunk, Played
from arena.tournament.tournament import Tournament
from engine.state import Seat

HEAD, BATCH = 1, 2
"""Kinds of frames to a site: what it is to play, and some chunks of it."""

HELLO, ANSWER, BEAT = 1, 2, 3
"""Kinds of frames from a site: what it lacks, what a batch came to, and that it lives."""

_FRAME = struct.Struct("<QB")
_MOST = 1 << 30  # bytes of a frame


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


class Line(msgspec.Struct, array_like=True):
    """A line of a site's log."""

    process: str
    level: int
    text: str


class Part(msgspec.Struct, array_like=True):
    """What a chunk came to."""

    pairing: int
    first: int
    pairs: int
    results: list[GameResult]
    timings: dict[str, TimingData]
    seconds: float


class Answer(msgspec.Struct, array_like=True):
    """What the chunks of a batch came to, and the site's log meanwhile."""

    number: int
    parts: list[Part]
    lines: list[Line]


class _Asked(msgspec.Struct, array_like=True):
    number: int
    chunks: list[tuple[int, int, int, tuple[Seat, ...]]]


class _Numbered(msgspec.Struct, array_like=True):
    number: int


_hello = msgspec.msgpack.Decoder(Hello)
_answer = msgspec.msgpack.Decoder(Answer)
_asked = msgspec.msgpack.Decoder(_Asked)
_numbered = msgspec.msgpack.Decoder(_Numbered)


class Garbled(ArenaError):
    """What a site has sent is not what was asked for."""


def write_head(head: Head) -> bytes:
    """Return what a site is told first."""
    return pickle.dumps(head)


def read_head(data: bytes) -> Head:
    """Return what `write_head` has written."""
    head: Head = pickle.loads(data)
    return head


def write_hello(hello: Hello) -> bytes:
    """Return what a site says first."""
    return msgspec.msgpack.encode(hello)


def read_hello(data: bytes) -> Hello:
    """Return what a site has said first; raises Garbled."""
    try:
        return _hello.decode(data)
    except msgspec.DecodeError as error:
        raise Garbled(f"its first message cannot be read: {error}") from None


def write_batch(number: int, chunks: Sequence[Chunk]) -> bytes:
    """Return what a site is asked to play."""
    places = [(chunk.pairing, chunk.first, chunk.pairs, chunk.seats) for chunk in chunks]
    return msgspec.msgpack.encode(_Asked(number, places))


def read_batch(data: bytes) -> tuple[int, list[Chunk]]:
    """Return the number and the chunks of a batch."""
    asked = _asked.decode(data)
    return asked.number, [Chunk(*place[:3], seats=place[3]) for place in asked.chunks]


def write_answer(number: int, played: Sequence[Played], lines: list[Line]) -> bytes:
    """Return what a site answers to a batch."""
    parts = [
        Part(
            *one.chunk[:3],
            one.results,
            {label: timing.to_data() for label, timing in one.timings.items()},
            one.seconds,
        )
        for one in played
    ]
    return msgspec.msgpack.encode(Answer(number, parts, lines))


def number_of(answer: bytes) -> int:
    """Return the number of the batch that an answer is for."""
    return _numbered.decode(answer).number


def read_answer(data: bytes, chunks: Sequence[Chunk]) -> tuple[list[Played], list[Line]]:
    """Return what these chunks came to, in their order, and the site's log.

    Raises Garbled unless it is every game of every chunk, once.
    """
    try:
        answer = _answer.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Garbled(f"its answer cannot be read: {error}") from None
    parts = {(part.pairing, part.first): part for part in answer.parts}
    played = []
    for chunk in chunks:
        part = parts.get(chunk[:2])
        if part is None or [result[:2] for result in part.results] != _places(chunk):
            raise Garbled("its answer has other games than it was asked for")
        timings = {label: Timing.from_data(data) for label, data in part.timings.items()}
        played.append(Played(chunk, part.results, timings, part.seconds))
    return played, answer.lines


def _places(chunk: Chunk) -> list[tuple[int, int]]:
    pairs = range(chunk.first, chunk.first + chunk.pairs)
    return [(pair, seat) for pair in pairs for seat in (0, 1)]


def send(descriptor: int, kind: int, data: bytes = b"") -> None:
    """Write a frame; raises OSError where the other end is closed."""
    rest = memoryview(_FRAME.pack(len(data), kind) + data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def receive(descriptor: int) -> tuple[int, bytes]:
    """Wait for a frame, and return its kind and its text; raises EOFError at the end."""
    size, kind = _FRAME.unpack(_read(descriptor, _FRAME.size))
    if size > _MOST:
        raise EOFError
    return kind, _read(descriptor, size)


def _read(descriptor: int, size: int) -> bytes:
    parts = []
    while size:
        part = os.read(descriptor, min(size, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
