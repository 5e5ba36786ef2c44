"""Give chunks of games to workers, so that no process of a bot plays both games of a pair.

Both games of a pair share a deal, so a bot that has played one of them knows its opponent's hands
in the other. A half of a chunk is the games in which the pairing's first bot has one seat. In the
lanes `process` and `jail` a bot has a separate process for each half. A worker that plays only one
half needs half as many processes. Bots in the lane `inproc` are not separated: their chunks stay
whole.

With `halves: apart` chunks are played in blocks. In the first phase of a block the workers play the
first half of all its chunks, in the second phase the other half. After each phase every worker
exits, with all processes of its bots. So all processes that have seen one game of a pair have ended
before the other game begins. In a paired tournament, in which pairings share their deals, a block
has two phases for each of these pairings.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from arena.tournament.plan import Chunk, Played, join
from engine.state import Seat

_MOST_WAITING = 2  # for each worker: halves that may wait for a worker of their seat


class Work(Protocol):
    """A source of chunks: the plan of a run, or the batches that a site receives."""

    def next(self) -> Chunk | None:
        """Return the next chunk, None if there is nothing to play now."""

    def take_back(self, chunks: Iterable[Chunk]) -> None:
        """Take back chunks that were handed out but not played."""

    def is_out(self, pairing: int) -> bool:
        """Return whether the remaining games of a pairing are cancelled."""


class _Open:
    """A chunk taken from the plan: its waiting pieces, and its results so far."""

    def __init__(self, chunk: Chunk, *, whole: bool = False) -> None:
        self.chunk = chunk
        halves = [chunk._replace(seats=(seat,)) for seat in chunk.seats]
        self.waiting = [chunk] if whole else halves
        self.played: list[Played] = []

    def holds(self, piece: Chunk) -> bool:
        """Return whether a piece belongs to this chunk."""
        chunk = self.chunk
        return chunk.pairing == piece.pairing and 0 <= piece.first - chunk.first < chunk.pairs

    def join(self) -> Played | None:
        """Return the results of the whole chunk, None if some of it has not been played."""
        if sum(map(_games, (played.chunk for played in self.played))) < _games(self.chunk):
            return None
        return join(self.chunk, self.played)


def _games(chunk: Chunk) -> int:
    return chunk.pairs * len(chunk.seats)


class Halves:
    """Hands out halves of chunks, or `whole` chunks, to workers, which are numbered from 0.

    While there is enough work, workers with even numbers play seat 0 and the others seat 1. Then a
    worker needs one process of each bot, else one for each seat. A worker that replaces another
    gets its number.
    """

    def __init__(self, work: Work, workers: int, *, whole: bool = False) -> None:
        self.work = work
        self.workers = workers
        self.whole = whole
        self._open: list[_Open] = []

    def next(self, worker: int) -> Chunk | None:
        """Return the next piece for a worker, None if there is nothing to play."""
        self._drop_decided()
        seat = worker % 2
        waiting = sum(len(opened.waiting) for opened in self._open)
        piece = self._take(seat)
        if not piece and waiting < _MOST_WAITING * self.workers and (chunk := self.work.next()):
            self._add(chunk)
            piece = self._take(seat)
        return piece or self._take(1 - seat)

    def _drop_decided(self) -> None:
        """Return chunks to the plan whose games have become forfeits by rule."""
        for opened in self._open[:]:
            if opened.waiting and self.work.is_out(opened.chunk.pairing):
                self._open.remove(opened)
                self.work.take_back([opened.chunk])

    def _add(self, chunk: Chunk) -> None:
        self._open.append(_Open(chunk, whole=self.whole))

    def _take(self, seat: Seat) -> Chunk | None:
        """Return the first piece of a seat; of any seat for whole chunks or a single worker."""
        for opened in self._open:
            for piece in opened.waiting:
                if self.workers == 1 or self.whole or piece.seats == (seat,):
                    opened.waiting.remove(piece)
                    return piece
        return None

    def turn(self) -> bool:
        """Return whether new workers have more to play, when all workers are idle."""
        return False

    def take_back(self, pieces: Iterable[Chunk]) -> None:
        """Take back pieces that were handed out but not played."""
        for piece in pieces:
            for opened in self._open:
                if opened.holds(piece):
                    opened.waiting.append(piece)
                    opened.waiting.sort(key=lambda piece: piece.first)

    def join(self, played: Played) -> Iterator[Played]:
        """Yield the results of a chunk once all pieces of both halves have been played."""
        for opened in self._open[:]:
            if opened.holds(played.chunk):
                opened.played.append(played)
                if whole := opened.join():
                    self._open.remove(opened)
                    yield whole


_MOST_CHUNKS = 32  # chunks of a block at most, for each worker
_MOST_SECONDS = 10.0  # seconds for which a block takes chunks
_FIRST = (0, 0)  # a phase: which of the pairings that share a deal, and which half


class Phases(Halves):
    """Hands out the halves of chunks to workers, one phase at a time.

    `version_of` numbers the pairings that share their deals, 0 for one that shares none. `clock`
    returns seconds; the length of blocks changes no game.
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
        """Return the next piece for a worker, None if there is nothing to play in this phase."""
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
        """Return the phase of a piece of a chunk: the version of its pairing, then its half."""
        return self.version_of(chunk.pairing), chunk.seats.index(piece.seats[0])

    def turn(self) -> bool:
        """Begin the next phase or block when no worker plays; return False after an empty one."""
        phases = [
            self._phase_of(piece, opened.chunk) for opened in self._open for piece in opened.waiting
        ]
        was_empty = not (phases or self._taken)
        self._phase = min(phases, default=_FIRST)
        if not phases:
            self._taken = 0
        return not was_empty
