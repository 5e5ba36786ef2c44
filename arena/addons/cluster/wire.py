"""Encode and decode the messages between a site and its host, which are sent as frames.

Messages to a site are pickled, as the site trusts the client. Answers of a site are MessagePack and
are validated when they are read: a site cannot run code in the client.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from arena.executors.answers import Garbled, Part, from_part, to_part
from arena.executors.log import Line as Line
from arena.tournament.keys import HERE, Venue
from arena.tournament.plan import Chunk, Played, join, join_chunks
from arena.tournament.tournament import Tournament
from arena.tournament.versions import Versions
from engine.state import Seat

HEAD, BATCH = 1, 2
"""Kinds of frames to a site: the tournament, and a batch of its chunks."""

HELLO, ANSWER, BEAT = 1, 2, 3
"""Kinds of frames from a site: what it lacks, the results of a batch, and a heartbeat."""


class Head(NamedTuple):
    """What a site has to know about a run; `imports` are the entries' `hash_imports`."""

    tournament: Tournament
    versions: Versions
    imports: Sequence[str]
    workers: int
    venue: Venue = HERE


class Hello(msgspec.Struct, array_like=True):
    """A site's first message: why it refuses to play, and which bots do not start on it."""

    refusals: list[str]
    problems: list[str]


class Answer(msgspec.Struct, array_like=True):
    """The results of a batch's chunks, and the site's log meanwhile."""

    number: int
    parts: list[Part]
    lines: list[Line]


class _Told(msgspec.Struct, array_like=True):
    """An encoded Head: only a site with the same versions can read the rest."""

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
    """Encode the first message to a site."""
    return msgspec.msgpack.encode(_Told(head.versions, pickle.dumps(head)))


def read_versions(data: bytes) -> Versions:
    """Return the versions in an encoded Head, which may come from another version of the arena."""
    return _told.decode(data).versions


def read_head(data: bytes) -> Head:
    """Decode a Head, which must come from the same version of the arena."""
    head: Head = pickle.loads(_told.decode(data).head)
    return head


def write_hello(hello: Hello) -> bytes:
    """Encode a site's first message."""
    return msgspec.msgpack.encode(hello)


def read_hello(data: bytes) -> Hello:
    """Decode a site's first message; raises Garbled."""
    try:
        return _hello.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Garbled(f"its first message cannot be read: {error}") from None


def write_batch(number: int, chunks: Sequence[Chunk]) -> bytes:
    """Encode a batch for a site."""
    places = [
        (*chunk[:3], chunk.seats, pickle.dumps(chunk.question) if chunk.question else b"")
        for chunk in chunks
    ]
    return msgspec.msgpack.encode(_Asked(number, places))


def read_batch(data: bytes) -> tuple[int, list[Chunk]]:
    """Decode the number and the chunks of a batch."""
    asked = _asked.decode(data)
    return asked.number, [
        Chunk(*place[:3], seats=place[3], question=pickle.loads(place[4]) if place[4] else None)
        for place in asked.chunks
    ]


def write_answer(number: int, played: Sequence[Played], lines: list[Line]) -> bytes:
    """Encode a site's answer to a batch; adjacent chunks are joined into one part."""
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
    """Decode the results of these chunks, in order, and the site's log.

    Adjacent chunks are joined. Raises Garbled unless the answer has every game of every chunk
    exactly once, and each is plausible.
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
