"""Job: what a worker is told, what it is given to play, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from arena.entries.entry import Entry
from arena.games.timing import Timing
from arena.lanes.faults import Fault
from arena.lanes.limits import Limits
from arena.tournament.schedule import Pairing
from arena.tournament.strikes import Strike
from engine import Rules
from engine.state import Seat


@dataclass(frozen=True)
class Job:
    """Everything a worker needs to play any game of a run."""

    seed: int
    rules: Rules
    entries: dict[str, Entry]
    pairings: Sequence[Pairing]
    pairs: int
    limits: Limits = field(default_factory=Limits)

    @property
    def games(self) -> int:
        """How many games the run has."""
        return 2 * self.pairs * len(self.pairings)


class Chunk(NamedTuple):
    """Some pairs of one pairing: from `first`, `pairs` of them.

    `alone` asks for game after game, each decision marked, because one of them has killed
    a worker; `verdicts` are over games that have: how far they came, and the fault.
    """

    pairing: int
    first: int
    pairs: int
    alone: bool = False
    verdicts: Mapping[tuple[int, Seat], tuple[bytes, Fault]] = {}


class FaultyGame(NamedTuple):
    """A game that ended by a fault: the pair, the first bot's seat, the guilty bot."""

    pair: int
    seat: Seat
    label: str
    fault: Fault


class Played(NamedTuple):
    """What a chunk came to, and how long it took; timings are by label.

    `results` are GameResults as plain tuples, which travel in half the time.
    """

    chunk: Chunk
    results: list[tuple[Any, ...]]
    faults: list[FaultyGame]
    timings: dict[str, Timing]
    seconds: float

    @property
    def strikes(self) -> list[Strike]:
        """The faults as the rule counts them."""
        return [Strike(game.pair, game.seat, game.label) for game in self.faults]
