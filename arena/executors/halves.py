"""Hand out chunks to the workers of a crew, whole or as halves.

Both games of a pair share a deal, so a bot that has played one of them knows its opponent's hands
in the other. A half of a chunk is the games in which the pairing's first bot has one seat. In the
lanes `process` and `jail` a bot has a separate process for each half. A worker that plays only one
half needs half as many processes. Bots in the lane `inproc` are not separated: their chunks stay
whole.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from typing import Protocol

from arena.tournament.plan import CHUNK_SECONDS, Chunk, Played, join
from engine.state import Seat

_MOST_WAITING = 2  # for each worker: halves of long chunks that may wait for one of their seat


class Work(Protocol):
    """A source of chunks: the plan of a run, or the chunks of a call."""

    def next(self) -> Chunk | None:
        """Return the next chunk, None if there is nothing to play now."""

    def take_back(self, chunks: Iterable[Chunk]) -> None:
        """Take back chunks that were handed out but not played."""

    def is_out(self, pairing: int) -> bool:
        """Return whether the remaining games of a pairing are cancelled."""


class _Open:
    """A chunk taken from the plan: its results so far, and how many of its games are missing.

    `share` is the time of a piece, as a share of that of a long chunk.
    """

    __slots__ = "chunk", "is_dropped", "missing", "played", "share"

    def __init__(self, chunk: Chunk, share: float) -> None:
        self.chunk = chunk
        self.share = share
        self.played: list[Played] = []
        self.missing = chunk.games
        self.is_dropped = False

    def holds(self, piece: Chunk) -> bool:
        """Return whether a piece belongs to this chunk."""
        return 0 <= piece.first - self.chunk.first < self.chunk.pairs


class Halves:
    """Hands out halves of chunks, or `whole` chunks, to workers, which are numbered from 0.

    While there is enough work, workers with even numbers play seat 0 and the others seat 1. Then a
    worker needs one process of each bot, else one for each seat. A worker that replaces another
    gets its number. `expect` returns the seconds that a chunk may take.
    """

    def __init__(
        self,
        work: Work,
        workers: int,
        *,
        whole: bool = False,
        expect: Callable[[Chunk], float] = lambda _: inf,
    ) -> None:
        self.work = work
        self.workers = workers
        self.whole = whole
        self.expect = expect
        self._open: dict[int, list[_Open]] = {}  # by pairing
        self._waiting: defaultdict[int, deque[tuple[_Open, Chunk]]] = defaultdict(deque)
        self._shares = 0.0  # of the waiting pieces

    def next(self, worker: int, *, more: bool = False) -> Chunk | None:
        """Return the next piece for a worker, None if there is nothing to play.

        With `more` it is played after other pieces, so it is only one of the worker's own seat.
        """
        own = self._find_queue(worker % 2)
        piece = self._take(own)
        is_short = self._shares < _MOST_WAITING * self.workers
        if not piece and is_short and (chunk := self.work.next()):
            self._add(chunk)
            piece = self._take(own)
        return piece if piece or more else self._take(self._find_queue(1 - worker % 2))

    def _find_queue(self, seat: Seat) -> int:
        """Return the key of the queue of a seat; whole chunks and a single worker have one."""
        return 0 if self.workers == 1 or self.whole else seat

    def _add(self, chunk: Chunk) -> None:
        opened = _Open(chunk, min(1.0, self.expect(chunk) / CHUNK_SECONDS))
        self._open.setdefault(chunk.pairing, []).append(opened)
        halves = () if self.whole else chunk.seats
        for piece in [chunk._replace(seats=(seat,)) for seat in halves] or [chunk]:
            self._waiting[self._find_queue(piece.seats[0])].append((opened, piece))
            self._shares += opened.share

    def _take(self, queue: int) -> Chunk | None:
        """Return the first piece of a queue; a chunk that is decided goes back to the plan.

        Its games have become forfeits by rule.
        """
        waiting = self._waiting[queue]
        while waiting:
            opened, piece = waiting.popleft()
            self._shares -= opened.share
            if opened.is_dropped:
                continue
            if not self.work.is_out(piece.pairing):
                return piece
            self._drop(opened)
            self.work.take_back([opened.chunk])
        return None

    def _drop(self, opened: _Open) -> None:
        opened.is_dropped = True
        of_pairing = self._open[opened.chunk.pairing]
        of_pairing.remove(opened)
        if not of_pairing:
            del self._open[opened.chunk.pairing]

    def take_back(self, pieces: Sequence[Chunk]) -> None:
        """Take back pieces that were handed out but not played; they come first."""
        for piece in reversed(pieces):
            for opened in self._open.get(piece.pairing, ()):
                if opened.holds(piece):
                    self._waiting[self._find_queue(piece.seats[0])].appendleft((opened, piece))
                    self._shares += opened.share

    def join(self, played: Played) -> Iterator[Played]:
        """Yield the results of a chunk once all pieces of both halves have been played."""
        for opened in self._open.get(played.chunk.pairing, ()):
            if opened.holds(played.chunk):
                opened.played.append(played)
                opened.missing -= played.chunk.games
                if not opened.missing:
                    self._drop(opened)
                    is_whole = played.chunk == opened.chunk
                    yield played if is_whole else join(opened.chunk, opened.played)
                return
