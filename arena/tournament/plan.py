"""Cut what is still to be played into chunks of a fraction of a second, turn by turn.

A chunk and what it comes to are plain data, which executors send to other processes and machines.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from arena.games.judged import JudgedGame, Question
from arena.games.match import GameResult
from arena.games.swap import Swap
from arena.games.timing import Timing
from arena.lanes.faults import Fault
from arena.tournament.strikes import Strikes
from engine.state import Seat

Fits: TypeAlias = Callable[[int], bool]
"""Says of a pairing, by its number, whether it is wanted."""

_CHUNK_SECONDS = 0.3
_FIRST_CHUNK = 1
_PARTS = 8  # of a pairing's pairs in a round of few pairings: there is work for all workers
_LEAST = 4  # pairs: smaller chunks cost more than they spread


class Verdict(NamedTuple):
    """The end of a game that its workers did not survive: the guilty seat, after which actions."""

    guilty: Seat
    history: bytes
    fault: Fault


class Chunk(NamedTuple):
    """Some pairs of the pairing with this number: from `first` on, `pairs` of them.

    `apart` asks for each bot to be in a process of its own, and for one game at a time,
    because a worker has died. `verdicts` decide games, by pair and seat.
    `seats` are those of the pairing's first bot, one for each half of the games, in the order of
    playing. `swaps` are made in games, by pair and seat; a machine of a cluster is not told of
    them. With a `question` nothing is played: the first bot of the pairing judges recorded games.
    """

    pairing: int
    first: int
    pairs: int
    apart: bool = False
    verdicts: Mapping[tuple[int, Seat], Verdict] = {}
    seats: tuple[Seat, ...] = (0, 1)
    swaps: Mapping[tuple[int, Seat], Swap] = {}
    question: Question | None = None


class Played(NamedTuple):
    """What a chunk came to, in the order of pair and seat, and how long it took.

    Timings are by label. A chunk with a question has no results, but games that were `judged`, or
    a `refusal` that says why they could not be. `renewed` are the labels of bots that get a new
    process for each game, because some of their faults did not come back.
    """

    chunk: Chunk
    results: list[GameResult]
    timings: dict[str, Timing]
    seconds: float
    judged: Sequence[JudgedGame] = ()
    refusal: str = ""
    renewed: Sequence[str] = ()

    @property
    def forfeits(self) -> list[GameResult]:
        """The games that a fault has ended."""
        return [result for result in self.results if result.fault]


def join(chunk: Chunk, parts: Iterable[Played]) -> Played:
    """Return what a chunk came to, from what its parts came to."""
    results: list[GameResult] = []
    judged: list[JudgedGame] = []
    timings: dict[str, Timing] = {}
    seconds = 0.0
    refusal = ""
    renewed: set[str] = set()
    for part in parts:
        renewed |= {*part.renewed}
        results += part.results
        judged += part.judged
        refusal = refusal or part.refusal
        seconds += part.seconds
        for label, timing in part.timings.items():
            timings.setdefault(label, Timing()).merge(timing)
    results.sort(key=lambda game: game[:2])
    judged.sort(key=lambda game: game[:2])
    return Played(chunk, results, timings, seconds, judged, refusal, sorted(renewed))


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


class _Missing(NamedTuple):
    """Pairs of a pairing that are to be played, up to `end`, in chunks of `most` at most.

    `turn` is that of the first of them, and `rank` the place in the turn; a turn below 0 is a
    place in a list.
    """

    turn: int
    rank: int
    pairing: int
    first: int
    end: int
    most: int


class Plan:
    """Cuts pairs into chunks, those of each pairing by the speed of its games so far.

    `missing` holds, for each pairing, ranges of pairs that are to be played in just this order;
    what is added later is played in turns. `seats` is the order of the two halves of a chunk. With
    `size` chunks have so many pairs, whatever their speed.
    """

    def __init__(
        self,
        missing: Sequence[Sequence[range]],
        strikes: Strikes,
        seats: tuple[Seat, ...] = (0, 1),
        size: int | None = None,
    ) -> None:
        self.strikes = strikes
        self.seats = seats
        self.size = size
        self._missing: list[_Missing] = []  # a heap
        self._returned: list[Chunk] = []
        self._given: dict[tuple[int, int], int] = {}  # pairs of chunks that are being played
        self._pair_seconds: dict[int, float] = {}
        listed = [(number, pairs) for number, ranges in enumerate(missing) for pairs in ranges]
        for place, (number, pairs) in enumerate(listed, -len(listed)):
            self._push(_Missing(place, 0, number, pairs.start, pairs.stop, len(pairs)))

    @property
    def is_finished(self) -> bool:
        """Whether everything has been played, or passed over."""
        return not (self._missing or self._returned or self._given)

    def add(self, missing: Iterable[tuple[int, range]], *, spread: bool) -> None:
        """Add the pairs of a round: the number of their pairing, and a range of it.

        With `spread`, each is cut into several chunks, for a round that has few pairings.
        """
        for pairing, pairs in missing:
            most = max(_LEAST, len(pairs) // _PARTS) if spread else len(pairs)
            self._push(_Missing(0, 0, pairing, pairs.start, pairs.stop, most))

    def _push(self, missing: _Missing) -> None:
        """Add pairs; those of one turn are played before those of the next."""
        if missing.first < missing.end:
            if missing.turn >= 0:
                turn, rank = self.strikes.place_of(missing.pairing, missing.first)
                missing = missing._replace(turn=turn, rank=rank)
            heapq.heappush(self._missing, missing)

    def next(self, fits: Fits | None = None) -> Chunk | None:
        """Return what to play next, None when everything has been given out.

        With `fits`, only pairings whose number fits are given out. Games that would be forfeits
        by rule are passed over.
        """
        while chunk := self._take(fits):
            if not self.strikes.is_out(chunk.pairing):
                self._given[chunk[:2]] = chunk.pairs
                return chunk
            self.strikes.finish(chunk.pairing, chunk.first, chunk.pairs)
        return None

    def _take(self, fits: Fits | None) -> Chunk | None:
        """Return the next chunk that has been given back, or else of what is missing."""
        for chunk in sorted(self._returned, key=self._place):
            if fits is None or fits(chunk.pairing):
                self._returned.remove(chunk)
                return chunk
        passed: list[_Missing] = []
        while self._missing and fits and not fits(self._missing[0].pairing):
            passed.append(heapq.heappop(self._missing))
        taken = self._cut() if self._missing else None
        for missing in passed:
            heapq.heappush(self._missing, missing)
        return taken

    def _place(self, chunk: Chunk) -> tuple[int, ...]:
        """Return where a chunk stands in the schedule."""
        return (*self.strikes.place_of(chunk.pairing, chunk.first), *chunk[:2])

    def _cut(self) -> Chunk:
        """Return the next chunk of what is missing, all of it where it is not to be played."""
        missing = heapq.heappop(self._missing)
        turn, _, pairing, first, end, most = missing
        seconds = self._pair_seconds.get(pairing)
        by_speed = max(1, int(_CHUNK_SECONDS / seconds)) if seconds else _FIRST_CHUNK
        size = self.size or by_speed
        stop = min(first + min(size, most), end)
        if turn >= 0:
            stop = min(stop, self.strikes.turn_end(pairing, first))
        if self.strikes.is_out(pairing):
            stop = end
        self._push(missing._replace(first=stop))
        return Chunk(pairing, first, stop - first, seats=self.seats)

    def is_out(self, pairing: int) -> bool:
        """Return whether a pairing's games that have not been played are forfeits by rule."""
        return self.strikes.is_out(pairing)

    def take_back(self, chunks: Iterable[Chunk]) -> None:
        """Take back chunks that were given out and not played."""
        for chunk in chunks:
            self._forget(chunk)
            self._returned.append(chunk)

    def _forget(self, chunk: Chunk) -> None:
        """Take note that a chunk, or several as one, is not being played any more."""
        first = chunk.first
        while first < chunk.first + chunk.pairs:
            first += self._given.pop((chunk.pairing, first), chunk.pairs)

    def learn(self, played: Played) -> None:
        """Take note of a chunk that was played, or of several as one: their speed and faults."""
        chunk = played.chunk
        self._forget(chunk)
        self._pair_seconds[chunk.pairing] = max(1e-6, played.seconds) / chunk.pairs
        self.strikes.finish(chunk.pairing, chunk.first, chunk.pairs, played.forfeits)
