"""Be a worker process: read chunks from a socket, play them, and send the results."""

from __future__ import annotations

import mmap
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from arena.entries.needs import look_from
from arena.executors.crew_messages import Answer, Asking, Failed, LastWords, Progress, write_answer
from arena.executors.log import log_to, logger
from arena.executors.worker import Worker, play_here
from arena.lanes.evidence import ROOT, Output, write_all
from arena.lanes.faults import one_line
from arena.lanes.jail_limits import die_with
from arena.lanes.launch import Program
from arena.lanes.limits import Limits
from arena.lanes.meter import read_held
from arena.processes import FOLDER_VARIABLE, kill_orphans
from arena.threads import THREADS
from arena.tournament.config_keys import HERE, Venue
from arena.tournament.match import GameResult
from arena.tournament.plan import Played, gather_times
from arena.tournament.tournament import Tournament
from engine.state import Seat

END = pickle.dumps(None)
"""The pickle that ends a worker; others have chunks to play."""

_KEPT = ("PYTHONHOME", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")
_ENVIRONMENT = {"PYTHONHASHSEED": "0", **dict.fromkeys(THREADS, "1")}
_MB = 1 << 20
_SEND_EVERY = 0.1  # seconds between results of short chunks: the parent reads 1 ms on each message
_LOOK_EVERY = 5e-3  # seconds: a look takes 4 to 9 us, some games take 100
_MEMORY = "/proc/self/statm"
_ALLOWED_SHARE = 0.9  # share of its memory limit above which a worker counts as corrupted


def write_head(tournament: Tournament, venue: Venue = HERE) -> bytes:
    """Return the pickled head for a worker: tournament, venue, and the folders to find bots in."""
    here = os.getcwd()
    path = [os.path.join(here, place) for place in sys.path]
    return pickle.dumps((tournament, venue, here, path))


def start(descriptor: int, memory: int, head: int, folder: Path) -> Program:
    """Start a worker process; the descriptors and the folder are those of `main`.

    It is independent of the program that calls the arena, and changes nothing there. PYTHONHASHSEED
    is the same in all workers, and numpy has one thread, as in a bot's process.
    """
    words = f"{descriptor}, {memory}, {head}, {os.fspath(folder)!r}, {os.getpid()}"
    return Program(
        f"from arena.executors.worker_process import main; main({words})",
        _search_path(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        cwd="/",
        env=_environment(),
        pass_fds=[descriptor, memory, head],
    )


def _search_path() -> list[str]:
    """Return the search path for modules besides those of Python itself."""
    libraries = os.path.dirname(msgspec.__path__[0])  # no file in the working folder is before it
    return [*dict.fromkeys([ROOT, libraries, *filter(None, sys.path)])]


def _environment() -> dict[str, str]:
    """Return this program's environment, without the variables that change how Python works."""
    own = {n: v for n, v in os.environ.items() if n in _KEPT or not n.startswith("PYTHON")}
    return own | _ENVIRONMENT


def main(descriptor: int, memory: int, head: int, folder: str, parent: int) -> None:
    """Be a worker process: answer every batch of chunks with their results, until the end of work.

    The descriptors are a socket to its parent, the shared memory of its Progress, and a file with
    the head of `write_head`. If it exits early, it reports why. It has a session of its own: Ctrl-C
    does not reach it, and a bot that kills its process group or its parent does not hit the arena.
    It is killed when the arena ends.
    """
    die_with(parent)
    _go_on_in_child(descriptor)
    home = _Home(descriptor, mmap.mmap(memory, Progress.SIZE))
    log_to(Path(folder).name, home.say)
    with mmap.mmap(head, 0, access=mmap.ACCESS_READ) as told:
        tournament, venue, here, path = pickle.loads(told)
    for shared in (memory, head):
        os.close(shared)
    look_from(Path(here))
    sys.path[:] = path
    play_here(venue)
    try:
        _serve(home, tournament, folder)
    except (EOFError, BrokenPipeError, ConnectionResetError):  # the parent has exited
        pass
    except BaseException as error:
        with suppress(Exception):
            home.tell(LastWords(one_line(f"{type(error).__name__}: {error}")))
        os._exit(1)
    finally:
        kill_orphans()


def _go_on_in_child(descriptor: int) -> None:
    """Fork, and return in the child; this process closes its descriptor, and exits as the child."""
    parent = os.getpid()
    if child := os.fork():
        os.close(descriptor)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status < 0:
            os.kill(parent, -status)
        os._exit(status)
    die_with(parent)


class _Home(Progress):
    """The worker's end of the socket and of the memory that it shares with its parent."""

    def __init__(self, descriptor: int, memory: Any) -> None:
        super().__init__(memory)
        self.descriptor = descriptor
        self.most_memory = 0.0
        self._batches = os.fdopen(descriptor, "rb", closefd=False)
        self._memory = os.open(_MEMORY if sys.platform == "linux" else os.devnull, os.O_RDONLY)
        self._results: list[Played] = []  # still to be sent
        self._sent = self._looked = 0.0
        self._saying = threading.Lock()  # a bot may log from a thread of its own

    def say(self, answer: Answer) -> None:
        """Send the parent a message; raises OSError if the parent has ended."""
        with self._saying:
            write_all(self.descriptor, write_answer(answer))

    def tell(self, answer: Answer) -> None:
        """Send the results so far, and then a message about the game that is being played."""
        self.send_results()
        self.say(answer)

    def send(self, played: Played) -> None:
        """Send the results of a chunk, perhaps later together with those of further chunks."""
        self._results.append(played)
        if time.perf_counter() - self._sent > _SEND_EVERY:
            self.send_results()

    def send_results(self) -> None:
        """Send the results that have not been sent; the last has the times of all."""
        self._sent = time.perf_counter()
        results, self._results = self._results, []
        if results:
            self.say(gather_times(results))

    def hear(self) -> Any:
        """Return the next batch from the parent, None at the end of work."""
        return pickle.load(self._batches)

    def played(self) -> None:
        """Count them, and look at this process again, after short games only now and then."""
        if time.perf_counter() - self._looked > _LOOK_EVERY:
            self.look()
        super().played()

    def look(self) -> None:
        """Exit if a bot has filled the memory: the pairs are then played apart."""
        self._looked = time.perf_counter()
        if self.read_memory() > self.most_memory:
            os._exit(1)

    def read_memory(self) -> int:
        """Return the resident bytes (3 us); a peak value would be inherited from the parent."""
        pages = os.pread(self._memory, 64, 0).split()[1:2]
        return int(pages[0]) * mmap.PAGESIZE if pages else 0

    def failed(self, pairing: int, result: GameResult) -> None:
        self.tell(Failed(pairing, result))

    def asking(self, pair: int, seat: Seat, asked: Seat, history: bytes | None) -> None:
        self.tell(Asking(pair, seat, asked, history))


def _serve(home: _Home, tournament: Tournament, folder: str) -> None:
    output = Output()
    _confine(tournament.limits, folder, output)
    home.most_memory = home.read_memory() + _ALLOWED_SHARE * tournament.limits.memory * _MB
    worker = Worker(tournament, Path(folder), output, home)
    home.beat()
    count = len(tournament.entries), len(tournament.pairings)
    logger.info("worker ready: %d bots, %d pairings", *count)
    try:
        while (batch := home.hear()) is not None:
            home.beat()
            for played in worker.play_all(batch):
                if played.chunk.question is None:
                    home.look()
                home.send(played)
                home.beat()
            home.send_results()
    finally:
        worker.close()


def _confine(limits: Limits, folder: str, output: Output) -> None:
    """Deny the bots in this process the terminal, memory above the limit, and forks."""
    import resource

    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    output.capture()
    os.chdir(folder)
    os.environ[FOLDER_VARIABLE] = tempfile.tempdir = folder
    most = limits.memory * _MB + int(read_held([os.getpid()]).memory * _MB)
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    os.register_at_fork(after_in_child=partial(os._exit, 1))  # no second worker on one socket
