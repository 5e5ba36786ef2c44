"""Decide how to replay the games that were lost when a worker process died.

A worker may be killed from outside, or by a bot inside it. So the pairs that it was playing are
replayed apart, with every bot in a process of its own, where a crash, a timeout and lack of memory
can be distinguished. A bot that kills the worker even then is identified by the question that the
worker had just asked it, the same each time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any, NamedTuple

from arena.errors import WorkerDied
from arena.lanes.faults import Fault
from arena.tournament.plan import Chunk, Verdict
from arena.tournament.schedule import Pairing
from engine.state import Seat

_SURE = 6  # deaths in a row at one question; fewer may have a cause outside
_SURE_IN_START = 12  # a start takes longer than many games, so kills often hit it
_MOST = 30  # deaths in one pair
_UNSAFE = 3  # deaths in one pairing, after which all of it is played apart

_BEAT, _FIRST, _PAIRS, _FINISHED = range(4)


class Progress:
    """A worker's progress, in shared memory that its parent can read after its death.

    `memory` has SIZE bytes; a bot in the worker can write anything there. `beat` changes with
    every sign of life and is 0 before the first.
    """

    SIZE = 4 * 8

    def __init__(self, memory: Any) -> None:
        self._numbers = memoryview(memory).cast("B").cast("q")

    def count_beat(self) -> None:
        """Count a sign of life."""
        self._numbers[_BEAT] += 1

    def set_pairs(self, first: int, pairs: int) -> None:
        """Record which pairs are played from now on."""
        numbers = self._numbers
        numbers[_FIRST], numbers[_PAIRS] = first, pairs
        numbers[_BEAT] += 1

    def count_finished(self) -> None:
        """Record that these pairs have been played."""
        self._numbers[_FINISHED] += 1

    @property
    def finished(self) -> int:
        """How many times pairs have been finished."""
        return self._numbers[_FINISHED]

    @property
    def beat(self) -> int:
        """The number of signs of life."""
        return self._numbers[_BEAT]

    def pairs_of(self, chunk: Chunk) -> range:
        """Return the pairs of a chunk that are being played, or its first one if none of them is.

        >>> progress = Progress(bytearray(Progress.SIZE))
        >>> progress.set_pairs(4, 2)
        >>> progress.pairs_of(Chunk(0, 5, 3)), progress.pairs_of(Chunk(0, 8, 3))
        (range(5, 6), range(8, 9))
        """
        first, pairs = self._numbers[_FIRST], self._numbers[_PAIRS]
        end = chunk.first + chunk.pairs
        playing = range(max(first, chunk.first), min(first + pairs, end))
        return playing or range(chunk.first, chunk.first + 1)


class Asking(NamedTuple):
    """A question to a bot in a game that is played apart; sent to the parent before the bot.

    `asked` is the bot's seat; `history` is None while the bot starts.
    """

    pair: int
    seat: Seat
    asked: Seat
    history: bytes | None


class Deaths:
    """Counts the deaths of workers, and decides what to play in place of their chunks."""

    def __init__(self) -> None:
        self._questions: dict[tuple[int, ...], list[Asking | None]] = defaultdict(list)
        self._of_pairing: Counter[int] = Counter()

    def is_unsafe(self, pairing: int) -> bool:
        """Return whether enough workers have died in a pairing to play all of it apart."""
        return self._of_pairing[pairing] >= _UNSAFE

    def replan(
        self, chunk: Chunk, pairing: Pairing, pairs: range, asking: Asking | None, ending: str
    ) -> list[Chunk]:
        """Return what to play in place of a chunk whose worker has died playing some pairs.

        `asking` is the last question of a game played apart; `ending` says how the worker died.
        Raises WorkerDied if workers keep dying before a bot gets a question.
        """
        self._of_pairing[chunk.pairing] += 1
        if chunk.pairs > 1 or not chunk.apart:
            return split(chunk, pairs, chunk._replace(apart=True))
        questions = self._questions[chunk.pairing, chunk.first, *chunk.seats]
        questions.append(asking)
        wanted = _SURE_IN_START if asking and asking.history is None else _SURE
        sure = questions[-wanted:] == [asking] * wanted or len(questions) >= _MOST
        if asking and sure:
            verdict = _judge(asking, ending)
            decided = {**chunk.verdicts, (asking.pair, asking.seat): verdict}
            return [chunk._replace(verdicts=decided)]
        if len(questions) >= _MOST:
            raise WorkerDied(
                f"a worker process died {len(questions)} times in pair {chunk.first} of "
                f"{pairing.name} before a bot was asked: {ending}"
            )
        return [chunk]


def _judge(asking: Asking, ending: str) -> Verdict:
    kind = "import" if asking.history is None else "crash"
    fault = Fault(kind, f"each time it was asked, its worker {ending}")
    return Verdict(asking.asked, asking.history or b"", fault)


def split(chunk: Chunk, pairs: range, special: Chunk) -> list[Chunk]:
    """Split a chunk: each of `pairs` becomes a copy of `special` with that pair, the rest stays."""
    end = chunk.first + chunk.pairs
    pieces = [
        chunk._replace(pairs=pairs.start - chunk.first),
        *(special._replace(first=pair, pairs=1) for pair in pairs),
        chunk._replace(first=pairs.stop, pairs=end - pairs.stop),
    ]
    return [piece for piece in pieces if piece.pairs]
