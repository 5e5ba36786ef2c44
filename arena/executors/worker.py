"""Worker: plays chunks of a tournament's games, and holds the processes of its bots."""

from __future__ import annotations

import time
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from arena.executors.log import logger
from arena.games.match import (
    Asking,
    Finished,
    GameResult,
    Inline,
    Player,
    play_asking,
    play_local,
    play_together,
    result_of,
)
from arena.games.players import InprocPlayer, RemotePlayer
from arena.games.timing import Timing
from arena.lanes.faults import Forfeit
from arena.lanes.output import Output
from arena.lanes.process import MOST_GAMES, BotProcess, bot_process
from arena.tournament.chunk import Chunk, Played
from arena.tournament.schedule import Fixture
from arena.tournament.tournament import Tournament
from engine.play import Draw, play, setup
from engine.state import Seat, State
from engine.strategy import Clock

_CHEAP = 100e-6  # seconds: a decision that takes less is timed in one pair of many only
_TIMED = 32  # every so many pairs, the decisions of cheap bots are timed
_KNOWN = 100  # decisions, before a bot is called cheap


class Reporter:
    """What a worker reports while it plays; this one reports nothing."""

    def beat(self) -> None:
        """The worker is alive."""

    def playing(self, first: int, pairs: int) -> None:
        """These pairs are played from now on."""

    def played(self) -> None:
        """The pairs have been played."""

    def asking(self, pair: int, seat: Seat, asked: Seat, history: bytes | None) -> None:
        """The bot in seat `asked` is asked, in a game that is played apart."""


