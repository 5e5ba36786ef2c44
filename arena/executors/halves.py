"""Give chunks of games to workers, so that no process of a bot plays both games of a pair.

Both games of a pair share a deal, so that a bot which has played the one knows its opponent's
hands in the other. In the lanes `process` and `jail` each half of a chunk, the games in which the
pairing's first bot has one seat, therefore has a process of its own. A worker that plays one half
needs half as many processes. Bots in the lane `inproc` are not kept apart: their chunks stay whole.

With `halves: apart` chunks are played in blocks. In the first phase of a block the workers play
the first half of all its chunks, in the second one the other half. After each phase every worker
ends, with all processes of its bots. So all processes that have seen one game of a pair have ended
before the other game begins. In a paired tournament, where pairings share their deals, a block
has two phases for each of those.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from arena.tournament.plan import Chunk, Played, join
from engine.state import Seat

_MOST_WAITING = 2  # for each worker: halves that wait for a worker of their seat


class Work(Protocol):
    """Where chunks come from: the plan of a run, or the batches that a site gets."""

    def next(self) -> Chunk | None:
        """Return what to play next, None if there is nothing now."""

    def take_back(self, chunks: Iterable[Chunk]) -> None:
        """Take back chunks that were given out and not played."""

    def is_out(self, pairing: int) -> bool:
        """Return whether a pairing's games are not to be played any more."""


class _Open:
    """A chunk that was taken from the plan: what of it waits, and what has been played."""

    def __init__(self, chunk: Chunk, *, whole: bool = False) -> None:
        self.chunk = chunk
        halves = [chunk._replace(seats=(seat,)) for seat in chunk.seats]
        self.waiting = [chunk] if whole else halves
        self.played: list[Played] = []

    def holds(self, piece: Chunk) -> bool:
        """Return whether a piece is of this chunk."""
        chunk = self.chunk
        return chunk.pairing == piece.pairing and 0 <= piece.first - chunk.first < chunk.pairs

    def join(self) -> Played | None:
        """Return what the whole chunk came to, None if some of it has not been played."""
        if sum(map(_games, (played.chunk for played in self.played))) < _games(self.chunk):
            return None
        return join(self.chunk, self.played)


def _games(chunk: Chunk) -> int:
    return chunk.pairs * len(chunk.seats)


class Halves:
    """Gives out the halves of chunks to workers, which are numbered from 0; or `whole` ones.

    Workers with even numbers play seat 0 as long as there is no lack of work, the others
    seat 1: then each of them needs one process of each bot. Else it has one for each seat. A worker
    that replaces another has its number.
    """

    def __init__(self, work: Work, workers: int, *, whole: bool = False) -> None:
        self.work = work
        self.workers = workers
        self.whole = whole
        self._open: list[_Open] = []

    def next(self, worker: int) -> Chunk | None:
        """Return what a worker is to play next, None if there is nothing."""
        self._drop_decided()
        seat = worker % 2
        waiting = sum(len(opened.waiting) for opened in self._open)
        piece = self._take(seat)
        if not piece and waiting < _MOST_WAITING * self.workers and (chunk := self.work.next()):
            self._add(chunk)
            piece = self._take(seat)
        return piece or self._take(1 - seat)

    def _drop_decided(self) -> None:
        """Give back, to be passed over, the chunks that have become forfeits by rule."""
        for opened in self._open[:]:
            if opened.waiting and self.work.is_out(opened.chunk.pairing):
                self._open.remove(opened)
                self.work.take_back([opened.chunk])

    def _add(self, chunk: Chunk) -> None:
        self._open.append(_Open(chunk, whole=self.whole))

    def _take(self, seat: Seat) -> Chunk | None:
        """Return the first piece of a seat; of any seat where there is no choice."""
        for opened in self._open:
            for piece in opened.waiting:
                if self.workers == 1 or self.whole or piece.seats == (seat,):
                    opened.waiting.remove(piece)
                    return piece
        return None

    def turn(self) -> bool:
        """Return whether there is more to play now that nobody plays, for new workers."""
        return False

    def take_back(self, pieces: Iterable[Chunk]) -> None:
        """Take back pieces that were given out and not played."""
        for piece in pieces:
            for opened in self._open:
                if opened.holds(piece):
                    opened.waiting.append(piece)
                    opened.waiting.sort(key=lambda piece: piece.first)

    def join(self, played: Played) -> Iterator[Played]:
        """Yield what a chunk came to, once all pieces of both halves have been played."""
        for opened in self._open[:]:
            if opened.holds(played.chunk):
                opened.played.append(played)
                if whole := opened.join():
                    self._open.remove(opened)
                    yield whole


_MOST_CHUNKS = 32  # of a block, for each worker
_MOST_SECONDS = 10.0  # in which a block takes chunks
_FIRST = (0, 0)  # a phase: of which of the pairings on one deal, and of which half


class Phases(Halves):
    """Gives out the halves of chunks to workers, those of one phase at a time.

    `version_of` numbers the pairings that share their deals, 0 for one that shares none. `clock`
    tells seconds; how long the blocks are changes no game.
    """

    def __init__(
        self,
        work: Work,
        workers: int,
        version_of: Callable[[int], int] = lambda _: 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(work, workers)
        self.version_of = version_of
        self.clock = clock
        self._phase = _FIRST
        self._taken = 0  # chunks of the block
        self._began = 0.0

    def next(self, worker: int) -> Chunk | None:  # noqa: ARG002 (all workers are alike)
        """Return what a worker is to play next, None if there is nothing in this phase."""
        self._drop_decided()
        if not self._open and self._taken:
            return None  # the block has ended
        while (piece := self._take_of_phase()) is None and self._may_take():
            chunk = self.work.next()
            if chunk is None:
                break
            self._began = self._began if self._taken else self.clock()
            self._taken += 1
            self._add(chunk)
        return piece

    def _may_take(self) -> bool:
        """Return whether the block takes more chunks."""
        if not self._taken:
            return True
        is_long = self.clock() - self._began > _MOST_SECONDS
        is_full = self._taken >= _MOST_CHUNKS * self.workers
        return self._phase == _FIRST and not (is_long or is_full)

    def _take_of_phase(self) -> Chunk | None:
        for opened in self._open:
            for piece in opened.waiting:
                if self._phase_of(piece, opened.chunk) == self._phase:
                    opened.waiting.remove(piece)
                    return piece
        return None

    def _phase_of(self, piece: Chunk, chunk: Chunk) -> tuple[int, int]:
        """Return the phase of a piece of a chunk: by its seat; new versions play later."""
        return self.version_of(chunk.pairing), chunk.seats.index(piece.seats[0])

    def turn(self) -> bool:
        """Begin the next phase, or a block, where nobody plays; return False after an empty one."""
        phases = [
            self._phase_of(piece, opened.chunk) for opened in self._open for piece in opened.waiting
        ]
        was_empty = not (phases or self._taken)
        self._phase = min(phases, default=_FIRST)
        if not phases:
            self._taken = 0
        return not was_empty
