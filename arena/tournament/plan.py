"""Plan: what is still to be played, cut into chunks of a fraction of a second."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from arena.tournament.chunk import Chunk, Played
from arena.tournament.strikes import Strikes
from engine.state import Seat

Fits: TypeAlias = Callable[[int], bool]
"""Says of a pairing, by its number, whether it is wanted."""

_CHUNK_SECONDS = 0.3
_FIRST_CHUNK = 1
_PARTS = 8  # of a pairing's pairs in a round of few pairings: there is work for all workers
_LEAST = 4  # pairs: smaller chunks cost more than they spread


class Plan:
    """Cuts pairs into chunks, those of each pairing by the speed of its games so far.

    `missing` holds, for each pairing, the ranges of pairs that are to be played, in order;
    `seats` is the order of the two halves of a chunk.
    """

    def __init__(
        self,
        missing: Sequence[Sequence[range]],
        strikes: Strikes,
        seats: tuple[Seat, ...] = (0, 1),
    ) -> None:
        self.strikes = strikes
        self.seats = seats
        self._missing: deque[tuple[int, range, int]] = deque()  # with the most of a chunk
        self._returned: list[tuple[int, int, Chunk]] = []  # a heap, in the schedule's order
        self._given: set[tuple[int, int]] = set()  # chunks that are being played
        self._pair_seconds: dict[int, float] = {}
        for number, ranges in enumerate(missing):
            self.add(((number, pairs) for pairs in ranges), spread=False)

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
            self._missing.append((pairing, pairs, most))

    def next(self, fits: Fits | None = None) -> Chunk | None:
        """Return what to play next, None when everything has been given out.

        With `fits`, only pairings whose number fits are given out. Games that would be forfeits
        by rule are passed over.
        """
        while chunk := self._take(fits or _any):
            if not self.strikes.is_out(chunk.pairing):
                self._given.add(chunk[:2])
                return chunk
            self.strikes.finish(chunk.pairing, chunk.first, chunk.pairs)
        return None

    def _take(self, fits: Fits) -> Chunk | None:
        """Return the next chunk that has been given back, or else of what is missing."""
        for place in sorted(self._returned):
            if fits(place[0]):
                self._returned.remove(place)
                return place[-1]
        for index, (pairing, *_) in enumerate(self._missing):
            if fits(pairing):
                self._missing.rotate(-index)
                chunk = self._cut()
                self._missing.rotate(index)
                return chunk
        return None

    def _cut(self) -> Chunk:
        """Return the next chunk of what is missing, all of it where it is not to be played."""
        pairing, pairs, most = self._missing.popleft()
        seconds = self._pair_seconds.get(pairing)
        size = max(1, int(_CHUNK_SECONDS / seconds)) if seconds else _FIRST_CHUNK
        size = len(pairs) if self.strikes.is_out(pairing) else min(size, most)
        if size < len(pairs):
            self._missing.appendleft((pairing, pairs[size:], most))
        return Chunk(pairing, pairs.start, min(size, len(pairs)), seats=self.seats)

    def is_out(self, pairing: int) -> bool:
        """Return whether a pairing's games that have not been played are forfeits by rule."""
        return self.strikes.is_out(pairing)

    def take_back(self, chunks: Iterable[Chunk]) -> None:
        """Take back chunks that were given out and not played."""
        for chunk in chunks:
            self._given.discard(chunk[:2])
            self._returned.append((chunk.pairing, chunk.first, chunk))

    def learn(self, played: Played) -> None:
        """Take note of a chunk that was played: of its speed, and of its faults."""
        chunk = played.chunk
        self._given.discard(chunk[:2])
        self._pair_seconds[chunk.pairing] = max(1e-6, played.seconds) / chunk.pairs
        self.strikes.finish(chunk.pairing, chunk.first, chunk.pairs, played.forfeits)


def _any(_pairing: int) -> bool:
    return True
