"""Play chunks of a tournament's games, and manage the processes of their bots.

A game that a fault ended is replayed, each bot in a new process of its own. A fault that recurs
counts, and the second game is stored. A fault that does not recur came from the state that earlier
games had left in the process, or from the machine; the second game then replaces the first. But a
replay is not a second chance: the second game is used only if the bot made the same moves up to the
fault. Otherwise the first fault stands, marked as unsteady.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Final

from arena.entries.layout import renew_all
from arena.errors import Unreachable
from arena.executors.log import Reporter, log_fault, logger
from arena.lanes.evidence import Output
from arena.lanes.faults import KINDS, Forfeit, one_line
from arena.lanes.limits import Budget
from arena.lanes.process import BotProcess, bot_process
from arena.processes import adopt_orphans
from arena.tournament.keys import Venue
from arena.tournament.match import (
    Asking,
    Finished,
    GameResult,
    Player,
    WallClock,
    play_asking,
    play_together,
    play_untimed,
    result_of,
)
from arena.tournament.plan import Chunk, Played
from arena.tournament.players import InprocPlayer, RemotePlayer
from arena.tournament.schedule import Fixture
from arena.tournament.timing import Pace, Timing
from arena.tournament.tournament import Tournament
from engine import Action
from engine.play import Draw, setup
from engine.state import Seat, State

_AGAIN = -1  # the part of replayed games

UNSTEADY: Final = "unsteady: "
"""Prefix of the message of a fault that did not recur because the bot made other moves."""
_RENEW_EVERY = 0.3  # seconds; a look at the files of 120 bots takes 12 ms
_MOST_GAMES = 4  # replays of one game, as a fault of one bot may follow one of the other


def play_here(venue: Venue) -> None:  # noqa: ARG001 (nothing of a venue changes a process yet)
    """Make this process, which is the arena's own, one that plays: what bots leave is its child."""
    adopt_orphans()


