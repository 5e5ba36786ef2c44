"""Play a bot against bots of the arena in processes of its own, and estimate its rating."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from arena.check.item import Growth, Item, fail
from arena.entries.catalogue import ELO, place
from arena.entries.entry import Entry
from arena.entries.needs import explain_missing
from arena.entries.resolve import resolve
from arena.executors.log import Reporter
from arena.executors.worker import Worker
from arena.lanes.faults import Fault, Forfeit
from arena.lanes.limits import Limits
from arena.lanes.process import BotProcess, bot_process
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk
from arena.tournament.replay_command import replay_commands
from arena.tournament.schedule import Fixture
from arena.tournament.timing import Timing
from arena.tournament.tournament import Tournament
from engine import STANDARD, Rules

if TYPE_CHECKING:
    from arena.statistics.intervals import Estimate

VARIANTS = {
    "take_size 3": Rules(take_size=3),
    "take_size 1": Rules(take_size=1),
    "take_size 7": Rules(take_size=7, opening_row=5, removed=0),
    "cities_needed 2": Rules(cities_needed=2),
    "cities_needed 1": Rules(cities_needed=1),
    "tiebreak supports": Rules(tiebreak="supports"),
    "set_bonus 0": Rules(set_bonus=0),
    "set_bonus -4": Rules(set_bonus=-4),
    "majority_values 8 1 0 20": Rules(majority_values=(8, 1, 0, 20)),
    "removed 0": Rules(removed=0, opening_row=5),
    "opening_row 0": Rules(removed=5, opening_row=0),
    "rounds 1": Rules(rounds=1, removed=33),
    "rounds 2": Rules(rounds=2, removed=23),
    "hand_size 1": Rules(hand_size=1, rounds=1, opening_row=8, removed=35),
    "hand_size 3": Rules(hand_size=3, rounds=7, take_size=3, opening_row=3, removed=0),
    "hand_size 10": Rules(hand_size=10, rounds=2),
    "no cities": Rules(copies=(5, 6, 7, 8, 4, 2, 1, 3, 4, 2, 0), removed=0),
    "other copies": Rules(copies=(9, 9, 9, 0, 0, 1, 1, 1, 6, 4, 5)),
}
"""Variants of the rules by name, each a playable game."""

OPPONENTS = ("uniform", "greedy")

MOST_PAIRS = 4  # at a time: after a fault, the rest of them is still played

_NO_BOT = re.compile(r"ImportError: .* (does not bind|binds) `bot`")


class Candidate(NamedTuple):
    """The bot that is checked, its limits and seed; `beat` is called while the bot is awaited.

    `folder` holds the files of its processes.
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
    """Plays pairs of games; `actions` holds the actions of every game so far, as text.

    The two games of a pair are played by different processes of the bot, as in a run; with `mixed`,
    one process plays all games. `environment` is added to the environment of the processes.
    """

    def __init__(
        self,
        candidate: Candidate,
        lane: str | None = None,
        rules: Rules = STANDARD,
        opponents: Sequence[str] = OPPONENTS,
        environment: Mapping[str, str] | None = None,
        *,
        mixed: bool = False,
    ) -> None:
        entry = replace(candidate.entry, lane=lane or candidate.entry.lane)
        self.candidate = candidate
        self.rules = rules
        self.opponents = opponents
        entries = [entry, *(resolve(name) for name in opponents)]
        self.tournament = Tournament("check", candidate.seed, 1, entries, rules, candidate.limits)
        self.actions: dict[Fixture, str] = {}
        self.timing = Timing()
        self.bots: list[BotProcess] = []
        self.growths: list[Growth] = []
        self._stack = ExitStack()
        self._workers = [self._worker(entry, environment) for _ in range(1 if mixed else 2)]

    def _worker(self, entry: Entry, environment: Mapping[str, str] | None) -> Worker:
        """Return a worker, which starts a process of the bot."""
        candidate, folder = self.candidate, self.candidate.make_folder()
        worker = Worker(self.tournament, folder, reporter=_Beats(candidate.beat))
        self._stack.callback(worker.close)
        process = self._stack.enter_context(
            bot_process(
                entry, self.rules, candidate.limits, folder, candidate.beat, environment=environment
            )
        )
        worker.processes |= dict.fromkeys([(entry.label, 0), (entry.label, 1)], process)
        self.bots.append(process)
        self.growths.append(Growth())
        return worker

    def play(self, opponent: int, pairs: int = 1) -> list[GameResult]:
        """Play the next pairs against an opponent; raise Guilty for the bot's first fault."""
        pairing = self.tournament.pairings[opponent]
        first = len([fixture for fixture in self.actions if fixture.pairing == pairing]) // 2
        return [
            result
            for seat in (0, 1)
            for result in self._play(Chunk(opponent, first, pairs, seats=(seat,)))
        ]

    def play_series(self, games: int) -> None:
        """Play this many games, rounded up to whole pairs against each opponent."""
        while len(self.actions) < games:
            missing = -(-(games - len(self.actions)) // (2 * len(self.opponents)))
            size = min(missing, MOST_PAIRS) if self.actions else 1
            for opponent in range(len(self.opponents)):
                self.play(opponent, size)

    def play_fixture(self, fixture: Fixture) -> str:
        """Play one game, and return its actions; raise Guilty for a fault of the bot."""
        opponent = self.tournament.pairings.index(fixture.pairing)
        self._play(Chunk(opponent, fixture.pair, 1, seats=(fixture.seat,)))
        return self.actions[fixture]

    def _play(self, chunk: Chunk) -> list[GameResult]:
        """Play the games of a chunk, in which the bot has one seat."""
        self.candidate.beat()
        pairing = self.tournament.pairings[chunk.pairing]
        (seat,) = chunk.seats
        number = seat % len(self._workers)
        played = self._workers[number].play(chunk)
        bot = self.bots[number]
        self.growths[number].add(bot.pid, len(played.results), bot.held())
        self.timing.merge(played.timings[pairing.bot])
        for result in played.results:
            self.actions[Fixture(pairing, *result[:2])] = result.actions
        for result in played.forfeits:
            fixture = Fixture(pairing, *result[:2])
            raise Guilty(fixture, result, self.command(fixture))
        return played.results

    def command(self, fixture: Fixture) -> str:
        """Return the command that plays a game again."""
        return replay_commands(self.tournament)(fixture)

    def close(self) -> None:
        """Kill the bot's processes."""
        self._stack.close()


def find_parting(first: str, second: str) -> int:
    """Return the first ply at which two games differ.

    >>> find_parting("56T", "57T"), find_parting("56", "567")
    (1, 2)
    """
    plies = range(min(len(first), len(second)))
    return next((ply for ply in plies if first[ply] != second[ply]), len(plies))


def check_loading(candidate: Candidate) -> list[Item]:
    """Return the first three items, up to the first that fails."""
    entry, limits, folder = candidate.entry, candidate.limits, candidate.make_folder()
    start = time.perf_counter()
    with bot_process(entry, STANDARD, limits, folder, candidate.beat, check=True) as process:
        try:
            process.start()
        except Forfeit as forfeit:
            return _refuse(forfeit, entry.target)
        seconds = time.perf_counter() - start
    imports = Item("imports", "ok", f"ready in {seconds:.2f} s", figures={"seconds": seconds})
    if entry.command:
        message = "does not apply to a command"
        return [imports, Item("binds bot", "none", message), Item("parameters", "none", message)]
    written = ", ".join(f"{name}={value!r}" for name, value in entry.params.items())
    params = Item("parameters", "ok", f"takes {written}" if written else "needs none")
    return [imports, Item("binds bot", "ok", "to something that can be called"), params]


def _refuse(forfeit: Forfeit, target: str) -> list[Item]:
    imports = Item("imports", "ok", "")
    kind, message = forfeit.fault[:2]
    if kind == "params":
        return [imports, Item("binds bot", "ok", ""), Item("parameters", "fail", message, "params")]
    if _NO_BOT.match(message):
        return [imports, Item("binds bot", "fail", message, "import")]
    advice = explain_missing(target, message)
    return [fail("imports", forfeit.fault._replace(message=message + advice))]


NAME = "rating"
_REACH = 400.0  # Elo points: beyond, more than 91 % of the points go to one of the two
_NEAREST = 5  # anchors: with five, the deviation of one pairing counts little


class Climb:
    """A bot's pairs against the anchors (bots of known Elo), evenly over those in reach.

    `elos` are the anchors' ratings. `meet` plays a pair against the anchor with this number and
    returns the bot's score in it, from 0 to 2. `scores` has these scores for each anchor.
    """

    def __init__(self, elos: Mapping[str, float], meet: Callable[[int], float]) -> None:
        self.elos = elos
        self.meet = meet
        self.scores: list[list[float]] = [[] for _ in elos]

    def play(self, pairs: int) -> None:
        """Play pairs, each against one of the anchors in reach with the fewest pairs so far."""
        while pairs > 0:
            reach = self.in_reach()
            fewest = min(len(self.scores[anchor]) for anchor in reach)
            behind = [anchor for anchor in reach if len(self.scores[anchor]) == fewest]
            for anchor in behind[:pairs]:
                self.scores[anchor].append(self.meet(anchor))
            pairs -= len(behind)

    def in_reach(self) -> list[int]:
        """Return the nearest anchors, without those far stronger or far weaker than the bot.

        If no anchor is left, returns all of the nearest.
        """
        rating = self.rating().value
        far = [abs(elo - rating) for elo in self.elos.values()]
        near = sorted(range(len(far)), key=far.__getitem__)[:_NEAREST]
        return [anchor for anchor in near if far[anchor] < _REACH] or near

    def rating(self) -> Estimate:
        """Return the bot's rating; the ratings of the anchors are fixed."""
        from arena.statistics.ratings import PairScores, fit_one  # numpy takes 0.1 s

        sums = [
            PairScores(len(self.elos), anchor, len(own), sum(own), sum(score**2 for score in own))
            for anchor, own in enumerate(self.scores)
        ]
        return fit_one([*self.elos.values()], sums)

    def to_item(self) -> Item:
        """Return the item about the rating."""
        from arena.statistics.wording import write_estimate

        rating = self.rating()
        elo, low, high, _ = rating
        games = 2 * sum(map(len, self.scores))
        won = sum(map(sum, self.scores))
        by_anchor = {
            name: {"games": 2 * len(own), "score": sum(own)}
            for name, own in zip(self.elos, self.scores, strict=True)
        }
        figures = {"elo": elo, "low": low, "high": high, "games": games, "against": by_anchor}
        if won == games:
            message = f"{write_estimate(rating._replace(high=inf))}: won all of {games} games"
        elif won == 0:
            message = f"{write_estimate(rating._replace(low=-inf))}: won none of {games} games"
        else:
            message = f"about {write_estimate(rating, level=True)}, {place(elo)}"
            message += f": a first guess from {games} games"
        return Item(NAME, "ok", message, figures=figures)


def guess_rating(candidate: Candidate, games: int) -> Item:
    """Play games against the ladder, without the bot itself if it is on it, and rate the bot."""
    elos = {name: elo for name, elo in ELO.items() if name != candidate.entry.spec}
    sparring = Sparring(candidate, opponents=[*elos])

    def meet(anchor: int) -> float:
        return sum(game.score for game in sparring.play(anchor))

    climb = Climb(elos, meet)
    try:
        climb.play(-(-games // 2))
    except Guilty as guilty:
        where = f"at ply {guilty.ply} against {guilty.fixture.pairing.opponent}"
        return fail(NAME, guilty.fault, where, guilty.command)
    finally:
        sparring.close()
    return climb.to_item()
