"""One batch of games for an executor, and its results, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from arena.games.match import GameResult
from arena.games.swap import Swap
from arena.games.timing import Timing
from arena.lanes.faults import Fault
from engine.state import Seat


class Verdict(NamedTuple):
    """The end of a game that its workers did not survive: the guilty seat, after which actions."""

    guilty: Seat
    history: bytes
    fault: Fault


class Chunk(NamedTuple):
    """Some pairs of the pairing with this number: from `first` on, `pairs` of them.

    `apart` asks for each bot to be in a process of its own, and for one game at a time,
    because a worker has died. `quiet` asks that no other worker of the machine goes on meanwhile,
    because a bot's folder has been changed by others. `verdicts` decide games, by pair and seat.
    `seats` are those of the pairing's first bot, one for each half of the games, in the order of
    playing. `swaps` are made in games, by pair and seat; a machine of a cluster is not told of
    them.
    """

    pairing: int
    first: int
    pairs: int
    apart: bool = False
    quiet: bool = False
    verdicts: Mapping[tuple[int, Seat], Verdict] = {}
    seats: tuple[Seat, ...] = (0, 1)
    swaps: Mapping[tuple[int, Seat], Swap] = {}


class Played(NamedTuple):
    """What a chunk came to, in the order of pair and seat, and how long it took.

    Timings are by label.
    """

    chunk: Chunk
    results: list[GameResult]
    timings: dict[str, Timing]
    seconds: float

    @property
    def forfeits(self) -> list[GameResult]:
        """The games that a fault has ended."""
        return [result for result in self.results if result.fault]


def join(chunk: Chunk, parts: Iterable[Played]) -> Played:
    """Return what a chunk came to, from what its parts came to."""
    results: list[GameResult] = []
    timings: dict[str, Timing] = {}
    seconds = 0.0
    for part in parts:
        results += part.results
        seconds += part.seconds
        for label, timing in part.timings.items():
            timings.setdefault(label, Timing()).merge(timing)
    return Played(chunk, sorted(results, key=lambda game: game[:2]), timings, seconds)


def join_chunks(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Return chunks in order, those as one that follow each other.

    >>> [chunk[:3] for chunk in join_chunks([Chunk(0, 4, 2), Chunk(1, 6, 1), Chunk(0, 0, 4)])]
    [(0, 0, 6), (1, 6, 1)]
    """
    joined: list[Chunk] = []
    for chunk in sorted(chunks, key=lambda chunk: chunk[:2]):
        last = joined[-1] if joined else chunk
        if chunk == last._replace(first=last.first + last.pairs, pairs=chunk.pairs):
            joined[-1] = last._replace(pairs=last.pairs + chunk.pairs)
        else:
            joined.append(chunk)
    return joined
