"""Worker: a process that plays chunks of a run's games, and the processes of its bots."""

from __future__ import annotations

import multiprocessing
import os
import resource
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psutil

from arena.executors import log
from arena.executors.marks import IDLE, NOBODY, Marks
from arena.games.match import Finished, Play, Player, game, play_together, result
from arena.games.players import LocalPlayer, RemotePlayer
from arena.games.timing import Timing
from arena.lanes import cleanup as orphans
from arena.lanes.faults import Fault, Forfeit, raised
from arena.lanes.launch import MARK, hello, launch
from arena.lanes.limits import Limits
from arena.lanes.output import Printed
from arena.lanes.process import MOST_GAMES, BotProcess
from arena.lanes.scratch import remove
from arena.tournament.chunk import Chunk, FaultyGame, Job, Played
from arena.tournament.schedule import Pairing
from engine import Setup, Strategy
from engine.play import deal_at, luck_address, play, setup
from engine.seeds import digest
from engine.state import Seat, State
from engine.strategy import Clock

_CHEAP = 100e-6  # seconds: a decision that costs less is measured in one pair of many only
_MEASURED = 32  # every so many pairs, the decisions of cheap bots are measured
_KNOWN = 100  # decisions, before a bot is called cheap
_MB = 1 << 20


class Worker:
    """Plays chunks of a job; `folder` is for the files of its bots.

    `check` is called after every call of a bot in this process, and told whether the game
    is played alone, to find out who has killed a worker.
    """

    def __init__(
        self,
        job: Job,
        marks: Marks,
        folder: Path,
        printed: Printed,
        check: Callable[[bool], None] = lambda _: None,
    ) -> None:
        self.job = job
        self.check = check
        self.alone = False
        self.marks = marks
        self.folder = folder
        self.printed = printed
        self.processes: dict[str, BotProcess] = {}
        self.timings: dict[str, Timing] = {}
        self.unsteady: set[str] = set()  # whose games are played one by one from now on
        self.known = {label: Timing() for label in job.entries}

    def play(self, chunk: Chunk) -> Played:
        """Play a chunk's games; the results are in the order of pair and seat."""
        start = time.perf_counter()
        pairing = self.job.pairings[chunk.pairing]
        self.marks.at_work((chunk.pairing, chunk.first, 0), NOBODY, IDLE, b"")
        self.timings = {label: Timing() for label in pairing}
        self.alone = chunk.alone
        numbers = [(chunk.first + n // 2, n % 2) for n in range(2 * chunk.pairs)]
        finished: list[Finished] = []
        if self._is_cheap(pairing) and not chunk.alone:
            for pair in range(chunk.first, chunk.first + chunk.pairs):
                finished += self._quick(chunk.pairing, pair) or self._pair(chunk, pair)
        else:
            together = 1 if chunk.alone else self._together(pairing)
            for first in range(0, len(numbers), together):
                finished += self._batch(chunk, numbers[first : first + together])
        for label, timing in self.timings.items():
            self.known[label].merge(timing)
        played = list(zip(numbers, finished, strict=True))
        results = [tuple(result(end, *number)) for number, end in played]
        faults = [
            FaultyGame(*number, _seated(pairing, number[1])[end.fault.seat], end.fault)
            for number, end in played
            if end.fault
        ]
        for faulty in faults:
            _log_fault(pairing, faulty)
        return Played(chunk, results, faults, self.timings, time.perf_counter() - start)

    def close(self) -> None:
        """Kill the bots' processes."""
        for process in self.processes.values():
            process.kill()

    def _together(self, pairing: Pairing) -> int:
        """Return how many games of a pairing are in play at once."""
        most = [MOST_GAMES]
        if self.unsteady & {*pairing}:
            return 1
        for label in pairing:
            if self.job.entries[label].lane != "inproc":
                process = self._process(label)
                with suppress(Forfeit):  # it is the game's to find out
                    process.start()
                most.append(process.games)
        return min(most) if len(most) > 1 else 1

    def _pair(self, chunk: Chunk, pair: int) -> list[Finished]:
        return [end for seat in (0, 1) for end in self._batch(chunk, [(pair, seat)])]

    def _batch(self, chunk: Chunk, numbers: list[tuple[int, Seat]]) -> list[Finished]:
        """Play some games of a chunk side by side, and one by one what that leaves open."""
        pairing = self.job.pairings[chunk.pairing]
        if len(numbers) == 1 and numbers[0] in chunk.verdicts:
            return [self._judged(pairing, numbers[0][0], chunk.verdicts[numbers[0]])]
        games = [self._game(chunk.pairing, *number, slot) for slot, number in enumerate(numbers)]
        found = play_together(games)
        if None in found:
            dead = (label for label in pairing if label in self.processes)
            self.unsteady |= {label for label in dead if self.processes[label].pid is None}
        for index, number in enumerate(numbers):
            if found[index] is None:
                (found[index],) = play_together([self._game(chunk.pairing, *number, 0)])
        return [end for end in found if end is not None]

    def _game(self, number: int, pair: int, seat: Seat, slot: int) -> Play[Finished]:
        """Return the game of a pair in which the pairing's first bot has this seat."""
        pairing = self.job.pairings[number]
        address = pairing.deal_address(pair)
        limits = self.job.limits
        players: list[Player] = []
        for who, label in enumerate(_seated(pairing, seat)):
            entry, timing = self.job.entries[label], self.timings[label]
            clock = Clock(limits.decision, limits.game)
            mark = partial(self.marks.at_work, (number, pair, seat), who)
            if entry.lane == "inproc":
                given = setup(self.job.seed, address, who, self.job.rules, clock)
                player = LocalPlayer(entry, given, mark, self._answered, timing, self.printed)
                players.append(player)
            else:
                luck = digest(self.job.seed, *luck_address(address, who))
                process = self._process(label)
                players.append(RemotePlayer(process, slot, who, luck, clock, mark, timing))
        deal = deal_at(self.job.seed, address, self.job.rules)
        return game(State(deal, self.job.rules), players)

    def _answered(self) -> None:
        self.check(self.alone)
        self.marks.idle()

    def _process(self, label: str) -> BotProcess:
        """Return the process of a bot, which starts when it is first asked."""
        if label not in self.processes:
            entry, limits = self.job.entries[label], self.job.limits
            folder = self.folder / f"bot-{len(self.processes)}"
            folder.mkdir()
            said = hello(entry, self.job.rules)
            started = launch(entry, limits, folder)
            self.processes[label] = BotProcess(started, said, limits, self.marks.beat)
        return self.processes[label]

    def _is_cheap(self, pairing: Pairing) -> bool:
        """Return whether games can go without a reading of the clock at each decision."""
        return all(
            self.job.entries[label].lane == "inproc"
            and self.known[label].decisions > _KNOWN
            and self.known[label].mean < _CHEAP
            for label in pairing
        )

    def _quick(self, number: int, pair: int) -> list[Finished] | None:
        """Play a pair of games without marks and clocks, which makes them 10 % shorter.

        Return None if it is this pair's turn to be measured, or if a decision may have been
        late.
        """
        if pair % _MEASURED == 0:
            return None
        pairing, job = self.job.pairings[number], self.job
        address = pairing.deal_address(pair)
        deal = deal_at(job.seed, address, job.rules)
        finished = []
        for seat in (0, 1):
            self.marks.game(number, pair, seat)
            clock = Clock(job.limits.decision, job.limits.game)
            clock.start()
            setups = [setup(job.seed, address, who, job.rules, clock) for who in (0, 1)]
            finished.append(self._quick_game(State(deal, job.rules), pairing, seat, setups))
            if not clock.stop()[1]:
                return None
        return finished

    def _quick_game(
        self, state: State, pairing: Pairing, seat: Seat, setups: list[Setup]
    ) -> Finished:
        strategies: list[Strategy] = []
        fault = None
        try:
            for given, label in zip(setups, _seated(pairing, seat), strict=True):
                strategies.append(self.job.entries[label].strategy(given))
            play(state, strategies)
        except BaseException as error:  # a bot may raise anything, SystemExit too
            guilty = len(strategies) if len(strategies) < 2 else state.to_act
            fault = raised(error, self.printed.kept).of(guilty, len(state.history))
        if self.printed.kept:
            self.printed.taken()
        return Finished(state, fault)

    def _judged(self, pairing: Pairing, pair: int, verdict: tuple[bytes, Fault]) -> Finished:
        """Return the end of a game that has killed its workers."""
        history, fault = verdict
        deal = deal_at(self.job.seed, pairing.deal_address(pair), self.job.rules)
        state = State(deal, self.job.rules)
        state.follow(history)
        return Finished(state, fault)


def _seated(pairing: Pairing, seat: Seat) -> tuple[str, str]:
    """Return the labels in the order of the seats."""
    return (pairing.bot, pairing.opponent) if seat == 0 else (pairing.opponent, pairing.bot)


def _log_fault(pairing: Pairing, faulty: FaultyGame) -> None:
    log.logger.warning(
        "%s forfeits (%s at ply %d): %s; game: %s, pair %d, seat %d",
        faulty.label,
        faulty.fault.kind,
        faulty.fault.ply,
        faulty.fault.message,
        " - ".join(pairing),
        faulty.pair,
        faulty.seat,
    )


def work(connection: Connection, job: Job, memory: Any, folder: str, log_queue: Any) -> None:
    """Be a worker: answer every chunk with what it came to, until there are no more."""
    threading.Thread(target=_end_with_parent, args=(folder,), daemon=True).start()
    log.to_queue(log_queue)
    marks = Marks(memory)
    printed = Printed()
    _confine(job.limits, folder, printed)
    worker = Worker(job, marks, Path(folder), printed, _Health(connection, job.limits).check)
    log.logger.info("worker ready: %d bots, %d pairings", len(job.entries), len(job.pairings))
    try:
        while (chunk := connection.recv()) is not None:
            marks.beat()
            connection.send(worker.play(chunk))
    except EOFError:
        pass
    finally:
        worker.close()
        orphans.kill(set())


class _Health:
    """Notices when a bot has spoilt its worker, while it is clear by whose hand."""

    def __init__(self, connection: Connection, limits: Limits) -> None:
        self.descriptor = connection.fileno()
        self.inode = os.fstat(self.descriptor).st_ino
        self.most = resource.getrlimit(resource.RLIMIT_DATA)[0] - limits.memory * _MB // 10

    def check(self, alone: bool) -> None:
        """End this process at once if its pipe is gone; alone, if hardly any memory is left."""
        try:
            intact = os.fstat(self.descriptor).st_ino == self.inode
        except OSError:
            intact = False
        if not intact or (alone and getattr(psutil.Process().memory_info(), "data", 0) > self.most):
            os._exit(1)


def _confine(limits: Limits, folder: str, printed: Printed) -> None:
    """Keep the bots in this process from the terminal, from memory without end, from forks."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    printed.stand_in()
    os.chdir(folder)
    os.environ[MARK] = tempfile.tempdir = folder
    orphans.adopt()
    used = psutil.Process().memory_info()
    most = limits.memory * _MB + getattr(used, "data", 0)
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    os.register_at_fork(after_in_child=partial(os._exit, 1))  # no second worker on one pipe


def _end_with_parent(folder: str) -> None:
    """End this worker and its bots when the parent is gone, whatever ended it."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        remove(Path(folder))
        with suppress(OSError):
            Path(folder).parent.rmdir()
        os._exit(1)
