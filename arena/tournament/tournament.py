"""Tournament: what a run is to play, with which bots, rules and limits."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec

import engine
from arena.entries.entry import Entry
from arena.lanes.limits import Limits
from arena.tournament.bounds import MAX_FAULTS
from arena.tournament.schedule import Fixture, Pairing, gauntlet, round_robin
from engine import Rules
from engine.state import Seat


@dataclass(frozen=True)
class Tournament:
    """A round robin: every two bots play `pairs` deals twice, with the seats swapped.

    With a `panel` it is a gauntlet: the last `panel` bots do not play one another, and neither
    do the others, the challengers. After `max_faults` faults, a bot's remaining games are
    forfeits. It is all that a worker needs to play any game of the run.
    """

    name: str
    seed: int
    pairs: int
    entries: Sequence[Entry]
    rules: Rules
    limits: Limits = field(default_factory=Limits)
    max_faults: int = MAX_FAULTS
    panel: int = 0

    @property
    def labels(self) -> list[str]:
        """The bots' labels, in the order they were named."""
        return [entry.label for entry in self.entries]

    @cached_property
    def by_label(self) -> dict[str, Entry]:
        """The bots by label."""
        return {entry.label: entry for entry in self.entries}

    @cached_property
    def pairings(self) -> list[Pairing]:
        """The pairings, in the order of the schedule."""
        if self.panel:
            return gauntlet(self.labels[: -self.panel], self.labels[-self.panel :])
        return round_robin(self.labels)

    @property
    def games(self) -> int:
        """How many games the run has."""
        return 2 * self.pairs * len(self.pairings)

    def fixture(self, pairing: int, pair: int, seat: Seat) -> Fixture:
        """Return the place of a game of the pairing with this number."""
        return Fixture(self.pairings[pairing], pair, seat)

    def manifest(self) -> dict[str, Any]:
        """Return what was asked for and with what: enough to run it again."""
        panel = {"panel": self.labels[-self.panel :]} if self.panel else {}
        return {
            "name": self.name,
            "seed": self.seed,
            "pairs": self.pairs,
            "rules": self.rules.changes(),
            "limits": msgspec.structs.asdict(self.limits),
            "max_faults": self.max_faults,
            **panel,
            "bots": [entry.describe() for entry in self.entries],
            "versions": {
                "arena": metadata.version("district-noir-arena"),
                "engine": _engine_sha256(),
                "python": platform.python_version(),
            },
        }


@cache
def _engine_sha256() -> str:
    """Return the hash of the engine's source: another engine plays other games."""
    digest = hashlib.sha256()
    for path in sorted(Path(engine.__path__[0]).glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
