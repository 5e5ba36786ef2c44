"""Phases: the two games of a pair are played at different times, with `halves: apart`.

Chunks are played in blocks. In the first phase of a block the workers play the first half of all
its chunks, in the second one the other half. After each phase every worker ends, with all processes
of its bots. So what has seen one game of a pair has ended before the other game begins. In a paired
tournament, where two pairings share their deals, a block has four phases.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

from arena.executors.halves import Halves, Work
from arena.tournament.chunk import Chunk

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
