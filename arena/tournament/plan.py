"""Plan: what is still to be played, cut into chunks of a fraction of a second."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush

from arena.tournament.chunk import Chunk, Played
from arena.tournament.strikes import Strikes
from engine.state import Seat

_CHUNK_SECONDS = 0.3
_FIRST_CHUNK = 1


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
        self._missing = deque(
            (pairing, pairs) for pairing, ranges in enumerate(missing) for pairs in ranges
        )
        self._returned: list[tuple[int, int, Chunk]] = []  # a heap, in the schedule's order
        self._pair_seconds: dict[int, float] = {}

    def next(self) -> Chunk | None:
        """Return what to play next, None when everything has been given out.

        Games that would be forfeits by rule are passed over.
        """
        while self._returned or self._missing:
            chunk = heappop(self._returned)[-1] if self._returned else self._cut()
            if not self.strikes.is_out(chunk.pairing):
                return chunk
            self.strikes.finish(chunk.pairing, chunk.first, chunk.pairs)
        return None

    def _cut(self) -> Chunk:
        """Return the next chunk of what is missing, all of it where it is not to be played."""
        pairing, pairs = self._missing.popleft()
        seconds = self._pair_seconds.get(pairing)
        size = max(1, int(_CHUNK_SECONDS / seconds)) if seconds else _FIRST_CHUNK
        if self.strikes.is_out(pairing):
            size = len(pairs)
        if size < len(pairs):
            self._missing.appendleft((pairing, pairs[size:]))
        return Chunk(pairing, pairs.start, min(size, len(pairs)), seats=self.seats)

    def take_back(self, chunks: Iterable[Chunk]) -> None:
        """Take back chunks that were given out and not played."""
        for chunk in chunks:
            heappush(self._returned, (chunk.pairing, chunk.first, chunk))

    def learn(self, played: Played) -> None:
        """Take note of a chunk that was played: of its speed, and of its faults."""
        chunk = played.chunk
        self._pair_seconds[chunk.pairing] = max(1e-6, played.seconds) / chunk.pairs
        self.strikes.finish(chunk.pairing, chunk.first, chunk.pairs, played.forfeits)
