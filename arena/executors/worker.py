"""Play chunks of a tournament's games, and hold the processes of their bots."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from arena.executors.doubts import Doubts
from arena.executors.log import Reporter, log_fault
from arena.games.match import (
    Asking,
    Finished,
    GameResult,
    Inline,
    Player,
    WallClock,
    play_asking,
    play_local,
    play_together,
    play_untimed,
    result_of,
)
from arena.games.players import InprocPlayer, RemotePlayer
from arena.games.swap import begin
from arena.games.timing import Pace, Timing
from arena.lanes.evidence import Output
from arena.lanes.faults import KINDS, Forfeit
from arena.lanes.process import BotProcess, bot_process
from arena.tournament.plan import Chunk, Played
from arena.tournament.schedule import Fixture
from arena.tournament.tournament import Tournament
from engine.play import Draw, setup
from engine.state import Seat, State


class Worker:
    """Plays chunks of a tournament; `folder` is for the files of its bots.

    `output` holds what bots in this process print. `processes` are those of the bots, by label
    and part: no process of a bot plays two games of a deal.
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
        self.timings: dict[str, Timing] = {}
        self.told: set[str] = set()  # bots whose first fault has been reported
        self.budgets = {label: tournament.limits.budget() for label in tournament.labels}
        programs = {entry.label for entry in tournament.entries if entry.command}
        plies = tournament.rules.game_plies
        self.pace = Pace(tournament.labels, programs, tournament.limits, plies)
        self.doubts = Doubts()
        self._draws: dict[int, Draw] = {}  # by pair of the chunk
        self._stack = ExitStack()

    def play(self, chunk: Chunk) -> Played:
        """Play a chunk's games, or answer its question about recorded ones."""
        start = time.perf_counter()
        if chunk.question:
            from arena.executors.judge_chunk import judge_chunk

            return judge_chunk(chunk, self.tournament, self.reporter)
        pairing = self.tournament.pairings[chunk.pairing]
        self.timings = {label: Timing() for label in pairing}
        self._draws.clear()
        results: list[GameResult] = []
        for seat in chunk.seats:
            results += self._play_half(chunk._replace(seats=(seat,)))
        results.sort(key=lambda result: result[:2])
        self.pace.learn(self.timings)
        played = Played(chunk, results, self.timings, time.perf_counter() - start)
        for result in played.forfeits:
            log_fault(Fixture(pairing, *result[:2]), result)
        return played

    def _play_half(self, chunk: Chunk) -> Iterator[GameResult]:
        """Yield the results of a chunk in which the pairing's first bot has one seat."""
        pairing = self.tournament.pairings[chunk.pairing]
        (seat,) = chunk.seats
        end = chunk.first + chunk.pairs
        together = self._games_at_once(chunk)
        for first in range(chunk.first, end, together):
            pairs = range(first, min(first + together, end))
            self.reporter.playing(first, len(pairs))
            fixtures = [Fixture(pairing, pair, seat) for pair in pairs]
            yield from map(_result, self._play_fixtures(chunk, fixtures), fixtures)
            self.reporter.played()

    def close(self) -> None:
        """Kill the bots' processes."""
        self._stack.close()

    def is_local(self, label: str, chunk: Chunk) -> bool:
        """Return whether a bot plays in this process."""
        return self.tournament.by_label[label].lane == "inproc" and not chunk.apart

    def _games_at_once(self, chunk: Chunk) -> int:
        """Return how many games of a chunk are in play together."""
        pairing = self.tournament.pairings[chunk.pairing]
        remote = [label for label in pairing if not self.is_local(label, chunk)]
        if not remote or chunk.apart or self.doubts.unsteady & {*remote}:
            return 1
        part = self.tournament.part(pairing, *chunk.seats)
        return min(self._most_games(label, part) for label in remote)

    def _most_games(self, label: str, part: int) -> int:
        """Return about how many games a bot's process can be asked about at once."""
        process = self.process(label, part)
        with suppress(Forfeit):  # the game itself will find it
            process.start()
        return self.pace.most_games(label, process.games)

    def _play_fixtures(self, chunk: Chunk, fixtures: list[Fixture]) -> list[Finished]:
        """Play games side by side, or one by one if both bots are in this process."""
        games = [(game, self._draw(game)) for game in fixtures]
        if all(self.is_local(label, chunk) for label in fixtures[0].labels):
            return [self._told(game[0], self._play_local(chunk, *game)) for game in games]
        return self._play_batch(chunk, games)

    def _draw(self, fixture: Fixture) -> Draw:
        """Return the deal and the luck of a game: a draw takes 8 us, and serves both of a pair."""
        if fixture.pair not in self._draws:
            self._draws[fixture.pair] = self.tournament.draw(fixture)
        return self._draws[fixture.pair]

    def state(self, chunk: Chunk, fixture: Fixture, draw: Draw) -> State:
        """Return a game at its beginning."""
        return begin(draw.deal, self.tournament.rules, chunk.swaps.get(fixture[1:]))

    def _play_local(self, chunk: Chunk, fixture: Fixture, draw: Draw) -> Finished:
        """Play a game between two bots in this process."""
        if all(self.pace.needs_no_clock(label, fixture.pair) for label in fixture.labels):
            finished = self._play_untimed(self.state(chunk, fixture, draw), fixture, draw)
            if finished is not None:
                return finished
        players = [self.inproc_player(fixture, draw, seat) for seat in (0, 1)]
        return play_local(self.state(chunk, fixture, draw), players)

    def _play_untimed(self, state: State, fixture: Fixture, draw: Draw) -> Finished | None:
        """Play a game with two readings of the wall clock instead of four for each decision.

        Return None if anything went wrong: the game is then played again with all checks.
        """
        self.reporter.beat()
        entries = [self.tournament.by_label[label] for label in fixture.labels]
        clock = WallClock.like(self.tournament.limits.clock())
        in_time = play_untimed(state, entries, draw, clock)
        return Finished(state) if in_time and not self.output.kept else None

    def _play_batch(self, chunk: Chunk, draws: list[tuple[Fixture, Draw]]) -> list[Finished]:
        """Play games side by side, and again one by one those that this leaves undecided."""
        games = [OneGame(self, chunk, *one) for one in draws]
        if len(games) == 1 and games[0].fixture[1:] in chunk.verdicts:
            return [games[0].carry_out()]
        finished = play_together([game.asking(slot) for slot, game in enumerate(games)])
        if None in finished and not any(process.pid is None for process in games[0].processes()):
            self.doubts.unsteady |= {*games[0].fixture.pairing}  # an answer may have been late
        marked = [
            end and self.doubts.mark(game, end)  # before a process is started again
            for game, end in zip(games, finished, strict=True)
        ]
        return [
            self._told(game.fixture, self.doubts.decide(game, end, together=len(games) > 1))
            for game, end in zip(games, marked, strict=True)
        ]

    def _told(self, fixture: Fixture, finished: Finished) -> Finished:
        """Return the end of a game; the first fault of each bot is reported at once."""
        if finished.fault and (label := fixture.labels[finished.guilty or 0]) not in self.told:
            self.told.add(label)
            self.reporter.failed(_result(finished, fixture))
        return finished

    def inproc_player(self, fixture: Fixture, draw: Draw, seat: Seat) -> InprocPlayer:
        """Return the player of a bot in this process."""
        label = fixture.labels[seat]
        return InprocPlayer(
            self.tournament.by_label[label],
            setup(draw.lucks[seat], seat, self.tournament.rules, self.tournament.limits.clock()),
            self.reporter.beat,
            self.timings[label],
            self.output,
            self.budgets[label],
        )

    def part(self, fixture: Fixture) -> int:
        """Return the part of a bot's games that a game belongs to: each has its own process."""
        return self.tournament.part(fixture.pairing, fixture.seat)

    def process(self, label: str, part: int) -> BotProcess:
        """Return the process of a bot for one part of the games; it starts when first asked."""
        if (label, part) not in self.processes:
            entry = self.tournament.by_label[label]
            if entry.lane == "inproc":  # its game is played apart
                entry = replace(entry, lane="process")
            folder = self.folder / f"bot-{len(self.processes)}"
            folder.mkdir(parents=True, exist_ok=True)
            rules, limits = self.tournament.rules, self.tournament.limits
            wait = partial(self._wait_for, (label, part))
            started = bot_process(entry, rules, limits, folder, wait, budget=self.budgets[label])
            self.processes[label, part] = self._stack.enter_context(started)
        return self.processes[label, part]

    def _wait_for(self, asked: tuple[str, int]) -> None:
        """Stop the processes of all bots but the one that has been thinking for a while."""
        self.reporter.beat()
        for key, process in self.processes.items():
            if key != asked:
                process.pause()


