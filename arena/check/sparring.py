"""Sparring: a bot in a process of its own, and the games it plays there against our bots."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.executors.worker import Reporter, Worker
from arena.games.match import GameResult
from arena.games.timing import Timing
from arena.lanes.faults import Fault
from arena.lanes.limits import Limits
from arena.lanes.process import bot_process
from arena.results.command import replay_commands
from arena.tournament.chunk import Chunk, Played
from arena.tournament.schedule import Fixture
from arena.tournament.tournament import Tournament
from engine import STANDARD, Rules

OPPONENTS = ("uniform", "greedy")

_MB = 1 << 20
_MOST_PAIRS = 8  # at a time: a process holds 16 games
_CHUNK_SECONDS = 0.5


class Candidate(NamedTuple):
    """The bot that is checked, and with what; `beat` is called while the bot is awaited.

    `folder` is for the files of its processes.
    """

    entry: Entry
    limits: Limits
    seed: int
    folder: Path
    beat: Callable[[], None]

    def make_folder(self) -> Path:
        """Return a new, empty folder for one process of the bot."""
        return Path(tempfile.mkdtemp(prefix="bot-", dir=self.folder))


class Guilty(Exception):
    """The bot has forfeited a game; `command` plays the game again."""

    def __init__(self, fixture: Fixture, result: GameResult, command: str) -> None:
        assert result.fault is not None
        super().__init__(result.fault.message)
        self.fixture = fixture
        self.fault: Fault = result.fault
        self.ply = result.plies
        self.command = command


class _Beats(Reporter):
    """Reports only that the worker is alive."""

    def __init__(self, beat: Callable[[], None]) -> None:
        self.tell = beat

    def beat(self) -> None:
        self.tell()


class Sparring:
    """Plays pairs of games; `actions` holds those of every game so far, as text.

    `environment` is added to the usual one of the bot's process.
    """

    def __init__(
        self,
        candidate: Candidate,
        lane: str = "process",
        rules: Rules = STANDARD,
        opponents: Sequence[str] = OPPONENTS,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        entry = replace(candidate.entry, lane=lane)
        self.candidate = candidate
        self.rules = rules
        self.opponents = opponents
        entries = [entry, *(resolve(name) for name in opponents)]
        limits, folder = candidate.limits, candidate.make_folder()
        self.tournament = Tournament("check", candidate.seed, 1, entries, rules, limits)
        self.worker = Worker(self.tournament, folder, reporter=_Beats(candidate.beat))
        self._stack = ExitStack()
        self.process = self._stack.enter_context(
            bot_process(entry, rules, limits, folder, candidate.beat, environment=environment)
        )
        self.worker.processes |= dict.fromkeys([(entry.label, 0), (entry.label, 1)], self.process)
        self.actions: dict[Fixture, str] = {}
        self.timing = Timing()
        self.seconds = 0.0

    def play(self, opponent: int, pairs: int = 1) -> Played:
        """Play the next pairs against an opponent; raise Guilty for the bot's first fault."""
        pairing = self.tournament.pairings[opponent]
        first = len([fixture for fixture in self.actions if fixture.pairing == pairing]) // 2
        self.candidate.beat()
        if self.actions:
            self.worker.unsteady.clear()
        else:  # the first game alone: a bot that fails at once then fails in one game
            self.worker.unsteady.add(pairing.bot)
        played = self.worker.play(Chunk(opponent, first, pairs))
        self.seconds += played.seconds
        self.timing.merge(played.timings[pairing.bot])
        for result in played.results:
            self.actions[Fixture(pairing, *result[:2])] = result.actions
        for result in played.forfeits:
            fixture = Fixture(pairing, *result[:2])
            raise Guilty(fixture, result, self.command(fixture))
        return played

    def play_series(self, games: int, seconds: float) -> None:
        """Play so many games, fours of them, or until the time is up; at least four."""
        deadline = time.monotonic() + seconds
        while not self.actions or (len(self.actions) < games and time.monotonic() < deadline):
            missing = -(-(games - len(self.actions)) // (2 * len(self.opponents)))
            size = max(1, min(missing, self.pairs_at_once()))
            for opponent in range(len(self.opponents)):
                self.play(opponent, size)

    @property
    def pair_seconds(self) -> float:
        """How long a pair of games has taken; 0 before the first."""
        return 2 * self.seconds / len(self.actions) if self.actions else 0.0

    def pairs_at_once(self) -> int:
        """Return how many pairs take half a second, as far as is known; at least one."""
        if not self.actions:
            return 1
        return max(1, min(_MOST_PAIRS, int(_CHUNK_SECONDS / self.pair_seconds)))

    def command(self, fixture: Fixture) -> str:
        """Return the command that plays a game again."""
        return replay_commands(self.tournament)(fixture)

    def peak_megabytes(self) -> float | None:
        """Return the most memory that the bot's process has had, None where it is unknown."""
        try:
            text = Path(f"/proc/{self.process.pid}/status").read_text()
        except OSError:
            return None
        for line in text.splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / _MB
        return None

    def files(self) -> list[str]:
        """Return the files that the bot has left in its folder, except for caches."""
        files = []
        for parent, folders, names in os.walk(self.process.launch.folder):
            folders[:] = [name for name in folders if not _is_cache(name)]
            place = Path(parent).relative_to(self.process.launch.folder)
            files += [str(place / name) for name in names if not _is_cache(name)]
        return sorted(files)

    def close(self) -> None:
        """Kill the bot's process."""
        self.worker.close()
        self._stack.close()


def find_parting(first: str, second: str) -> int:
    """Return the ply from which on two games differ.

    >>> find_parting("56T", "57T"), find_parting("56", "567")
    (1, 2)
    """
    plies = range(min(len(first), len(second)))
    return next((ply for ply in plies if first[ply] != second[ply]), len(plies))


def _is_cache(name: str) -> bool:
    return name.startswith(".") or name == "__pycache__"