class Worker:
    """Plays chunks of a tournament; `folder` holds the files of its bots.

    `output` collects what bots in this process print. `processes` are those of the bots, by label
    and part: no process of a bot plays two games on the same deal.
    """

    def __init__(
        self,
        tournament: Tournament,
        folder: Path,
        output: Output | None = None,
        reporter: Reporter | None = None,
    ) -> None:
        self.tournament = tournament
        self.folder = folder
        self.output = output or Output()
        self.reporter = reporter or Reporter()
        self.processes: dict[tuple[str, int], BotProcess] = {}
        self.timings: defaultdict[str, Timing] = defaultdict(Timing)  # of a chunk
        self.told: set[str] = set()  # bots whose first fault has been reported
        self.budgets = {label: tournament.limits.budget() for label in tournament.labels}
        programs = {entry.label for entry in tournament.entries if entry.command}
        plies = tournament.rules.game_plies
        self.pace = Pace(tournament.labels, programs, tournament.limits, plies)
        self.single: set[str] = set()  # bots whose games are played one by one
        self._draws: dict[int, Draw] = {}  # by number of the pair
        self._stack = ExitStack()
        self._renewed = 0.0
        self._repeats = False

    def play(self, chunk: Chunk) -> Played:
        """Play a chunk's games, or answer its question about recorded games."""
        start = time.perf_counter()
        if chunk.question:
            from arena.executors.judge_chunk import judge_chunk

            return judge_chunk(chunk, self.tournament, self.reporter)
        if chunk.again and not self._repeats:
            self._repeats = True
            self._end_bots()
        pairing = self.tournament.pairings[chunk.pairing]
        self.timings = defaultdict(Timing)
        self._draws.clear()
        results: list[GameResult] = []
        try:
            for seat in chunk.seats:
                results += self._play_half(chunk._replace(seats=(seat,)))
        except Unreachable as error:  # the games stay unplayed
            return Played(chunk, [], {}, time.perf_counter() - start, refusal=str(error))
        results.sort(key=lambda result: result[:2])
        self.pace.learn(self.timings)
        self._renew_files()
        played = Played(chunk, results, self.timings, time.perf_counter() - start)
        for result in played.forfeits:
            log_fault(Fixture(pairing, *result[:2]), result)
        return played

    def _play_half(self, chunk: Chunk) -> Iterator[GameResult]:
        """Yield the results of a chunk in which the pairing's first bot has one seat."""
        pairing = self.tournament.pairings[chunk.pairing]
        (seat,) = chunk.seats
        part = self.tournament.part(pairing, seat)
        first, end = chunk.first, chunk.first + chunk.pairs
        while first < end:
            remote = [label for label in pairing if not self.is_local(label, chunk)]
            most = self._games_at_once(chunk, remote, part) if remote else 1
            pairs = range(first, min(first + most, end))
            self.reporter.playing(chunk.pairing, first, len(pairs))
            fixtures = [Fixture(pairing, pair, seat) for pair in pairs]
            ends = self._play_fixtures(chunk, fixtures, remote, part)
            yield from map(result_of, ends, pairs, repeat(seat))
            for label in remote:
                self.process(label, part).count_games(len(pairs))
            self.reporter.played()
            first = pairs.stop

    def close(self) -> None:
        """Kill the bots' processes, and forget their files: `renew_all` would make them again."""
        self._end_bots()
        renew_all()

    def _end_bots(self) -> None:
        self._stack.close()
        self.processes.clear()

    def _renew_files(self) -> None:
        """Lay the files of all bots out again that a bot has changed, after chunks of some time."""
        if time.perf_counter() - self._renewed > _RENEW_EVERY:
            renew_all()
            self._renewed = time.perf_counter()

    def is_local(self, label: str, chunk: Chunk) -> bool:
        """Return whether a bot plays in this process."""
        entry = self.tournament.by_label[label]
        is_apart = chunk.apart or (chunk.again and not entry.is_ours)
        return (entry.lane == "inproc" and not is_apart) or entry.is_held

    def _games_at_once(self, chunk: Chunk, remote: Sequence[str], part: int) -> int:
        """Return how many games of a chunk are played at once, with these bots in processes."""
        for label in remote:
            self.process(label, part).prepare()
        if chunk.apart or self.single & {*remote}:
            return 1
        return min(self._most_games(label, part) for label in remote)

    def _most_games(self, label: str, part: int) -> int:
        """Return about how many games one message to a bot's process may cover."""
        process = self.process(label, part)
        with suppress(Forfeit):  # the game itself will report it
            process.start()
        return self.pace.most_games(label, min(process.games, process.room.games))

    def _play_fixtures(
        self, chunk: Chunk, fixtures: list[Fixture], remote: Sequence[str], part: int
    ) -> list[Finished]:
        """Play games concurrently, or one by one if no bot is in another process."""
        games = [OneGame(self, chunk, one, self._draw(one), part) for one in fixtures]
        if games[0].fixture[1:] in chunk.verdicts:
            return [game.carry_out() for game in games]
        if remote or not self.pace.needs_no_clock(fixtures[0].labels):
            ends = play_together([game.asking(slot) for slot, game in enumerate(games)])
            if None in ends:  # a process has failed, or an answer may have been late
                self.single |= {*fixtures[0].labels}
        else:
            ends = [*map(self._play_untimed, games)]
        return [
            self._told(game.fixture, decide(game, end))
            for game, end in zip(games, ends, strict=True)
        ]

    def _draw(self, fixture: Fixture) -> Draw:
        """Return the deal and the luck of a game; cached, as a draw (8 us) serves both games."""
        if fixture.pair not in self._draws:
            self._draws[fixture.pair] = self.tournament.draw(fixture)
        return self._draws[fixture.pair]

    def _play_untimed(self, game: OneGame) -> Finished:
        """Play a game with two clock readings in all, instead of four for each decision.

        If it took long, it is replayed with a clock for each decision, and the next games of its
        bots are timed in this way, too. If the moves in the replay differ, the first game stands.
        """
        self.reporter.beat()
        labels = game.fixture.labels
        entries = [self.tournament.by_label[label] for label in labels]
        clock = WallClock.like(self.tournament.limits.clock())
        begun = time.process_time() if self.pace.weighs(labels) else 0.0  # 1 us
        finished, in_time = play_untimed(game.begin(), entries, game.draw, clock)
        if begun and not finished.fault:
            seconds = time.process_time() - begun
            for label in labels:
                self.timings[label].games.add(seconds / len(finished.state.history))
        self.output.take()
        self.output.stay()
        if in_time or finished.fault:
            return finished
        self.pace.watch(labels)
        (timed,) = play_together([game.asking()])
        assert timed is not None
        is_same = finished.state.history.startswith(timed.state.history)
        return timed if is_same else finished

    def _told(self, fixture: Fixture, finished: Finished) -> Finished:
        """Return the end of a game, after reporting it if it is the first fault of its bot."""
        if finished.fault and (label := fixture.labels[finished.guilty or 0]) not in self.told:
            self.told.add(label)
            self.reporter.failed(result_of(finished, *fixture[1:]))
        return finished

    def inproc_player(self, fixture: Fixture, draw: Draw, seat: Seat) -> InprocPlayer:
        """Return the player of a bot in this process."""
        label, cup = fixture.labels[seat], self.tournament
        begun = setup(draw.lucks[seat], seat, cup.rules, cup.limits.clock())
        of_bot = self.timings[label], self.output, self.budgets[label]
        return InprocPlayer(cup.by_label[label], begun, self.reporter.beat, *of_bot)

    def process(self, label: str, part: int) -> BotProcess:
        """Return the process of a bot for one part of the games; its first question starts it."""
        if (label, part) not in self.processes:
            entry = self.tournament.by_label[label]
            if entry.lane == "inproc":  # this game is played apart
                entry = replace(entry, lane="process")
            folder = self.folder / f"bot-{len(self.processes)}"
            folder.mkdir(parents=True, exist_ok=True)
            rules, limits = self.tournament.rules, self.tournament.limits
            beat, budget = self.reporter.beat, self.budgets[label]
            started = bot_process(entry, rules, limits, folder, beat, budget=budget)
            self.processes[label, part] = self._stack.enter_context(started)
        return self.processes[label, part]


