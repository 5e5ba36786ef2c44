"""Give the two games of a pair to different workers, or play them at different times.

Both games of a pair share a deal, so that a bot which has played the one knows its opponent's
hands in the other. A worker therefore plays one half of a chunk: the games in which the
pairing's first bot has one seat. In a paired tournament two pairings share their deals: some
workers play the one, and some the other.

With `halves: apart` chunks are played in blocks. In the first phase of a block the workers play the
first half of all its chunks, in the second one the other half. After each phase every worker ends,
with all processes of its bots. So what has seen one game of a pair has ended before the other game
begins. In a paired tournament, where two pairings share their deals, a block has four phases.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final, Protocol

from arena.tournament.chunk import Chunk, Played, join
from arena.tournament.plan import Fits
from arena.tournament.tournament import Tournament
from engine.state import Seat

FEWEST_FOR_TWINS: Final = 4
"""With fewer workers, bots in the lane `inproc` would meet the deals of twins again."""

_MOST_WAITING = 2  # for each worker: halves that wait for a worker that may play them


class Work(Protocol):
    """Where chunks come from: the plan of a run, or the batches that a site gets."""

    def next(self, fits: Fits | None = None) -> Chunk | None:
        """Return what to play next, None if there is nothing now."""

    def take_back(self, chunks: Iterable[Chunk]) -> None:
        """Take back chunks that were given out and not played."""

    def is_out(self, pairing: int) -> bool:
        """Return whether a pairing's games are not to be played any more."""


class _Open:
    """A chunk that was taken from the plan: what of it waits, and what has been played.

    `seats` are those of the workers that have a part in it: none has a part in both halves.
    """

    def __init__(self, chunk: Chunk, seats: dict[int, Seat]) -> None:
        self.chunk = chunk
        self.seats = seats
        self.waiting = [chunk._replace(seats=(seat,)) for seat in chunk.seats]
        self.played: list[Played] = []

    def holds(self, piece: Chunk) -> bool:
        """Return whether a piece is of this chunk."""
        chunk = self.chunk
        return chunk.pairing == piece.pairing and 0 <= piece.first - chunk.first < chunk.pairs

    def join(self) -> Played | None:
        """Return what the whole chunk came to, None if some of it has not been played."""
        if sum(played.chunk.pairs for played in self.played) < 2 * self.chunk.pairs:
            return None
        return join(self.chunk, self.played)


class Halves:
    """Gives out the halves of chunks to workers, which are numbered from 0.

    Workers with even numbers play seat 0 as long as there is no lack of work, the others
    seat 1: then each of them needs one process of each bot. A worker that replaces another has
    its number. `twins` are the pairings that play the deals of others: every other two workers
    play them, and no others.
    """

    def __init__(self, work: Work, workers: int, twins: Collection[int] = ()) -> None:
        self.work = work
        self.workers = workers
        self.twins = twins if workers >= FEWEST_FOR_TWINS else ()
        self._open: list[_Open] = []

    def next(self, worker: int) -> Chunk | None:
        """Return what a worker is to play next, None if there is nothing for it."""
        self._drop_decided()
        seat = worker % 2
        waiting = sum(len(opened.waiting) for opened in self._open)  # also for the other workers
        is_behind = waiting >= _MOST_WAITING * self.workers
        piece = self._take(worker, seat)
        if piece is None and is_behind:
            piece = self._take(worker, 1 - seat)
        if piece is None and (chunk := self.work.next(partial(self._may_play, worker))):
            self._open_for(chunk, worker, 1 - seat if is_behind else seat)
        return piece or self._take(worker, seat) or self._take(worker, 1 - seat)

    def _may_play(self, worker: int, pairing: int) -> bool:
        """Return whether a worker plays a pairing at all."""
        return not self.twins or (pairing in self.twins) == (worker // 2 % 2 == 1)

    def _drop_decided(self) -> None:
        """Give back, to be passed over, the chunks that have become forfeits by rule."""
        for opened in self._open[:]:
            if opened.waiting and self.work.is_out(opened.chunk.pairing):
                self._open.remove(opened)
                self.work.take_back([opened.chunk])

    def _open_for(self, chunk: Chunk, worker: int, seat: Seat) -> None:
        """Add a chunk: this worker plays the half of this seat, a neighbour the other one."""
        neighbour = worker ^ 1 if worker ^ 1 < self.workers else worker - 1
        seats = {worker: seat, neighbour: 1 - seat} if self.workers > 1 else {}
        if not self._may_play(neighbour, chunk.pairing):
            seats = {}
        self._add(chunk, seats)

    def _add(self, chunk: Chunk, seats: dict[int, Seat] | None = None) -> None:
        self._open.append(_Open(chunk, seats or {}))

    def _take(self, worker: int, seat: Seat) -> Chunk | None:
        """Return the first piece that a worker may play; of any seat if it is the only one."""
        for opened in self._open:
            if not self._may_play(worker, opened.chunk.pairing):
                continue
            for piece in opened.waiting:
                if self.workers == 1 or (
                    piece.seats == (seat,) and opened.seats.get(worker, seat) == seat
                ):
                    opened.waiting.remove(piece)
                    opened.seats[worker] = seat
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


def keep_apart(tournament: Tournament, workers: int) -> Tournament:
    """Return a tournament in which no process of a bot meets a deal again, on so many workers.

    A paired one of few workers has all bots in processes of their own: a game has the same
    bytes in every lane. With `halves: apart` no worker meets a deal again anyhow.
    """
    is_apart = workers >= FEWEST_FOR_TWINS or tournament.halves == "apart"
    if not tournament.paired or is_apart:
        return tournament
    entries = [
        replace(entry, lane="process") if entry.lane == "inproc" else entry
        for entry in tournament.entries
    ]
    return replace(tournament, entries=entries)


_MOST_CHUNKS = 32  # of a block, for each worker
_MOST_SECONDS = 10.0  # in which a block takes chunks
_FIRST = (False, 0)  # a phase: whether it is that of twins, and of which half


class Phases(Halves):
    """Gives out the halves of chunks to workers, those of one phase at a time.

    `clock` tells seconds; how long the blocks are changes no game.
    """

    def __init__(
        self,
        work: Work,
        workers: int,
        twins: Collection[int] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(work, workers)
        self.twins = twins  # of them each worker plays all
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

    def _phase_of(self, piece: Chunk, chunk: Chunk) -> tuple[bool, int]:
        """Return the phase of a piece of a chunk: that of its seat, for twins a later one."""
        return chunk.pairing in self.twins, chunk.seats.index(piece.seats[0])

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
