"""Play chunks of a tournament's games, and hold the processes of their bots."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from arena.executors.doubts import Doubts
from arena.executors.log import logger
from arena.executors.pace import Pace
from arena.executors.reporter import Reporter, log_fault
from arena.games.lonely import clear
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
from arena.games.timing import Timing
from arena.lanes.faults import KINDS, Ended, Forfeit
from arena.lanes.output import Output
from arena.lanes.process import BotProcess, bot_process
from arena.tournament.chunk import Chunk, Played
from arena.tournament.schedule import Fixture
from arena.tournament.tournament import Tournament
from engine.play import Draw, setup
from engine.state import Seat, State
from engine.strategy import Clock


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
        self.unsteady: set[str] = set()  # bots whose games are played one by one from now on
        self.told: set[str] = set()  # bots whose first fault has been reported
        self.budgets = {label: tournament.limits.budget() for label in tournament.labels}
        self.pace = Pace(tournament)
        self.doubts = Doubts()
        self._stack = ExitStack()

    def play(self, chunk: Chunk) -> Played:
        """Play a chunk's games."""
        start = time.perf_counter()
        pairing = self.tournament.pairings[chunk.pairing]
        self.timings = {label: Timing() for label in pairing}
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

    def _is_local(self, label: str, chunk: Chunk) -> bool:
        return self.tournament.by_label[label].lane == "inproc" and not chunk.apart

    def _games_at_once(self, chunk: Chunk) -> int:
        """Return how many games of a chunk are in play together."""
        pairing = self.tournament.pairings[chunk.pairing]
        remote = [label for label in pairing if not self._is_local(label, chunk)]
        if not remote or chunk.apart or self.unsteady & {*remote}:
            return 1
        part = self.tournament.part(pairing, *chunk.seats)
        return min(self._most_games(label, part) for label in remote)

    def _most_games(self, label: str, part: int) -> int:
        """Return about how many games a bot's process can be asked about at once."""
        process = self._process(label, part)
        with suppress(Forfeit):  # the game itself will find it
            process.start()
        return self.pace.most_games(label, process.games)

    def _play_fixtures(self, chunk: Chunk, fixtures: list[Fixture]) -> list[Finished]:
        """Play games side by side, or one by one if both bots are in this process."""
        tournament = self.tournament
        games = [(game, tournament.draw(game)) for game in fixtures]
        if all(self._is_local(label, chunk) for label in fixtures[0].labels):
            return [self._told(game[0], self._play_local(chunk, *game)) for game in games]
        return self._play_batch(chunk, games)

    def _state(self, chunk: Chunk, fixture: Fixture, draw: Draw) -> State:
        return begin(draw.deal, self.tournament.rules, chunk.swaps.get(fixture[1:]))

    def _play_local(self, chunk: Chunk, fixture: Fixture, draw: Draw) -> Finished:
        """Play a game between two bots in this process."""
        if all(self.pace.needs_no_clock(label, fixture.pair) for label in fixture.labels):
            finished = self._play_untimed(self._state(chunk, fixture, draw), fixture, draw)
            if finished is not None:
                return finished
        players = [self._inproc_player(fixture, draw, seat) for seat in (0, 1)]
        return play_local(self._state(chunk, fixture, draw), players)

    def _play_untimed(self, state: State, fixture: Fixture, draw: Draw) -> Finished | None:
        """Play a game with two readings of the wall clock instead of four for each decision.

        Return None if anything went wrong: the game is then played again with all checks.
        """
        self.reporter.beat()
        entries = [self.tournament.by_label[label] for label in fixture.labels]
        in_time = play_untimed(state, entries, draw, WallClock.like(self._clock()))
        return Finished(state) if in_time and not self.output.kept else None

    def _play_batch(self, chunk: Chunk, games: list[tuple[Fixture, Draw]]) -> list[Finished]:
        """Play games side by side, and again one by one those that this leaves undecided."""
        if len(games) == 1 and games[0][0][1:] in chunk.verdicts:
            return [self._carry_out(chunk, *games[0])]
        finished = play_together(
            [self._asking(chunk, *game, slot) for slot, game in enumerate(games)]
        )
        if None in finished and not self._has_failed(games[0][0]):
            self.unsteady |= {*games[0][0].pairing}  # an answer may have been late
        marked = [
            end and self._marked(fixture, end)  # before a process is started again
            for (fixture, _), end in zip(games, finished, strict=True)
        ]
        ends = []
        for game, end in zip(games, marked, strict=True):
            if len(games) > 1 and end is not None and self._is_mixed(chunk, game[0], end):
                end = self._tell_apart(chunk, *game, end)
            ends.append(self._told(game[0], self._play_alone(chunk, *game, before=end)))
        return ends

    def _told(self, fixture: Fixture, finished: Finished) -> Finished:
        """Return the end of a game; the first fault of each bot is reported at once."""
        if finished.fault and (label := fixture.labels[finished.guilty or 0]) not in self.told:
            self.told.add(label)
            self.reporter.failed(_result(finished, fixture))
        return finished

    def _tell_apart(self, chunk: Chunk, fixture: Fixture, draw: Draw, end: Finished) -> Finished:
        """Return the end of a game with a fault, with the output of this game alone."""
        assert end.fault is not None
        again = self._play_alone(chunk, fixture, draw, before=None)
        return again if again.fault else end._replace(fault=end.fault._replace(output=""))

    def _is_mixed(self, chunk: Chunk, fixture: Fixture, end: Finished) -> bool:
        """Return whether the output of a fault may be that of other games in the process too.

        Only our own host tells the output of one game from that of another.
        """
        if end.fault is None or not end.fault.output:
            return False
        label = fixture.labels[end.guilty or 0]
        is_hosted = self.tournament.by_label[label].command == ()
        is_told = is_hosted and KINDS[end.fault.kind].own_output
        return not is_told and not self._is_local(label, chunk)

    def _has_failed(self, fixture: Fixture) -> bool:
        """Return whether a process that plays this part of the pairing's games has ended."""
        part = self._part(fixture)
        used = [self.processes.get((label, part)) for label in fixture.pairing]
        return any(process is not None and process.pid is None for process in used)

    def _play_alone(
        self, chunk: Chunk, fixture: Fixture, draw: Draw, before: Finished | None
    ) -> Finished:
        """Return the end of a game, played again by itself where that is in doubt."""
        if before is not None and (before.ended is None or before.ended.how == "touched"):
            finished = before
        else:
            again = partial(self._again, chunk, fixture, draw)
            finished = self.doubts.settle(fixture, before, again)._replace(ended=None)
            finished = self._marked(fixture, finished)
            if finished.fault:
                self.unsteady.add(fixture.labels[finished.guilty or 0])
        if finished.ended and not chunk.quiet:
            self.reporter.disturbed(fixture.pair)
        begin = partial(State, draw.deal, self.tournament.rules)
        alone = partial(self._player_alone, chunk, fixture, draw)
        return clear(finished, begin, alone, partial(self._marked, fixture))

    def _marked(self, fixture: Fixture, end: Finished) -> Finished:
        """Return an end just seen, marked where the fault may be the work of another bot."""
        if end.fault is None or end.ended:
            return end
        label = fixture.labels[end.guilty or 0]
        process = self.processes.get((label, self._part(fixture)))
        if process is None or not process.is_suspect:
            return end
        logger.info("%s: the folder of %s has changed, it is played again", fixture.name, label)
        return end._replace(ended=Ended("touched"))

    def _player_alone(self, chunk: Chunk, fixture: Fixture, draw: Draw, seat: Seat) -> Player:
        """Return a player in a new process, while no other bot has one."""
        for process in self.processes.values():
            process.kill()
        self.reporter.end_others()
        self.reporter.beat()
        return self._player(chunk, fixture, draw, seat, slot=None)

    def _again(self, chunk: Chunk, fixture: Fixture, draw: Draw) -> Finished:
        """Return the end of a game by itself, in new processes: no bot remembers the first try.

        The processes of the others are stopped meanwhile where they could reach them.
        """
        self._end_processes(fixture)
        (finished,) = play_together([self._asking(chunk, fixture, draw)])
        assert finished is not None
        return finished

    def _end_processes(self, fixture: Fixture) -> None:
        """End the processes that play this part of the pairing's games."""
        for label in fixture.pairing:
            if process := self.processes.get((label, self._part(fixture))):
                process.kill()

    def _asking(
        self, chunk: Chunk, fixture: Fixture, draw: Draw, slot: int | None = None
    ) -> Asking[Finished]:
        """Return a game with this number among those that are played side by side, if it is."""
        players = [self._player(chunk, fixture, draw, seat, slot) for seat in (0, 1)]
        return play_asking(self._state(chunk, fixture, draw), players)

    def _player(
        self, chunk: Chunk, fixture: Fixture, draw: Draw, seat: Seat, slot: int | None
    ) -> Player:
        label = fixture.labels[seat]
        if self._is_local(label, chunk):
            return Inline(self._inproc_player(fixture, draw, seat))
        player = RemotePlayer(
            self._process(label, self._part(fixture)),
            slot or 0,
            seat,
            draw.lucks[seat],
            self._clock(),
            self.timings[label],
        )
        if slot is None or chunk.apart:
            player.asking = partial(self._before_question, chunk, fixture, seat, player.process)
        return player

    def _before_question(
        self,
        chunk: Chunk,
        fixture: Fixture,
        seat: Seat,
        asked: BotProcess,
        history: bytes | None,
    ) -> None:
        """Stop all bots but the one that is asked next, and report the question."""
        for process in self.processes.values():
            if process is not asked:
                process.pause()
        if chunk.apart:
            self.reporter.asking(*fixture[1:], seat, history)

    def _inproc_player(self, fixture: Fixture, draw: Draw, seat: Seat) -> InprocPlayer:
        label = fixture.labels[seat]
        return InprocPlayer(
            self.tournament.by_label[label],
            setup(draw.lucks[seat], seat, self.tournament.rules, self._clock()),
            self.reporter.beat,
            self.timings[label],
            self.output,
            self.budgets[label],
        )

    def _clock(self) -> Clock:
        return self.tournament.limits.clock()

    def _part(self, fixture: Fixture) -> int:
        return self.tournament.part(fixture.pairing, fixture.seat)

    def _process(self, label: str, part: int) -> BotProcess:
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

    def _carry_out(self, chunk: Chunk, fixture: Fixture, draw: Draw) -> Finished:
        """Return the end of a game that its workers did not survive."""
        verdict = chunk.verdicts[fixture[1:]]
        state = self._state(chunk, fixture, draw)
        state.follow(verdict.history)
        return Finished(state, verdict.fault, verdict.guilty)


def _result(finished: Finished, fixture: Fixture) -> GameResult:
    return result_of(finished, fixture.pair, fixture.seat)