@dataclass
class OneGame:
    """A game of a chunk, which can be played again; `part` is that of its bots' processes."""

    worker: Worker
    chunk: Chunk
    fixture: Fixture
    draw: Draw
    part: int

    def asking(self, slot: int = 0) -> Asking[Finished]:
        """Return the generator that plays this game, as number `slot` of the concurrent games."""
        return play_asking(self.begin(), [self.player(seat, slot) for seat in (0, 1)])

    def begin(self) -> State:
        """Return the state at the beginning of the game."""
        return State(self.draw.deal, self.worker.tournament.rules)

    def again(self, guilty: Seat | None) -> Finished:
        """Return its end when replayed separately in new processes: no bot remembers the first try.

        The process in which the guilty bot failed is not used any more.
        """
        worker, chunk = self.worker, self.chunk._replace(apart=True)
        labels = [label for label in self.fixture.labels if not worker.is_local(label, chunk)]
        if guilty is not None and (label := self.fixture.labels[guilty]) in labels:
            worker.process(label, self.part).kill()
        processes = [worker.process(label, _AGAIN) for label in labels]
        for process in processes:  # they start concurrently
            process.budget = Budget(process.budget.seconds)
            process.prepare()
        alone = OneGame(worker, chunk, self.fixture, self.draw, _AGAIN)
        (finished,) = play_together([alone.asking()])
        for process in processes:
            process.kill()
        assert finished is not None
        return finished

    def carry_out(self) -> Finished:
        """Return the end of a game that kills its workers, by the verdict on its bot."""
        verdict = self.chunk.verdicts[self.fixture[1:]]
        state = self.begin()
        state.follow(verdict.history)
        return Finished(state, verdict.fault, verdict.guilty)

    def player(self, seat: Seat, slot: int) -> Player:
        """Return the player of a seat, in its own process or in this one."""
        worker, label = self.worker, self.fixture.labels[seat]
        if worker.is_local(label, self.chunk):
            return worker.inproc_player(self.fixture, self.draw, seat)
        process, luck = worker.process(label, self.part), self.draw.lucks[seat]
        clock, timing = worker.tournament.limits.clock(), worker.timings[label]
        player = RemotePlayer(process, slot, seat, luck, clock, timing, label=label)
        if self.chunk.apart:
            player.asking = partial(worker.reporter.asking, *self.fixture[1:], seat)
        return player


def decide(game: OneGame, end: Finished | None) -> Finished:
    """Return the end of a game that counts; None as `end` means that it is still to be played.

    A fault `idle` is final, as it is about the bot's idle time in the whole run: no replay.
    """
    end = end or game.again(None)
    for _ in range(_MOST_GAMES):
        if end.fault is None or KINDS[end.fault.kind].is_final:
            return end
        second = game.again(end.guilty)
        if second.guilty == end.guilty:
            return second
        if not _same_moves(game, end, second):
            message = one_line(UNSTEADY + end.fault.message)
            return end._replace(fault=end.fault._replace(message=message))
        label = game.fixture.labels[end.guilty or 0]
        logger.info("%s: a fault did not come back: %s", label, end.fault.message)
        end = second
    return end


def _same_moves(game: OneGame, first: Finished, second: Finished) -> bool:
    """Return whether the guilty bot of the first game made the same moves in both, up to its end.

    Raises nothing: both games are legal.
    """
    seat = first.guilty or 0
    moves = _moves(game, first, seat)
    return moves == _moves(game, second, seat)[: len(moves)]


def _moves(game: OneGame, end: Finished, seat: Seat) -> list[Action]:
    state, moves = game.begin(), []
    for action in end.state.history:
        if state.to_act == seat:
            moves.append(action)
        state.apply(action)
    return moves
