"""Member: one worker process of the crew, as its parent sees it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import types
import warnings
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import forkserver, resource_tracker
from pathlib import Path

import psutil

from arena.errors import InputError, WorkerDied
from arena.executors import process
from arena.executors.deaths import Asking, Progress
from arena.executors.environment import environment
from arena.executors.log import START_METHOD, RunLog, keep_start_method
from arena.executors.process import LastWords
from arena.lanes.cleanup import children, descendants, kill_all, remove_folder
from arena.lanes.faults import describe_exit
from arena.lanes.launch import THREADS
from arena.lanes.limits import Limits
from arena.lanes.meter import Meter, Stopwatch
from arena.tournament.chunk import Chunk, Played
from engine.strategy import Spent

_START = 60.0  # seconds for a worker to begin
_STARTS = 3  # attempts
_END_PATIENCE = 5.0
_ENVIRONMENT = {"PYTHONHASHSEED": "0", **dict.fromkeys(THREADS, "1")}
_EXIT_PATIENCE = 0.2  # seconds from the end of its pipe to the end of a worker
_GRACE = 1.0  # extra seconds in which a worker may report an answer that came in time
_STDERR = 2
_CONTEXT = multiprocessing.get_context(START_METHOD)


class Member:
    """A worker process, and the chunks that it has been given.

    `payload` is the pickled tournament. `asking` is the last question of a game played
    apart; `words` are the worker's last ones, if it ended by itself.
    """

    def __init__(self, payload: bytes, limits: Limits, folder: Path, log: RunLog) -> None:
        self.folder = folder
        self.chunks: deque[Chunk] = deque()
        self.asking: Asking | None = None
        self.words = ""
        self.channel = log.channel()
        self._allowed = limits.longest
        memory = _CONTEXT.RawArray("b", Progress.SIZE)
        self.progress = Progress(memory)
        self.connection, theirs = _CONTEXT.Pipe()
        folder.mkdir()
        self.process = _CONTEXT.Process(
            target=process.main,
            args=(theirs, payload, memory, str(folder), os.getcwd(), self.channel.pipe),
            name=folder.name,
            daemon=True,
        )
        self._start()
        theirs.close()
        self._handle = psutil.Process(self.pid) if psutil.pid_exists(self.pid) else None
        self._beat = 0
        self._watch = Stopwatch(Meter(self.pid))
        self._watch.start()

    def _start(self) -> None:
        """Start the process; the server that forks it may have been killed, and begins again."""
        for left in reversed(range(_STARTS)):
            try:
                with _starting():
                    self.process.start()
                return
            except (OSError, EOFError) as error:
                if not left:
                    self.channel.close(killed=True)
                    message = f"a worker process cannot be started: {error!r}"
                    raise WorkerDied(message) from None

    @property
    def pid(self) -> int:
        """The worker's process."""
        assert self.process.pid is not None
        return self.process.pid

    @property
    def is_ready(self) -> bool:
        """Whether the process has given a sign of life."""
        return self.progress.beat > 0

    def give(self, chunk: Chunk) -> None:
        """Give the worker a chunk to play after those it has."""
        if not self.chunks:
            self._watch.restart()
        self.chunks.append(chunk)
        with suppress(OSError):  # it has died, which is noticed where its answers are awaited
            self.connection.send(chunk)

    def receive(self) -> Iterator[Played]:
        """Yield what has arrived; raises EOFError if the worker has died."""
        while self.connection.poll():
            try:
                message = self.connection.recv()
            except Exception:  # a bot may have written into the pipe before it killed the worker
                raise EOFError from None
            self._watch.restart()
            if isinstance(message, Asking):
                self.asking = message
            elif isinstance(message, LastWords):
                self.words = message.text
            elif isinstance(message, Played):
                self.chunks.popleft()
                self.asking = None
                yield message
            else:
                raise EOFError

    def silence(self) -> Spent:
        """Return the time since the last sign of life of the worker, which has a chunk."""
        if self.progress.beat != self._beat or not self.chunks:
            self._beat = self.progress.beat
            self._watch.restart()
        return self._watch.read()

    def hangs(self) -> bool:
        """Return whether the worker has been silent for longer than any bot may think."""
        silence = self.silence()
        if not self.is_ready:
            return silence.wall > _START
        allowed = self._allowed
        return silence.charged > allowed.charged + _GRACE or silence.wall > allowed.wall + _GRACE

    def kill(self) -> None:
        """Kill the worker and all it has started, even if the server that forked it is gone."""
        if self._handle is not None:
            kill_all([self._handle, *descendants(self._handle)])

    def bury(self) -> str:
        """Remove what is left of the worker and its bots; return how it ended."""
        self.process.join(_EXIT_PATIENCE)
        self.kill()
        self.process.join()
        self.connection.close()
        remove_folder(self.folder)
        self.channel.close(killed=True)
        return describe_exit(self.process.exitcode or 0)

    def dismiss(self) -> None:
        """Let the worker end: there is nothing left to play."""
        with suppress(OSError):
            self.connection.send(None)
        self.process.join(_END_PATIENCE)
        if self.process.exitcode != 0:
            self.bury()
            return
        self.connection.close()
        remove_folder(self.folder)
        self.channel.close(killed=False)


