"""Frame messages between processes, and check those that arrive."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, get_args

import msgspec

from arena.errors import ArenaError, escape_lines
from arena.executors.log import Line
from arena.lanes.evidence import MOST_OUTPUT
from arena.lanes.faults import KINDS, Fault, one_line
from arena.tournament import judged
from arena.tournament.judged import JudgedGame
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Played
from arena.tournament.timing import Timing, TimingData
from arena.tournament.tournament import Tournament
from engine import STANDARD
from engine.cards import CHARS
from engine.scoring import WinType
from engine.state import Seat

_BEAT, _FIRST, _PAIRS, _FINISHED = range(4)


class Progress:
    """A worker's progress, in shared memory that its parent can read after its death.

    `memory` has SIZE bytes; a bot in the worker can write anything there. `beat` changes with
    every sign of life and is 0 before the first.
    """

    SIZE = 4 * 8

    def __init__(self, memory: Any) -> None:
        self._numbers = memoryview(memory).cast("B").cast("q")

    def count_beat(self) -> None:
        """Count a sign of life."""
        self._numbers[_BEAT] += 1

    def set_pairs(self, first: int, pairs: int) -> None:
        """Record which pairs are played from now on."""
        numbers = self._numbers
        numbers[_FIRST], numbers[_PAIRS] = first, pairs
        numbers[_BEAT] += 1

    def count_finished(self) -> None:
        """Record that these pairs have been played."""
        self._numbers[_FINISHED] += 1

    @property
    def finished(self) -> int:
        """How many times pairs have been finished."""
        return self._numbers[_FINISHED]

    @property
    def beat(self) -> int:
        """The number of signs of life."""
        return self._numbers[_BEAT]

    def pairs_of(self, chunk: Chunk) -> range:
        """Return the pairs of a chunk that are being played, or its first one if none of them is.

        >>> progress = Progress(bytearray(Progress.SIZE))
        >>> progress.set_pairs(4, 2)
        >>> progress.pairs_of(Chunk(0, 5, 3)), progress.pairs_of(Chunk(0, 8, 3))
        (range(5, 6), range(8, 9))
        """
        first, pairs = self._numbers[_FIRST], self._numbers[_PAIRS]
        end = chunk.first + chunk.pairs
        playing = range(max(first, chunk.first), min(first + pairs, end))
        return playing or range(chunk.first, chunk.first + 1)


class Asking(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """A question to a bot in a game that is played apart; sent to the parent before the bot.

    `asked` is the bot's seat; `history` is None while the bot starts.
    """

    pair: int
    seat: Seat
    asked: Seat
    history: bytes | None


MOST = 1 << 30
"""Bytes of the longest frame, between processes of the arena."""

_HEAD = struct.Struct("<Q")
_READ = 1 << 20


class Garbled(ArenaError):
    """A process has sent invalid or unexpected data."""


class Frames:
    """Collects bytes as they arrive, and returns complete frames of at most `most` bytes.

    >>> frames = Frames(most=10)
    >>> frames.add(pack(b"whole") + pack(b"half")[:-1])
    >>> [*frames.take()]
    [b'whole']
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._data = bytearray()

    def add(self, data: bytes) -> None:
        """Add bytes that have arrived."""
        self._data += data

    def take(self) -> Iterator[bytes]:
        """Yield the data of each complete frame; raises Garbled for one too long."""
        while len(self._data) >= _HEAD.size:
            (size,) = _HEAD.unpack_from(self._data)
            if size > self.most:
                raise Garbled(f"it sent a message of {size:,} bytes; {self.most:,} are allowed")
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


def receive(descriptor: int) -> bytes:
    """Wait for a frame, and return its data; raises EOFError at the end."""
    (size,) = _HEAD.unpack(_read(descriptor, _HEAD.size))
    if size > MOST:
        raise EOFError
    return _read(descriptor, size)


def _read(descriptor: int, size: int) -> bytes:
    parts = []
    while size:
        part = os.read(descriptor, min(size, _READ))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


_MOST_REST = 1 << 20  # bytes of a frame besides its games
_MOST_GAME = 4 * MOST_OUTPUT  # bytes of a game with its evidence


class LastWords(msgspec.Struct, tag=True, array_like=True):
    """The reason why a worker process exits early, as one line."""

    text: str


class Failed(msgspec.Struct, tag=True, array_like=True):
    """A game of the current chunk that ended by a fault, reported before the chunk is finished."""

    result: GameResult


class Part(msgspec.Struct, array_like=True):
    """The results of a chunk, or of a part of one, as plain data to be sent."""

    pairing: int
    first: int
    pairs: int
    results: list[GameResult]
    timings: dict[str, TimingData]
    seconds: float
    judged: list[JudgedGame] = []
    refusal: str = ""
    renewed: list[str] = []


class Results(msgspec.Struct, tag=True, array_like=True):
    """The results of some chunks."""

    parts: list[Part]


Answer: TypeAlias = "list[Played] | Asking | LastWords | Failed | Line"
_decoder = msgspec.msgpack.Decoder(Results | Asking | LastWords | Failed | Line)


