"""Play chunks of a tournament's games, and manage the processes of their bots.

A game that a fault ended is replayed, each bot in a new process of its own. A fault that recurs
counts, and the second game is stored. A fault that does not recur came from the state that earlier
games had left in the process, or from the machine; the second game then replaces the first. But a
replay is not a second chance: the second game is used only if the bot made the same moves up to the
fault. Otherwise the first fault stands, marked as unsteady.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena.entries.layout import renew_all
from arena.errors import Unreachable
from arena.executors.log import Reporter, log_fault, logger
from arena.lanes.evidence import Output
from arena.lanes.faults import KINDS, Forfeit, one_line
from arena.lanes.limits import Budget
from arena.processes import adopt_orphans
from arena.tournament.config_keys import Venue
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
from engine.play import Draw, setup
from engine.state import Seat, State

if TYPE_CHECKING:  # a run without processes starts 8 ms sooner
    from arena.lanes.process import BotProcess

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
        self._draws: dict[tuple[int, int], Draw] = {}  # by the numbers of pairing and pair
        self._stack = ExitStack()
        self._renewed = 0.0
        self._repeats = False

    def play_all(self, batch: Sequence[Chunk]) -> Iterator[Played]:
        """Yield the results of chunks; those of one game, of bots in processes, come together."""
        for are_single, chunks in groupby(batch, self._is_single):
            for some in [[*chunks]] if are_single else [[chunk] for chunk in chunks]:
                yield from self._play(some)

    def _is_single(self, chunk: Chunk) -> bool:
        entries = (self.tournament.by_label[label] for label in self.tournament.pairings[chunk[0]])
        is_plain = chunk.games == 1 and not (chunk.apart or chunk.again or chunk.question)
        return is_plain and all(entry.lane in ("process", "jail") for entry in entries)

    def play(self, chunk: Chunk) -> Played:
        """Play a chunk's games, or answer its question about recorded games."""
        (played,) = self._play([chunk])
        return played

    def _play(self, batch: Sequence[Chunk]) -> list[Played]:
        """Play the games of chunks, whose times are all with the last one."""
        start, first = time.perf_counter(), batch[0]
        if first.question:
            from arena.executors.judge_chunk import judge_chunk

            return [judge_chunk(first, self.tournament, self.reporter)]
        if first.again and not self._repeats:
            self._repeats = True
            self._end_bots()
        self.timings = defaultdict(Timing)
        self._draws.clear()
        waiting = deque(game for chunk in batch for game in self._games(chunk))
        results: dict[int, list[GameResult]] = {id(chunk): [] for chunk in batch}
        try:
            while waiting:
                for game, result in self._play_next(waiting):
                    results[id(game.chunk)].append(result)
        except Unreachable as error:  # the games stay unplayed
            return [Played(first, [], {}, time.perf_counter() - start, refusal=str(error))]
        self.pace.learn(self.timings)
        self._renew_files()
        seconds = (time.perf_counter() - start) / len(batch)
        played = [Played(chunk, sorted(results[id(chunk)]), {}, seconds) for chunk in batch]
        return [*played[:-1], played[-1]._replace(timings=self.timings)]

    def _games(self, chunk: Chunk) -> Iterator[OneGame]:
        """Yield the games of a chunk, half by half."""
        pairing = self.tournament.pairings[chunk.pairing]
        for seat in chunk.seats:
            processes = self.find_parts(pairing, chunk, self.tournament.part(pairing, seat))
            for pair in range(chunk.first, chunk.first + chunk.pairs):
                fixture = Fixture(pairing, pair, seat)
                yield OneGame(self, chunk, fixture, self._draw(chunk, fixture), processes)

    def _play_next(self, waiting: deque[OneGame]) -> list[tuple[OneGame, GameResult]]:
        """Play the next games that can be played together, and return them with their results."""
        games, others = [waiting.popleft()], list[OneGame]()
        most = self._games_at_once(games[0])
        while waiting and len(games) < most:
            game = waiting.popleft()
            fewer = min(most, self._games_at_once(game))
            if len(games) < fewer and game.fixture.seat == games[0].fixture.seat:
                games.append(game)
                most = fewer
            else:
                others.append(game)
        waiting.extendleft(reversed(others))
        of_first = [game for game in games if game.chunk is games[0].chunk]
        self.reporter.playing(games[0].chunk.pairing, games[0].fixture.pair, len(of_first))
        ends = self._play_together(games)
        if games[0].parts:
            counts = Counter(one for game in games for one in game.parts.items())
            for (label, part), count in counts.items():
                self.process(label, part).count_games(count)
        self.reporter.played()
        both = zip(games, ends, strict=True)
        return [(game, result_of(end, *game.fixture[1:])) for game, end in both]

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

    def find_parts(self, labels: Iterable[str], chunk: Chunk, part: int) -> dict[str, int]:
        """Return this part for each of the bots that does not play in this process."""
        return {label: part for label in labels if not self._is_local(label, chunk)}

    def _is_local(self, label: str, chunk: Chunk) -> bool:
        entry = self.tournament.by_label[label]
        is_apart = chunk.apart or (chunk.again and not entry.is_ours)
        return (entry.lane == "inproc" and not is_apart) or entry.is_held

    def _games_at_once(self, game: OneGame) -> int:
        """Return how many games may be played together with this one, which counts, too."""
        for label, part in game.parts.items():
            self.process(label, part).prepare()
        if game.chunk.apart or not game.parts or self.single & game.parts.keys():
            return 1
        most = []
        for label, part in game.parts.items():
            process = self.process(label, part)
            with suppress(Forfeit):  # the game itself will report it
                process.start()
            most.append(self.pace.most_games(label, min(process.games, process.room.games)))
        return min(most)

    def _play_together(self, games: list[OneGame]) -> list[Finished]:
        """Return the ends of games that are played concurrently."""
        first = games[0]
        if first.fixture[1:] in first.chunk.verdicts:
            return [self._told(game, game.carry_out()) for game in games]
        if not first.parts and self.pace.needs_no_clock(first.fixture.labels):
            ends: list[Finished | None] = [*map(self._play_untimed, games)]
        else:
            ends = play_together([game.asking(slot) for slot, game in enumerate(games)])
        decided = [
            self._told(game, decide(game, end)) for game, end in zip(games, ends, strict=True)
        ]
        if None in ends:  # a process has failed, or an answer may have been late
            guilty = {one.loser(end) for one, end in zip(games, decided, strict=True) if end.fault}
            doubted = [one.fixture.labels for one, end in zip(games, ends, strict=True) if not end]
            self.single |= guilty or {*chain.from_iterable(doubted)}
        return decided

    def _draw(self, chunk: Chunk, fixture: Fixture) -> Draw:
        """Return the deal and the luck of a game; cached, as a draw (8 us) serves both games."""
        place = chunk.pairing, fixture.pair
        if place not in self._draws:
            self._draws[place] = self.tournament.draw(fixture)
        return self._draws[place]

    def _play_untimed(self, game: OneGame) -> Finished:
        """Play a game with two clock readings in all, instead of four for each decision.

        If it took long, it is replayed with a clock for each decision, and the next games of its
        bots are timed in this way, too. If the moves in the replay differ, the first game stands.
        """
        self.reporter.beat()
        labels = game.fixture.labels
        entries = [self.tournament.by_label[label] for label in labels]
        clock = WallClock.like(self.tournament.limits.clock())
        finished, in_time = play_untimed(game.begin(), entries, game.draw, clock)
        self.output.take()
        self.output.stay()
        if in_time or finished.fault:
            return finished
        self.pace.watch(labels)
        (timed,) = play_together([game.asking()])
        assert timed is not None
        is_same = finished.state.history.startswith(timed.state.history)
        return timed if is_same else finished

    def _told(self, game: OneGame, end: Finished) -> Finished:
        """Return the end of a game, after logging a fault, and reporting the first of its bot."""
        if end.fault:
            result, label = result_of(end, *game.fixture[1:]), game.loser(end)
            log_fault(game.fixture, result)
            if label not in self.told:
                self.told.add(label)
                self.reporter.failed(game.chunk.pairing, result)
        return end

    def inproc_player(self, fixture: Fixture, draw: Draw, seat: Seat) -> InprocPlayer:
        """Return the player of a bot in this process."""
        label, cup = fixture.labels[seat], self.tournament
        begun = setup(draw.lucks[seat], seat, cup.rules, cup.limits.clock())
        of_bot = self.timings[label], self.output, self.budgets[label]
        return InprocPlayer(cup.by_label[label], begun, self.reporter.beat, *of_bot)

    def process(self, label: str, part: int) -> BotProcess:
        """Return the process of a bot for one part of the games; its first question starts it."""
        if (label, part) not in self.processes:
            from arena.lanes.process import bot_process

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
    """A game of a chunk, which can be played again; `parts` has each bot in another process."""

    worker: Worker
    chunk: Chunk
    fixture: Fixture
    draw: Draw
    parts: Mapping[str, int]

    def loser(self, end: Finished) -> str:
        """Return the label of the bot that a fault has ended the game for."""
        return self.fixture.labels[end.guilty or 0]

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
        worker, chunk, labels = self.worker, self.chunk._replace(apart=True), self.fixture.labels
        if guilty is not None and (label := labels[guilty]) in self.parts:
            worker.process(label, self.parts[label]).kill()
        parts = worker.find_parts(labels, chunk, _AGAIN)
        processes = [worker.process(*one) for one in parts.items()]
        for process in processes:  # they start concurrently
            process.budget = Budget(process.budget.seconds)
            process.prepare()
        alone = OneGame(worker, chunk, self.fixture, self.draw, parts)
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
        if label not in self.parts:
            return worker.inproc_player(self.fixture, self.draw, seat)
        process, luck = worker.process(label, self.parts[label]), self.draw.lucks[seat]
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
        if not _same_moves(end, second):
            message = one_line(UNSTEADY + end.fault.message)
            return end._replace(fault=end.fault._replace(message=message))
        logger.info("%s: a fault did not come back: %s", game.loser(end), end.fault.message)
        end = second
    return end


def _same_moves(first: Finished, second: Finished) -> bool:
    """Return whether the guilty bot of the first game made the same moves in both, to its end."""
    seat_at, seat = first.state.rules.seat_at, first.guilty or 0
    moves, again = (
        [action for ply, action in enumerate(end.state.history) if seat_at(ply) == seat]
        for end in (first, second)
    )
    return moves == again[: len(moves)]