class Worker:
    """Plays chunks of a tournament; `folder` is for the files of its bots.

    `output` holds what bots in this process print.
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
        self.processes: dict[str, BotProcess] = {}
        self.timings: dict[str, Timing] = {}
        self.unsteady: set[str] = set()  # bots whose games are played one by one from now on
        self._known = {label: Timing() for label in tournament.labels}
        self._stack = ExitStack()

    def play(self, chunk: Chunk) -> Played:
        """Play a chunk's games."""
        start = time.perf_counter()
        pairing = self.tournament.pairings[chunk.pairing]
        self.timings = {label: Timing() for label in pairing}
        end = chunk.first + chunk.pairs
        together = self._games_at_once(chunk)
        results: list[GameResult] = []
        step = max(1, together // 2)
        for first in range(chunk.first, end, step):
            pairs = min(step, end - first)
            self.reporter.playing(first, pairs)
            fixtures = [
                Fixture(pairing, first + number // 2, number % 2)
                for number in range(2 * pairs)
                if number % 2 in chunk.seats
            ]
            finished = self._play_fixtures(chunk, fixtures, together)
            results += map(_result, finished, fixtures)
            self.reporter.played()
        for label, timing in self.timings.items():
            self._known[label].merge(timing)
        played = Played(chunk, results, self.timings, time.perf_counter() - start)
        for result in played.forfeits:
            _log_fault(Fixture(pairing, *result[:2]), result)
        return played

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
        most = MOST_GAMES
        for label in remote:
            process = self._process(label)
            with suppress(Forfeit):  # the game itself will find it
                process.start()
            most = min(most, process.games)
        return most

    def _play_fixtures(
        self, chunk: Chunk, fixtures: list[Fixture], together: int
    ) -> list[Finished]:
        """Play games; the two of a pair have one draw."""
        tournament = self.tournament
        by_pair = {fixture.pair: fixture for fixture in fixtures}
        draws = {p: game.draw(tournament.seed, tournament.rules) for p, game in by_pair.items()}
        games = [(fixture, draws[fixture.pair]) for fixture in fixtures]
        if all(self._is_local(label, chunk) for label in fixtures[0].labels):
            return [self._play_local(*game) for game in games]
        finished = []
        for first in range(0, len(games), together):
            finished += self._play_batch(chunk, games[first : first + together])
        return finished

    def _play_local(self, fixture: Fixture, draw: Draw) -> Finished:
        """Play a game between two bots in this process."""
        if fixture.pair % _TIMED and all(map(self._is_cheap, fixture.labels)):
            finished = self._play_untimed(fixture, draw)
            if finished is not None:
                return finished
        rules = self.tournament.rules
        players = [self._inproc_player(fixture, draw, seat) for seat in (0, 1)]
        return play_local(State(draw.deal, rules), players)

    def _is_cheap(self, label: str) -> bool:
        """Return whether a bot's decisions need no reading of the clock one by one."""
        known = self._known[label]
        return known.decisions > _KNOWN and known.mean < _CHEAP

    def _play_untimed(self, fixture: Fixture, draw: Draw) -> Finished | None:
        """Play a game with one reading of the clock instead of one for each decision.

        Return None if anything went wrong: the game is then played again with all checks.
        """
        tournament = self.tournament
        state = State(draw.deal, tournament.rules)
        clock = self._clock()
        self.reporter.beat()
        clock.start()
        try:
            strategies = [
                tournament.by_label[label].create(setup(luck, seat, tournament.rules, clock))
                for seat, label, luck in zip((0, 1), fixture.labels, draw.lucks, strict=True)
            ]
            play(state, strategies)
        except BaseException:  # a bot may raise anything, SystemExit too
            return None
        _, in_time = clock.stop()
        return Finished(state) if in_time and not self.output.kept else None

    def _play_batch(self, chunk: Chunk, games: list[tuple[Fixture, Draw]]) -> list[Finished]:
        """Play games side by side, and again one by one those that this leaves undecided."""
        if len(games) == 1 and games[0][0][1:] in chunk.verdicts:
            return [self._carry_out(chunk, *games[0])]
        finished = play_together(
            [self._asking(chunk, *game, slot) for slot, game in enumerate(games)]
        )
        if None in finished:
            labels = games[0][0].pairing
            self.unsteady |= {
                label
                for label in labels
                if label in self.processes and self.processes[label].pid is None
            }
        for index, game in enumerate(games):
            if finished[index] is None:
                (finished[index],) = play_together([self._asking(chunk, *game, 0)])
        return [end for end in finished if end is not None]

    def _asking(self, chunk: Chunk, fixture: Fixture, draw: Draw, slot: int) -> Asking[Finished]:
        players = [self._player(chunk, fixture, draw, seat, slot) for seat in (0, 1)]
        return play_asking(State(draw.deal, self.tournament.rules), players)

    def _player(self, chunk: Chunk, fixture: Fixture, draw: Draw, seat: Seat, slot: int) -> Player:
        label = fixture.labels[seat]
        if self._is_local(label, chunk):
            return Inline(self._inproc_player(fixture, draw, seat))
        player = RemotePlayer(
            self._process(label),
            slot,
            seat,
            draw.lucks[seat],
            self._clock(),
            self.timings[label],
        )
        if chunk.apart:
            player.asking = partial(self.reporter.asking, *fixture[1:], seat)
        return player

    def _inproc_player(self, fixture: Fixture, draw: Draw, seat: Seat) -> InprocPlayer:
        label = fixture.labels[seat]
        return InprocPlayer(
            self.tournament.by_label[label],
            setup(draw.lucks[seat], seat, self.tournament.rules, self._clock()),
            self.reporter.beat,
            self.timings[label],
            self.output,
        )

    def _clock(self) -> Clock:
        return Clock(self.tournament.limits.decision, self.tournament.limits.game)

    def _process(self, label: str) -> BotProcess:
        """Return the process of a bot, which starts when it is first asked."""
        if label not in self.processes:
            entry = self.tournament.by_label[label]
            if entry.lane == "inproc":  # its game is played apart
                entry = replace(entry, lane="process")
            folder = self.folder / f"bot-{len(self.processes)}"
            folder.mkdir()
            rules, limits = self.tournament.rules, self.tournament.limits
            self.processes[label] = self._stack.enter_context(
                bot_process(entry, rules, limits, folder, self.reporter.beat)
            )
        return self.processes[label]

    def _carry_out(self, chunk: Chunk, fixture: Fixture, draw: Draw) -> Finished:
        """Return the end of a game that its workers did not survive."""
        verdict = chunk.verdicts[fixture[1:]]
        state = State(draw.deal, self.tournament.rules)
        state.follow(verdict.history)
        return Finished(state, verdict.fault, verdict.guilty)


def _result(finished: Finished, fixture: Fixture) -> GameResult:
    return result_of(finished, fixture.pair, fixture.seat)


def _log_fault(fixture: Fixture, result: GameResult) -> None:
    assert result.fault is not None
    logger.warning(
        "%s forfeits (%s at ply %d): %s; game: %s, pair %d, seat %d",
        fixture.pairing[result.winner == 0],
        result.fault.kind,
        result.plies,
        result.fault.message,
        fixture.pairing.name,
        fixture.pair,
        fixture.seat,
    )