def start_server() -> None:
    """Start the process from which workers are forked; it imports what they need, once.

    Raises InputError where the path of the temporary folder is too long for a socket in it.
    """
    multiprocessing.set_forkserver_preload([process.__name__])
    with _off_the_terminal(), _starting():
        try:
            forkserver.ensure_running()
        except OSError as error:
            if error.errno is not None:
                raise
            folder = tempfile.gettempdir()
            reason = f"its path is too long ({error}): set TMPDIR to a shorter one"
            raise InputError(f"temporary folder {folder}: {reason}") from None


def servers() -> set[psutil.Process]:
    """Return the processes that multiprocessing has started for itself."""
    return {child for child in children() if "multiprocessing" in _command(child)}


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


@contextmanager
def _starting() -> Iterator[None]:
    """Keep this program's `__main__` and Ctrl-C away from processes that are started.

    multiprocessing would import the caller's `__main__` in every worker: a script without a
    main guard, a notebook and standard input do not survive that. The order of a set of texts
    is the same in every run and numpy has one thread, as in a bot's own process.
    """
    with defer_interrupts(), keep_start_method(), environment(**_ENVIRONMENT):
        main = sys.modules["__main__"]
        sys.modules["__main__"] = types.ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


@contextmanager
def _off_the_terminal() -> Iterator[None]:
    """Keep standard error from processes that are started, and show no warnings.

    The processes that multiprocessing starts for itself would show a traceback for all that a
    bot does to them; one that was killed is started again, with a warning.
    """
    with keep_start_method(), warnings.catch_warnings(), ExitStack() as stack:
        warnings.simplefilter("ignore")
        with suppress(OSError):  # standard error may be closed
            terminal = os.dup(_STDERR)
            stack.callback(os.close, terminal)
            stack.callback(os.dup2, terminal, _STDERR)
            null = os.open(os.devnull, os.O_WRONLY)
            stack.callback(os.close, null)
            os.dup2(null, _STDERR)
        yield


@contextmanager
def defer_interrupts() -> Iterator[None]:
    """Hold SIGINT and SIGTERM back until the end.

    Processes that begin meanwhile inherit the mask and so never get Ctrl-C. The handlers are
    for signals that reach another thread of this process; only the main thread can set them.
    """
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    with _off_the_terminal():
        resource_tracker.ensure_running()  # lifts the mask where it begins
    held: list[int] = []
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            before[number] = signal.signal(number, lambda number, _: held.append(number))
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in before.items():
            signal.signal(number, handler)
        if held:
            signal.raise_signal(held[0])
