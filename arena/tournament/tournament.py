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
from arena.tournament.anchor import Anchor
from arena.tournament.bounds import MAX_FAULTS, HalvesChoice
from arena.tournament.schedule import Fixture, Pairing, gauntlet, round_robin
from arena.tournament.stop import Sprt, Stop, Until
from engine import Rules
from engine.play import Draw
from engine.state import Seat


@dataclass(frozen=True)
class Tournament:
    """A round robin: every two bots play `pairs` deals twice, with the seats swapped.

    With a `panel` it is a gauntlet: the last `panel` bots do not play one another, and neither
    do the others, the challengers. With `rounds` it is a Swiss tournament of so many rounds of
    `pairs` pairs. With a `stop` the run goes on until that is reached. After `max_faults`
    faults, a bot's remaining games are forfeits. It is all that a worker needs to play any game
    of the run.

    A gauntlet can be `paired`: its two challengers, a new version of a bot and the old one, meet
    the panel on the same deals with the same luck, and no process meets a deal twice. The
    Elo of the `anchor` is fixed. With `halves` "apart" the two games of a pair are played at
    different times.
    """

    name: str
    seed: int
    pairs: int
    entries: Sequence[Entry]
    rules: Rules
    limits: Limits = field(default_factory=Limits)
    max_faults: int = MAX_FAULTS
    panel: int = 0
    rounds: int = 0
    stop: Stop | None = None
    paired: bool = False
    anchor: Anchor | None = None
    halves: HalvesChoice = "together"

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
    def most_pairs(self) -> int:
        """How many pairs a pairing plays at most."""
        return self.stop.max_pairs if self.stop else self.pairs * (self.rounds or 1)

    @property
    def games(self) -> int:
        """How many games the run has at most; without a stop, that is how many it has."""
        if self.rounds:
            return 2 * self.pairs * self.rounds * (len(self.entries) // 2)
        if isinstance(self.stop, Sprt):
            return 2 * self.stop.max_pairs * (1 + self.paired)
        return 2 * self.most_pairs * len(self.pairings)

    @property
    def chooses_pairings(self) -> bool:
        """Whether the games decide which pairings play how many pairs."""
        return isinstance(self.stop, Until)

    @cached_property
    def twins(self) -> frozenset[int]:
        """The numbers of the pairings that play the deals of others: the new version's."""
        if not self.paired:
            return frozenset()
        new = self.labels[0]
        return frozenset(n for n, pairing in enumerate(self.pairings) if pairing.bot == new)

    def old_pairing(self, pairing: int) -> int:
        """Return the pairing of the old version whose deals this one of the new version plays."""
        return pairing + self.panel

    def fixture(self, pairing: int, pair: int, seat: Seat) -> Fixture:
        """Return the place of a game of the pairing with this number."""
        return Fixture(self.pairings[pairing], pair, seat)

    def draw(self, fixture: Fixture) -> Draw:
        """Return the deal and the luck of both seats of a game."""
        seeded = Fixture(self.seeded(fixture.pairing), *fixture[1:])
        return seeded.draw(self.seed, self.rules)

    def seeded(self, pairing: Pairing) -> Pairing:
        """Return the labels that decide the deals of a pairing: not the new version's."""
        if self.paired and pairing.bot == self.labels[0]:
            return Pairing(self.labels[1], pairing.opponent)
        return pairing

    def part(self, pairing: Pairing, seat: Seat) -> int:
        """Return the part of a game: games of one deal are in different parts.

        `seat` is that of the pairing's first bot.
        """
        return seat if self.seeded(pairing) == pairing else seat + 2

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
            **self._more(),
            "bots": [entry.describe() for entry in self.entries],
            "versions": versions(),
        }

    def _more(self) -> dict[str, Any]:
        """Return what of the manifest only some tournaments have."""
        more: dict[str, Any] = {"rounds": self.rounds, "paired": self.paired}
        if self.stop:
            more["stop"] = msgspec.to_builtins(self.stop)
        if self.halves != "together":
            more["halves"] = self.halves
        if self.anchor:
            more["anchor"] = msgspec.to_builtins(self.anchor)
        return {key: value for key, value in more.items() if value}


def versions() -> dict[str, str]:
    """Return what plays here: the arena's version, the engine's hash and Python's version."""
    return {
        "arena": metadata.version("district-noir-arena"),
        "engine": engine_sha256(),
        "python": platform.python_version(),
    }


@cache
def engine_sha256() -> str:
    """Return the hash of the engine's source: another engine plays other games."""
    digest = hashlib.sha256()
    for path in sorted(Path(engine.__path__[0]).glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
