"""Table: a bot in a process of its own, and the games it plays there against ours."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from arena.entries.entry import Entry, load
from arena.executors.marks import Marks
from arena.executors.worker import Worker
from arena.games.timing import Timing
from arena.lanes.faults import Fault
from arena.lanes.launch import hello, launch
from arena.lanes.limits import Limits
from arena.lanes.output import Printed
from arena.lanes.process import BotProcess
from arena.runs import rerun
from arena.tournament.chunk import Chunk, Played
from arena.tournament.tournament import Tournament
from engine import STANDARD, Rules, Seat
from engine.cards import to_text
from engine.play import deal_at, luck_address
from engine.seeds import digest

OPPONENTS = ("uniform", "greedy")

_MB = 1 << 20
_MOST_PAIRS = 8  # at a time: a process holds 16 games
_CHUNK_SECONDS = 0.5


class Candidate(NamedTuple):
    """The bot that is checked, and with what; `beat` is called while it is waited for.

    `folder` is for its processes' files.
    """

    entry: Entry
    limits: Limits
    seed: int
    folder: Path
    beat: Callable[[], None]

    def new_folder(self) -> Path:
        """Return an empty folder for one process of the bot."""
        return Path(tempfile.mkdtemp(prefix="bot-", dir=self.folder))


class Number(NamedTuple):
    """Which game: the number of the opponent, of the pair, and the bot's seat."""

    opponent: int
    pair: int
    seat: Seat


class Guilty(Exception):
    """The bot has forfeited a game."""

    def __init__(self, number: Number, fault: Fault, command: str) -> None:
        super().__init__(fault.message)
        self.number = number
        self.fault = fault
        self.command = command


class _Beats(Marks):
    """Marks that nobody reads: only that something goes on is told."""

    def __init__(self, rules: Rules, told: Callable[[], None]) -> None:
        super().__init__(bytearray(Marks.length(rules.game_plies)))
        self.told = told

    def beat(self) -> None:
        self.told()


class Table:
    """Plays pairs of games; `actions` are those of every game so far, as text.

    `environment` is what the bot's process has besides what is usual.
    """

    def __init__(
        self,
        candidate: Candidate,
        lane: str = "process",
        rules: Rules = STANDARD,
        opponents: Sequence[str] = OPPONENTS,
        environment: dict[str, str] | None = None,
    ) -> None:
        entry = replace(candidate.entry, lane=lane)
        self.candidate = candidate
        self.rules = rules
        self.opponents = opponents
        entries = [entry, *(load(name) for name in opponents)]
        limits, folder = candidate.limits, candidate.new_folder()
        self.tournament = Tournament("check", candidate.seed, 1, entries, rules, limits)
        marks = _Beats(rules, candidate.beat)
        self.worker = Worker(self.tournament.job, marks, folder, Printed())
        started = launch(entry, limits, folder)
        started = started._replace(environment=started.environment | (environment or {}))
        self.process = BotProcess(started, hello(entry, rules), limits, candidate.beat)
        self.worker.processes[entry.label] = self.process
        self.actions: dict[Number, str] = {}
        self.timing = Timing()
        self.seconds = 0.0

    def play(self, opponent: int, pairs: int = 1, *, alone: bool = False) -> Played:
        """Play the next pairs against an opponent; raise Guilty for the bot's first fault."""
        first = len([number for number in self.actions if number.opponent == opponent]) // 2
        self.candidate.beat()
        played = self.worker.play(Chunk(opponent, first, pairs, alone))
        self.seconds += played.seconds
        self.timing.merge(played.timings[self.tournament.labels[0]])
        for result in played.results:
            self.actions[Number(opponent, result[0], result[1])] = result[-1]
        for faulty in played.faults:
            number = Number(opponent, faulty.pair, faulty.seat)
            raise Guilty(number, faulty.fault, self.command(number))
        return played

    def series(self, games: int, seconds: float) -> None:
        """Play so many games, fours of them, or until the time is up; four at least."""
        deadline = time.monotonic() + seconds
        while not self.actions or (len(self.actions) < games and time.monotonic() < deadline):
            missing = -(-(games - len(self.actions)) // (2 * len(self.opponents)))
            size = max(1, min(missing, self.pairs_at_once()))
            for opponent in range(len(self.opponents)):
                self.play(opponent, size, alone=not self.actions)

    @property
    def pair_seconds(self) -> float:
        """How long a pair of games has taken; 0 before the first."""
        return 2 * self.seconds / len(self.actions) if self.actions else 0.0

    def pairs_at_once(self) -> int:
        """Return how many pairs take half a second, as far as is known; one at least."""
        if not self.actions:
            return 1
        return max(1, min(_MOST_PAIRS, int(_CHUNK_SECONDS / self.pair_seconds)))

    def command(self, number: Number) -> str:
        """Return the command that plays a game again."""
        return rerun.commands(self.tournament)(*number)

    def deal(self, number: Number) -> bytes:
        """Return the deal of a game."""
        return deal_at(self.candidate.seed, self._address(number), self.rules)

    def message(self, number: Number, **more: Any) -> dict[str, Any]:
        """Return what a trial is told of a game, that and more."""
        address, seed = self._address(number), self.candidate.seed
        seeds = [digest(seed, *luck_address(address, seat)) for seat in (0, 1)]
        limits = self.candidate.limits
        return {
            "type": "play",
            "seat": number.seat,
            "seeds": [f"{luck:032x}" for luck in seeds],
            "deal": to_text(self.deal(number)),
            "opponent": self.opponents[number.opponent],
            "actions": "",
            "last": 0,
            "seconds_per_decision": limits.decision,
            "seconds_per_game": limits.game,
            **more,
        }

    def _address(self, number: Number) -> tuple[str | int, ...]:
        return self.tournament.pairings[number.opponent].deal_address(number.pair)

    def peak_megabytes(self) -> float | None:
        """Return the most memory the bot's process has had, None where nobody knows."""
        try:
            text = Path(f"/proc/{self.process.pid}/status").read_text()
        except OSError:
            return None
        for line in text.splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / _MB
        return None

    def files(self) -> list[str]:
        """Return the files the bot has left in its folder, but for caches."""
        found = []
        for parent, folders, names in os.walk(self.process.launch.folder):
            folders[:] = [name for name in folders if not _is_cache(name)]
            here = Path(parent).relative_to(self.process.launch.folder)
            found += [str(here / name) for name in names if not _is_cache(name)]
        return sorted(found)

    def close(self) -> None:
        """Kill the bot's process."""
        self.worker.close()


def parting(first: str, second: str) -> int:
    """Return the ply from which on two games are not the same.

    >>> parting("56T", "57T"), parting("56", "567")
    (1, 2)
    """
    plies = range(min(len(first), len(second)))
    return next((ply for ply in plies if first[ply] != second[ply]), len(plies))


def _is_cache(name: str) -> bool:
    return name.startswith(".") or name == "__pycache__"