def to_part(played: Played) -> Part:
    """Return the results of a chunk as plain data."""
    timings = {label: timing.to_data() for label, timing in played.timings.items()}
    more = [*played.judged], played.refusal, [*played.renewed]
    return Part(*played.chunk[:3], played.results, timings, played.seconds, *more)


def from_part(part: Part, chunk: Chunk) -> Played:
    """Return the results of a chunk; raises Garbled unless they are of its games, and plausible."""
    if chunk.question:
        return _judged_from(part, chunk)
    if part.refusal and not (part.results or part.judged):
        return Played(chunk, [], {}, part.seconds, refusal=one_line(part.refusal))
    if [result[:2] for result in part.results] != _places(chunk) or part.judged or part.refusal:
        raise Garbled("its answer has other games than it was asked for")
    if not all(map(is_possible, part.results)):
        raise Garbled("its answer has a game that cannot be")
    timings = {label: Timing.from_data(data) for label, data in part.timings.items()}
    renewed = [label for label in part.renewed if label in timings]
    return Played(chunk, part.results, timings, part.seconds, renewed=renewed)


def check_refusal(played: Played, tournament: Tournament) -> None:
    """Raise Garbled for games that were not played, unless a bot of them lives elsewhere."""
    if not played.refusal or played.chunk.question:
        return
    pairing = tournament.pairings[played.chunk.pairing]
    if "remote" not in {tournament.by_label[label].lane for label in pairing}:
        raise Garbled("it told of an outage where none can be")


def _judged_from(part: Part, chunk: Chunk) -> Played:
    """Return the judged games of a chunk; raises Garbled for impossible ones."""
    if [game[:2] for game in part.judged] != ([] if part.refusal else _places(chunk)):
        raise Garbled("its answer has other games than it was asked for")
    plies = STANDARD.game_plies
    if part.results or not all(judged.is_possible(game, plies, len(CHARS)) for game in part.judged):
        raise Garbled("its answer has a judgement that cannot be")
    return Played(chunk, [], {}, part.seconds, part.judged, one_line(part.refusal))


def _check_failed(result: GameResult, chunk: Chunk) -> None:
    """Raise Garbled for a game that is none of the chunk, or that no fault can have ended."""
    if result[:2] not in _places(chunk) or not result.fault or not is_possible(result):
        raise Garbled("it told of a fault that cannot be")


def _is_of(chunk: Chunk, asking: Asking) -> bool:
    """Return whether a question can be asked in a game of the chunk."""
    return (asking.pair, asking.seat) in _places(chunk) and asking.asked in (0, 1)


def _places(chunk: Chunk) -> list[tuple[int, int]]:
    pairs = range(chunk.first, chunk.first + chunk.pairs)
    seats = sorted(chunk.seats)
    return [(pair, seat) for pair in pairs for seat in seats]


def most_bytes(chunks: Sequence[Chunk]) -> int:
    """Return the most bytes that an answer to these chunks may have."""
    return _MOST_REST + sum(chunk.games for chunk in chunks) * _MOST_GAME


def write_answer(answer: Answer) -> bytes:
    """Return a message of a worker as a frame."""
    told = Results([*map(to_part, answer)]) if isinstance(answer, list) else answer
    return pack(msgspec.msgpack.encode(told))


def read_answer(data: bytes, chunks: Sequence[Chunk]) -> Answer:
    """Return a message of a worker that plays these chunks; raises Garbled for anything invalid.

    All but results are about the first chunk: results of those before are sent before.
    """
    try:
        told = _decoder.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Garbled(f"its answer cannot be read: {error}") from None
    if isinstance(told, LastWords | Line):
        return told
    if isinstance(told, Results) and 0 < len(told.parts) <= len(chunks):
        return [*map(from_part, told.parts, chunks)]
    if isinstance(told, Failed) and chunks:
        _check_failed(told.result, chunks[0])
        return told
    if isinstance(told, Asking) and chunks and _is_of(chunks[0], told):
        return told
    raise Garbled("it said what it was not asked for")


_WIN_TYPES = {*get_args(WinType), "forfeit"}
_MOST = 1_000_000  # of points; no rules of the game reach it


def is_possible(result: GameResult) -> bool:
    """Return whether a result is plausible: its texts, its numbers, its winner and its fault."""
    points = result.points, result.opponent_points
    return (
        result.win_type in _WIN_TYPES
        and result.winner in (0, 1, None)
        and (result.win_type == "draw") == (result.winner is None)
        and (result.win_type == "forfeit") == (result.fault is not None)
        and max(map(abs, points)) < _MOST
        and result.plies == len(result.actions)
        and not result.actions.strip(CHARS)
        and (result.fault is None or _is_possible_fault(result.fault))
    )


def _is_possible_fault(fault: Fault) -> bool:
    """Return whether a lane can report this fault; only the client adds forfeits by rule."""
    evidence = fault.traceback + fault.output
    return (
        fault.kind in KINDS
        and fault.message == one_line(fault.message)
        and evidence == escape_lines(evidence)
        and len(evidence) <= 2 * MOST_OUTPUT
    )
