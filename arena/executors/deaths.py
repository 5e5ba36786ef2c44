"""Blame: whose game it was that a worker did not survive, and what is played again.

A worker may be killed from outside as well. So the game it was playing is played again
alone, every decision marked; whose decision was the last one each time that the worker
died has done it: it may have spoilt the worker and answered.
"""

from __future__ import annotations

from collections import defaultdict

from arena.errors import WorkerDied
from arena.executors.marks import IMPORTING, NOBODY, Seen
from arena.lanes.faults import KILLED, Fault, late
from arena.lanes.limits import Limits
from arena.tournament.chunk import Chunk
from arena.tournament.schedule import Pairing
from engine.strategy import Clock

_SURE = 2  # deaths in a row at one decision
_SURE_IF_KILLED = 6  # by SIGKILL, which is what comes from outside
_SURE_IF_KILLED_EARLY = 12  # and while a bot starts, which takes longer than many a game
_MOST = 30  # deaths in one pair of games


class Blame:
    """Keeps count of the deaths of workers."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._deaths: dict[tuple[int, int], list[tuple[int, ...]]] = defaultdict(list)

    def again(
        self, chunk: Chunk, pairing: Pairing, seen: Seen, message: str, hung: bool
    ) -> list[Chunk]:
        """Return what to play in place of a chunk whose worker has died, or hung.

        `message` says how it died. Raises WorkerDied if workers go on dying before any
        bot has been called.
        """
        if not chunk.alone:
            return _split(chunk, seen)
        deaths = self._deaths[chunk.pairing, chunk.first]
        deaths.append(seen.place)
        wanted = _SURE
        if message == KILLED:
            wanted = _SURE_IF_KILLED_EARLY if seen.stage == IMPORTING else _SURE_IF_KILLED
        sure = hung or deaths[-wanted:] == [seen.place] * wanted or len(deaths) >= _MOST
        if seen.who != NOBODY and sure:
            verdict = (seen.history, self._fault(seen, message, hung))
            return [chunk._replace(verdicts={**chunk.verdicts, (seen.pair, seen.seat): verdict})]
        if len(deaths) >= _MOST:
            raise WorkerDied(
                f"a worker process died {len(deaths)} times in pair {chunk.first} of "
                f"{' - '.join(pairing)} before a bot was called: {message}"
            )
        return [chunk]

    def _fault(self, seen: Seen, message: str, hung: bool) -> Fault:
        ply = len(seen.history)
        if seen.stage == IMPORTING:
            told = f"not imported within {self.limits.start:g} s" if hung else message
            return Fault(seen.who, "import", ply, told)
        if hung:
            clock = Clock(self.limits.decision, self.limits.game)
            return late(clock, "").of(seen.who, ply)
        return Fault(seen.who, "crash", ply, message)


def _split(chunk: Chunk, seen: Seen) -> list[Chunk]:
    """Return the chunk in pieces, the pair that was being played in one of its own."""
    end = chunk.first + chunk.pairs
    suspect = seen.pair if chunk.first <= seen.pair < end else chunk.first
    pieces = [
        chunk._replace(pairs=suspect - chunk.first),
        chunk._replace(first=suspect, pairs=1, alone=True),
        chunk._replace(first=suspect + 1, pairs=end - suspect - 1),
    ]
    return [piece for piece in pieces if piece.pairs]
