"""Cut the remaining games into chunks of a fraction of a second, and hand them out turn by turn.

A chunk and its result are plain data, which executors send to other processes and machines.
"""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Final, NamedTuple, TypeAlias

from arena.errors import Unreachable
from arena.lanes.faults import Fault
from arena.tournament.asking import JudgedGame, Question
from arena.tournament.match import GameResult
from arena.tournament.schedule import Strikes
from arena.tournament.timing import Timing
from engine.state import Seat

_MOST_WAITING = 2  # for each worker: halves of long chunks that may wait for one of their seat


class Verdict(NamedTuple):
    """The forfeit of a game that killed its workers: the guilty seat, and the actions before."""

    guilty: Seat
    history: bytes
    fault: Fault


class Chunk(NamedTuple):
    """Consecutive pairs of the pairing with this number: `pairs` of them, from `first` on.

    With `apart`, because a worker has died, each bot runs in a process of its own, and games are
    played one at a time. `verdicts` are results of games that are not played, by pair and seat.
    `seats` are the seats of the pairing's first bot, in the order of playing: one for each half of
    the games. With `again` the games are repeated, by processes that are new to their bots. With a
    `question` no game is played: the pairing's first bot judges recorded games.
    """

    pairing: int
    first: int
    pairs: int
    apart: bool = False
    verdicts: Mapping[tuple[int, Seat], Verdict] = {}
    seats: tuple[Seat, ...] = (0, 1)
    again: bool = False
    question: Question | None = None

    @property
    def games(self) -> int:
        """The number of its games."""
        return self.pairs * len(self.seats)

    @property
    def places(self) -> list[tuple[int, Seat]]:
        """The pair and the seat of each of its games, in order."""
        pairs = range(self.first, self.first + self.pairs)
        return [(pair, seat) for pair in pairs for seat in sorted(self.seats)]


class Played(NamedTuple):
    """The results of a chunk, in the order of pair and seat, and the time that it took.

    Timings are by label; those of several chunks may all be in the last one. A chunk with a
    question has no results but `judged` games, or a `refusal`, the reason why the bot could not
    judge them. Another chunk has one if a bot that lives elsewhere could not be asked.
    """

    chunk: Chunk
    results: list[GameResult]
    timings: dict[str, Timing]
    seconds: float
    judged: Sequence[JudgedGame] = ()
    refusal: str = ""

    def check(self) -> Played:
        """Return it; raises Unreachable if a bot that lives elsewhere could not be asked."""
        if self.refusal and not self.chunk.question:
            raise Unreachable(self.refusal)
        return self

    @property
    def forfeits(self) -> list[GameResult]:
        """The games that a fault ended."""
        return [result for result in self.results if result.fault]


def join(chunk: Chunk, parts: Sequence[Played]) -> Played:
    """Return the result of a chunk, joined from the results of its parts."""
    results = sorted((game for part in parts for game in part.results), key=lambda game: game[:2])
    judged = sorted((game for part in parts for game in part.judged), key=lambda game: game[:2])
    timings, seconds = gather_times(parts)[-1].timings, sum(part.seconds for part in parts)
    refusal = next((part.refusal for part in parts if part.refusal), "")
    return Played(chunk, results, timings, seconds, judged, refusal)


def gather_times(parts: Sequence[Played]) -> list[Played]:
    """Return results of which only the last has timings: those of all."""
    timings: dict[str, Timing] = {}
    for part in parts:
        for label, timing in part.timings.items():
            timings.setdefault(label, Timing()).merge(timing)
    without = [part._replace(timings={}) for part in parts]
    return [*without[:-1], parts[-1]._replace(timings=timings)]


class _Missing(NamedTuple):
    """Missing pairs of a pairing, up to `end`, to be played in chunks of at most `most`.

    `turn` and `rank` are those of the first pair; a negative turn is a place in a given list.
    """

    turn: int
    rank: tuple[int, ...]
    pairing: int
    first: int
    end: int
    most: int


