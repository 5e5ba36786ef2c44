"""Tournament: what a run is to play, with which bots, rules and limits."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec

import engine
from arena.entries.entry import Entry
from arena.lanes.limits import Limits
from arena.tournament.chunk import Job
from arena.tournament.schedule import Pairing, round_robin
from engine import Rules

MAX_FAULTS = 10
MOST_PAIRS = 1_000_000_000  # in each pairing
MOST_WORKERS = 256


@dataclass(frozen=True)
class Tournament:
    """A round robin: every two bots play `pairs` deals twice, seats swapped.

    After `max_faults` faults, a bot's remaining games are forfeits.
    """

    name: str
    seed: int
    pairs: int
    entries: Sequence[Entry]
    rules: Rules
    limits: Limits = field(default_factory=Limits)
    max_faults: int = MAX_FAULTS

    @property
    def labels(self) -> list[str]:
        """The bots' labels, in the order they were named."""
        return [entry.label for entry in self.entries]

    @property
    def pairings(self) -> list[Pairing]:
        """The pairings, in the order of the schedule."""
        return round_robin(self.labels)

    @property
    def job(self) -> Job:
        """What a worker needs to know."""
        entries = {entry.label: entry for entry in self.entries}
        return Job(self.seed, self.rules, entries, self.pairings, self.pairs, self.limits)

    def manifest(self) -> dict[str, Any]:
        """Return what was asked for and with what: enough to run it again."""
        return {
            "name": self.name,
            "seed": self.seed,
            "pairs": self.pairs,
            "rules": self.rules.changes(),
            "limits": msgspec.structs.asdict(self.limits),
            "max_faults": self.max_faults,
            "bots": [entry.described() for entry in self.entries],
            "versions": {
                "arena": metadata.version("district-noir-arena"),
                "engine": _engine_sha256(),
                "python": platform.python_version(),
            },
        }


def _engine_sha256() -> str:
    """Return the hash of the engine's source: another engine, another game."""
    digest = hashlib.sha256()
    for path in sorted(Path(engine.__path__[0]).glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