class OneGame:
    """A game of a chunk with a bot in a process of its own, which can be played again."""

    def __init__(self, worker: Worker, chunk: Chunk, fixture: Fixture, draw: Draw) -> None:
        self.worker = worker
        self.chunk = chunk
        self.fixture = fixture
        self.draw = draw

    def asking(self, slot: int | None = None) -> Asking[Finished]:
        """Return the game with this number among those that are played side by side, if it is."""
        return play_asking(self.begin(), [self.player(seat, slot) for seat in (0, 1)])

    def begin(self) -> State:
        """Return the game at its beginning."""
        return self.worker.state(self.chunk, self.fixture, self.draw)

    def processes(self) -> list[BotProcess]:
        """Return the processes, as far as there are, that play this half of the pairing's games."""
        found = [self._process_of(label) for label in self.fixture.pairing]
        return [process for process in found if process is not None]

    def again(self) -> Finished:
        """Return its end, played by itself in new processes: no bot remembers the first try.

        The processes of the others are stopped meanwhile where they could reach them.
        """
        for process in self.processes():
            process.kill()
        (finished,) = play_together([self.asking()])
        assert finished is not None
        return finished

    def alone(self, seat: Seat) -> Player:
        """Return a player in a new process, while no other bot has one."""
        worker = self.worker
        for process in worker.processes.values():
            process.kill()
        worker.reporter.end_others()
        worker.reporter.beat()
        return self.player(seat, slot=None)

    def is_mixed(self, end: Finished) -> bool:
        """Return whether the output of a fault may be that of other games in the process too.

        Only our own host tells the output of one game from that of another.
        """
        if end.fault is None or not end.fault.output:
            return False
        label = self.fixture.labels[end.guilty or 0]
        is_hosted = self.worker.tournament.by_label[label].command == ()
        is_told = is_hosted and KINDS[end.fault.kind].own_output
        return not is_told and not self.worker.is_local(label, self.chunk)

    def is_touched(self, end: Finished) -> bool:
        """Return whether the folder of an end's guilty bot has changed."""
        process = self._process_of(self.fixture.labels[end.guilty or 0])
        return process is not None and process.is_suspect

    def ask_for_quiet(self) -> None:
        """Have all other workers stand still, unless they do; raises where it is played later."""
        if not self.chunk.quiet:
            self.worker.reporter.disturbed(self.fixture.pair)

    def carry_out(self) -> Finished:
        """Return the end of a game that its workers did not survive."""
        verdict = self.chunk.verdicts[self.fixture[1:]]
        state = self.begin()
        state.follow(verdict.history)
        return Finished(state, verdict.fault, verdict.guilty)

    def player(self, seat: Seat, slot: int | None) -> Player:
        """Return the player of a seat, in its process or here."""
        worker, label = self.worker, self.fixture.labels[seat]
        if worker.is_local(label, self.chunk):
            return Inline(worker.inproc_player(self.fixture, self.draw, seat))
        player = RemotePlayer(
            worker.process(label, worker.part(self.fixture)),
            slot or 0,
            seat,
            self.draw.lucks[seat],
            worker.tournament.limits.clock(),
            worker.timings[label],
            narrow=worker.tournament.by_label[label].narrow,
            label=label,
        )
        if slot is None or self.chunk.apart:
            player.asking = partial(self._before_question, seat, player.process)
        return player

    def _before_question(self, seat: Seat, asked: BotProcess, history: bytes | None) -> None:
        """Stop all bots but the one that is asked next, and report the question."""
        for process in self.worker.processes.values():
            if process is not asked:
                process.pause()
        if self.chunk.apart:
            self.worker.reporter.asking(*self.fixture[1:], seat, history)

    def _process_of(self, label: str) -> BotProcess | None:
        return self.worker.processes.get((label, self.worker.part(self.fixture)))


def _result(finished: Finished, fixture: Fixture) -> GameResult:
    return result_of(finished, fixture.pair, fixture.seat)