class Plan:
    """Cuts pairs into chunks whose size depends on the speed of the pairing's games so far.

    `missing` has, for each pairing, the ranges of pairs to play, in this order; pairs added later
    are played in turns. `seats` is the order of the two halves of a chunk. With `size`, every chunk
    has this many pairs, whatever the speed.
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
        self.again = False
        labels = sorted({label for pairing in strikes.pairings for label in pairing})
        self._numbers = {label: number for number, label in enumerate(labels)}
        self._missing: list[_Missing] = []  # a heap
        self._returned: list[Chunk] = []
        self._given: set[tuple[int, int]] = set()  # the chunks that are being played
        self._pair_seconds: dict[int, float] = {}
        self._list(missing)

    def _list(self, missing: Sequence[Sequence[range]]) -> None:
        listed = [(number, pairs) for number, ranges in enumerate(missing) for pairs in ranges]
        for place, (number, pairs) in enumerate(listed, -len(listed)):
            self._push(_Missing(place, (), number, pairs.start, pairs.stop, len(pairs)))

    def repeat(self, pairs: Sequence[Sequence[range]], strikes: Strikes) -> None:
        """Add pairs of each pairing whose first games are repeated, after all others."""
        self.strikes, self.seats, self.again = strikes, (0,), True
        self._list(pairs)

    @property
    def is_finished(self) -> bool:
        """Whether all games have been played or skipped."""
        return not (self._missing or self._returned or self._given)

    def add(self, missing: Iterable[tuple[int, range]], *, spread: bool) -> None:
        """Add the pairs of a round, each range with the number of its pairing.

        With `spread`, each range is cut into several chunks, for a round of few pairings.
        """
        for pairing, pairs in missing:
            most = max(_LEAST, len(pairs) // _PARTS) if spread else len(pairs)
            self._push(_Missing(0, (), pairing, pairs.start, pairs.stop, most))

    def _push(self, missing: _Missing) -> None:
        """Add pairs, to be played in the order of their turns."""
        if missing.first < missing.end:
            if missing.turn >= 0:
                turn, *rank = self._place(missing.pairing, missing.first)
                missing = missing._replace(turn=turn, rank=(*rank,))
            heapq.heappush(self._missing, missing)

    def next(self, fits: Callable[[int], bool] | None = None) -> Chunk | None:
        """Return the next chunk to play, None if no chunk is left.

        With `fits`, only pairings whose number it accepts are considered. Games that would be
        forfeits by rule are skipped.
        """
        while chunk := self._take(fits):
            if not self.strikes.is_out(chunk.pairing):
                self._given.add(chunk[:2])
                return chunk
            self.strikes.finish(chunk.pairing, chunk.first, chunk.pairs)
        return None

    def _take(self, fits: Callable[[int], bool] | None) -> Chunk | None:
        """Return the next chunk that was taken back, or else the next one of the missing pairs."""
        for chunk in sorted(self._returned, key=lambda one: (*self._place(*one[:2]), *one[:2])):
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

    def _place(self, pairing: int, pair: int) -> tuple[int, ...]:
        """Return the turn of a pair, and its place there: pairings of few bots come together.

        So a message to a bot's process is about several games.
        """
        turn, rank = self.strikes.place_of(pairing, pair)
        bots = (self._numbers[label] // _TILE for label in sorted(self.strikes.pairings[pairing]))
        return turn, *bots, rank

    def _cut(self) -> Chunk:
        """Cut the next chunk from the missing pairs; one to be skipped is not cut."""
        missing = heapq.heappop(self._missing)
        turn, _, pairing, first, end, most = missing
        seconds = self._pair_seconds.get(pairing)
        by_speed = max(1, int(CHUNK_SECONDS / seconds)) if seconds else 1
        stop = min(first + min(self.size or by_speed, most), end)
        if turn >= 0 and stop > first + 1:
            stop = min(stop, self.strikes.turn_end(pairing, first))
        if self.strikes.is_out(pairing):
            stop = end
        if stop < end:
            self._push(missing._replace(first=stop))
        return Chunk(pairing, first, stop - first, seats=self.seats, again=self.again)

    def is_out(self, pairing: int) -> bool:
        """Return whether the unplayed games of a pairing are forfeits by rule."""
        return self.strikes.is_out(pairing)

    def take_back(self, chunks: Iterable[Chunk]) -> None:
        """Take back chunks that were handed out but not played."""
        for chunk in chunks:
            self._given.discard(chunk[:2])
            self._returned.append(chunk)

    def learn(self, played: Played) -> None:
        """Record the speed and the faults of a played chunk."""
        chunk = played.chunk
        self._given.discard(chunk[:2])
        self._pair_seconds[chunk.pairing] = max(1e-6, played.seconds) / chunk.pairs
        self.strikes.finish(chunk.pairing, chunk.first, chunk.pairs, played.forfeits)


class Chunks:
    """The chunks of a call or of a check, played in this order; none is a forfeit by rule.

    `look` is called as often as a crew asks for the next one: several times a second if there is
    only one.
    """

    def __init__(self, chunks: Iterable[Chunk] = (), look: Callable[[], object] = bool) -> None:
        self.left = deque(chunks)
        self.look = look

    def next(self) -> Chunk | None:
        """Return the next chunk, None if there is none."""
        self.look()
        return self.left.popleft() if self.left else None

    def take_back(self, chunks: Iterable[Chunk]) -> None:
        """Take back chunks that were handed out but not played."""
        self.left.extendleft(chunks)

    def is_out(self, pairing: int) -> bool:  # noqa: ARG002
        """Return False: no pairing is cancelled."""
        return False


Work: TypeAlias = Plan | Chunks


@dataclass(eq=False)
class _Open:
    """A chunk taken from the plan: its results so far, and how many of its games are missing.

    `share` is the time of a piece, as a share of that of a long chunk.
    """

    chunk: Chunk
    share: float
    missing: int
    played: list[Played] = field(default_factory=list)
    is_dropped: bool = False

    def holds(self, piece: Chunk) -> bool:
        """Return whether a piece belongs to this chunk."""
        return 0 <= piece.first - self.chunk.first < self.chunk.pairs


class Halves:
    """Hands out halves of chunks, or `whole` chunks, to workers, which are numbered from 0.

    Both games of a pair share a deal, so a bot that has played one of them knows its opponent's
    hands in the other. A half of a chunk is the games in which the pairing's first bot has one
    seat; a bot apart has a separate process for each half. Bots in the lane `inproc` are not
    separated: their chunks stay whole.

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
        self._open: defaultdict[int, list[_Open]] = defaultdict(list)  # by pairing
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
        opened = _Open(chunk, min(1.0, self.expect(chunk) / CHUNK_SECONDS), chunk.games)
        self._open[chunk.pairing].append(opened)
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
        self._open[opened.chunk.pairing].remove(opened)

    def take_back(self, pieces: Sequence[Chunk]) -> None:
        """Take back pieces that were handed out but not played; they come first."""
        for piece in reversed(pieces):
            for opened in self._open[piece.pairing]:
                if opened.holds(piece):
                    self._waiting[self._find_queue(piece.seats[0])].appendleft((opened, piece))
                    self._shares += opened.share

    def join(self, played: Played) -> Iterator[Played]:
        """Yield the results of a chunk once all pieces of both halves have been played."""
        for opened in self._open[played.chunk.pairing]:
            if opened.holds(played.chunk):
                opened.played.append(played)
                opened.missing -= played.chunk.games
                if not opened.missing:
                    self._drop(opened)
                    is_whole = played.chunk == opened.chunk
                    yield played if is_whole else join(opened.chunk, opened.played)
                return


CHUNK_SECONDS: Final = 0.3
"""Seconds of a long chunk: games are cut so as to take no longer."""

_TILE = 8  # bots, all of whose pairings are played before those with others
_PARTS = 8  # parts of a pairing's pairs in a round of few pairings, so that all workers are busy
_LEAST = 4  # pairs; smaller chunks cost more time than they save
