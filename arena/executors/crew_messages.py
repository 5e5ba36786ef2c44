"""Frame messages between processes of the arena, and read those that arrive.

A worker is believed: what has the form of its answer, about the games that it was given, is one.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import msgspec

from arena.errors import ArenaError
from arena.executors.log import Line, Reporter
from arena.tournament.asking import JudgedGame
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Played
from arena.tournament.timing import Timing
from engine.state import Seat

_BEAT, _PAIRING, _FIRST, _PAIRS, _FINISHED = range(5)


class Progress(Reporter):
    """A worker's progress, in shared memory that its parent can read after its death.

    `memory` has SIZE bytes; a bot in the worker can write anything there. `beats` changes with
    every sign of life and is 0 before the first.
    """

    SIZE = 5 * 8

    def __init__(self, memory: Any) -> None:
        self._numbers = memoryview(memory).cast("B").cast("q")

    def beat(self) -> None:
        """Count a sign of life."""
        self._numbers[_BEAT] += 1

    def playing(self, pairing: int, first: int, pairs: int) -> None:
        """Record which pairs are played from now on."""
        numbers = self._numbers
        numbers[_PAIRING], numbers[_FIRST], numbers[_PAIRS] = pairing, first, pairs
        numbers[_BEAT] += 1

    def played(self) -> None:
        """Record that these pairs have been played."""
        self._numbers[_FINISHED] += 1

    @property
    def finished(self) -> int:
        """How many times pairs have been finished."""
        return self._numbers[_FINISHED]

    @property
    def beats(self) -> int:
        """The number of signs of life."""
        return self._numbers[_BEAT]

    def find(self, batch: Sequence[Chunk]) -> tuple[Chunk, range]:
        """Return the chunk that is being played, and its pairs that are; by default the first.

        >>> progress, batch = Progress(bytearray(Progress.SIZE)), [Chunk(0, 5, 3), Chunk(1, 5, 3)]
        >>> progress.find(batch)[0].pairing, progress.find(batch)[1]
        (0, range(5, 6))
        >>> progress.playing(1, 4, 2)
        >>> progress.find(batch)[0].pairing, progress.find(batch)[1]
        (1, range(5, 6))
        """
        pairing, start, pairs = self._numbers[_PAIRING:_FINISHED]
        for chunk in batch:
            end = min(start + pairs, chunk.first + chunk.pairs)
            playing = range(max(start, chunk.first), end)
            if chunk.pairing == pairing and playing:
                return chunk, playing
        return batch[0], range(batch[0].first, batch[0].first + 1)


class Asking(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """A question to a bot in a game that is played apart; sent to the parent before the bot.

    `asked` is the bot's seat; `history` is None while the bot starts.
    """

    pair: int
    seat: Seat
    asked: Seat
    history: bytes | None


MOST = 1 << 28
"""Bytes of the longest frame."""

_HEAD = struct.Struct("<Q")


class Garbled(ArenaError):
    """A process has sent invalid or unexpected data."""


class Frames:
    """Collects bytes as they arrive, and returns complete frames.

    >>> frames = Frames()
    >>> frames.add(pack(b"whole") + pack(b"half")[:-1])
    >>> [*frames.take()]
    [b'whole']
    """

    def __init__(self) -> None:
        self._data = bytearray()

    def add(self, data: bytes) -> None:
        """Add bytes that have arrived."""
        self._data += data

    def take(self) -> Iterator[bytes]:
        """Yield the data of each complete frame; raises Garbled for one too long."""
        while len(self._data) >= _HEAD.size:
            (size,) = _HEAD.unpack_from(self._data)
            if size > MOST:
                raise Garbled(f"it sent a message of {size:,} bytes; {MOST:,} are allowed")
            end = _HEAD.size + size
            if len(self._data) < end:
                return
            data = bytes(self._data[_HEAD.size : end])
            del self._data[:end]
            yield data


def pack(data: bytes) -> bytes:
    """Return a frame.

    >>> pack(b"ab").hex(" ")
    '02 00 00 00 00 00 00 00 61 62'
    """
    return _HEAD.pack(len(data)) + data


class LastWords(msgspec.Struct, tag=True, array_like=True):
    """The reason why a worker process exits early, as one line."""

    text: str


class Failed(msgspec.Struct, tag=True, array_like=True):
    """A game that ended by a fault, reported before its chunk is finished."""

    pairing: int
    result: GameResult


class Part(NamedTuple):
    """The results of a chunk, or of a part of one, as they are sent: without its question."""

    pairing: int
    first: int
    pairs: int
    results: list[GameResult]
    timings: dict[str, Timing]
    seconds: float
    judged: list[JudgedGame]
    refusal: str


class Results(msgspec.Struct, tag=True, array_like=True):
    """The results of some chunks."""

    parts: list[Part]


Answer: TypeAlias = "list[Played] | Asking | LastWords | Failed | Line"
_decoder = msgspec.msgpack.Decoder(Results | Asking | LastWords | Failed | Line)


def to_part(played: Played) -> Part:
    """Return the results of a chunk as they are sent."""
    return Part._make((*played.chunk[:3], *played[1:]))


def from_part(part: Part, chunk: Chunk) -> Played:
    """Return the results of a chunk; raises Garbled unless they are of its games."""
    games = part.judged if chunk.question else part.results
    if [game[:2] for game in games] != ([] if part.refusal else chunk.places):
        raise Garbled("its answer has other games than it was asked for")
    return Played(chunk, *part[3:])


def write_answer(answer: Answer) -> bytes:
    """Return a message of a worker as a frame."""
    told = Results([*map(to_part, answer)]) if isinstance(answer, list) else answer
    return pack(msgspec.msgpack.encode(told))


def read_answer(data: bytes, chunks: Sequence[Chunk]) -> Answer:
    """Return a message of a worker that plays these chunks; raises Garbled for anything else.

    All but results are about the first chunk: results of those before are sent before.
    """
    try:
        told = _decoder.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Garbled(f"its answer cannot be read: {error}") from None
    if isinstance(told, LastWords | Line):
        return told
    if len(chunks) < (len(told.parts) if isinstance(told, Results) else 1):
        raise Garbled("it said what it was not asked for")
    return [*map(from_part, told.parts, chunks)] if isinstance(told, Results) else told
