"""Process: a bot in a process of its own, spoken to in lines of JSON (docs/protocol.md)."""

from __future__ import annotations

import errno
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import msgspec

from arena.entries.entry import Entry
from arena.lanes import host
from arena.lanes.cleanup import sweep
from arena.lanes.faults import MOST_OUTPUT, Forfeit, describe_exit
from arena.lanes.jail import HOME
from arena.lanes.launch import Launch, plan_launch
from arena.lanes.limits import GRACE, Limits
from arena.lanes.memory import read_usage
from arena.lanes.messages import Answer, Message, decode_answer, encode, hello
from engine import Rules

MOST_LINE = 1 << 16
MOST_PROCESSES = 32
MOST_GAMES = 16
_TICK = 0.1  # seconds between two looks at a process that has not answered
_READ = 1 << 16
_CONTAINED_SIGNAL = 128  # bubblewrap's exit status for signal 0
_KINDS = ("exception", "memory")  # of an answer with an error
_HOST_KINDS = (*_KINDS, "illegal", "timeout", "params", "import")
_EXIT_PATIENCE = 0.2  # seconds from the end of its output to the end of a process


class BotProcess:
    """Starts a bot's program when it is needed, asks it, and kills it with all it started.

    `hello` is the first message; `waiting` is called every 0.1 s while an answer is awaited.
    Every failure is raised as a Forfeit of the bot. `output_bytes` is how much the bot has
    printed so far.
    """

    def __init__(
        self, launch: Launch, hello: Message, limits: Limits, waiting: Callable[[], None]
    ) -> None:
        self.launch = launch
        self.hello = hello
        self.limits = limits
        self.waiting = waiting
        self.games = 1
        self.output_bytes = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._reset()

    def _reset(self) -> None:
        self._asked = 0  # the id of the next message
        self._answered = 0  # the id of the next answer
        self._unsent = b""
        self._received = b""
        self._output = b""
        self._since = 0.0
        self._looked = time.monotonic()  # when the processes were last counted

    @property
    def pid(self) -> int | None:
        """The process, None while there is none."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start the program if it is not running, and exchange `hello` with it."""
        if self._process is not None:
            return
        self._reset()
        try:
            self._process = self._popen()
            self.send([self.hello])
            answer = self.receive(self.limits.start)
            if not answer.ready:
                raise Forfeit("protocol", "the answer to hello is not ready")
        except OSError as error:
            raise self._kill_for(Forfeit("import", f"cannot be started: {error}")) from None
        except Forfeit as forfeit:
            kind, message, traceback, output = forfeit.fault
            if kind == "timeout":
                message = f"no answer to hello within {self.limits.start:g} s {message}"
            kind = kind if kind == "params" else "import"
            raise self._kill_for(Forfeit(kind, message, traceback, output)) from None
        self.games = max(1, min(MOST_GAMES, answer.games))

    def _popen(self) -> subprocess.Popen[bytes]:
        process = self.launch.popen()
        self._stdin, self._stdout, self._stderr = (
            _descriptor(pipe) for pipe in (process.stdin, process.stdout, process.stderr)
        )
        self._poll = select.poll()
        for descriptor in (self._stdout, self._stderr):
            self._poll.register(descriptor, select.POLLIN)
        return process

    def send(self, messages: Sequence[Message]) -> None:
        """Send messages in one go, numbered in their order."""
        lines = []
        for message in messages:
            message.id = self._asked
            self._asked += 1
            lines.append(encode(message))
        self._unsent += b"".join(lines)
        self._since = time.perf_counter()
        self._write()

    def forget_output(self) -> None:
        """Forget what was printed so far: what follows belongs to another game."""
        self._drain()
        self._output = b""

    def receive(self, seconds: float) -> Answer:
        """Return the answer to the oldest message that has none yet.

        Raises Forfeit if no answer comes within the seconds and the grace, and for a line that
        is not an answer; the process is then killed.
        """
        line = self._line(seconds)
        try:
            answer = decode_answer(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            shown = ascii(line[:80])[1:]
            raise self._kill_for(Forfeit("protocol", f"not an answer: {error}: {shown}")) from None
        if answer.id != self._answered:
            message = f"an answer to message {answer.id} instead of {self._answered}"
            raise self._kill_for(Forfeit("protocol", message))
        self._answered += 1
        now = time.perf_counter()
        if answer.seconds < 0 or not self.launch.hosted:
            answer.seconds = now - self._since
        self._since = now
        if answer.error is None:
            return answer
        raise self._refusal(answer)

    def _refusal(self, answer: Answer) -> Forfeit:
        kinds = _HOST_KINDS if self.launch.hosted else _KINDS
        kind = answer.kind if answer.kind in kinds else "exception"
        output = answer.output if self.launch.hosted else self.printed()
        forfeit = Forfeit(kind, answer.error or "", answer.traceback, output)
        return self._kill_for(forfeit) if kind == "memory" else forfeit

    def _line(self, seconds: float) -> bytes:
        """Return the next line of output without its end."""
        start = time.monotonic()
        while b"\n" not in self._received:
            if len(self._received) > MOST_LINE:
                message = f"a line of more than {MOST_LINE:,} bytes"
                raise self._kill_for(Forfeit("protocol", message))
            now = time.monotonic()
            left = start + seconds + GRACE - now
            if left <= 0:
                message = "(an incomplete line arrived)" if self._received else ""
                raise self._kill_for(Forfeit("timeout", message))
            self._transfer(min(left, _TICK))
            if now - self._looked > _TICK:
                self._looked = now
                self.waiting()
                self._check_processes()
        line, _, self._received = self._received.partition(b"\n")
        return line

    def _transfer(self, seconds: float) -> None:
        """Read and write whatever is possible within the seconds."""
        for descriptor, _ in self._poll.poll(seconds * 1000):
            if descriptor == self._stdin:
                self._write()
            elif descriptor == self._stderr:
                self._read_output()
            else:
                data = os.read(descriptor, _READ)
                if not data:
                    raise self._kill_for(self._exit_forfeit())
                self._received += data

    def _write(self) -> None:
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._stdin, self._unsent) :]
        except BlockingIOError:
            self._poll.register(self._stdin, select.POLLOUT)
            return
        except OSError as error:  # the end of the process is noticed where its output is read
            if error.errno != errno.EPIPE:
                raise
            self._unsent = b""
        with suppress(KeyError):
            self._poll.unregister(self._stdin)

    def _read_output(self) -> None:
        data = os.read(self._stderr, _READ)
        if not data:
            self._poll.unregister(self._stderr)
        self._keep(data)

    def _drain(self) -> None:
        """Read what was printed until now."""
        with suppress(BlockingIOError):
            while data := os.read(self._stderr, _READ):
                self._keep(data)

    def _keep(self, data: bytes) -> None:
        self.output_bytes += len(data)
        self._output = (self._output + data)[-2 * MOST_OUTPUT :]

    def printed(self) -> str:
        """Return the end of what the process has printed since `forget_output`."""
        if self._process is not None:
            self._drain()
        return self._output.decode("utf-8", "replace")[-MOST_OUTPUT:]

    def _exit_forfeit(self) -> Forfeit:
        """Return the forfeit of a process whose output has ended."""
        assert self._process is not None
        try:
            status = self._process.wait(_EXIT_PATIENCE)
        except subprocess.TimeoutExpired:
            return Forfeit("crash", "closed its output")
        if self.launch.contained and status > _CONTAINED_SIGNAL:
            status = _CONTAINED_SIGNAL - status
        return Forfeit("crash", describe_exit(status))

    def _check_processes(self) -> None:
        """Kill the bot if its processes are too many, or use too much memory together."""
        assert self._process is not None
        most = self.limits.memory << 20
        usage = read_usage(self._process.pid, most, HOME if self.launch.jailed else "")
        if usage.processes - 2 * self.launch.contained > MOST_PROCESSES:  # bubblewrap and host
            message = f"started more than {MOST_PROCESSES} processes"
            raise self._kill_for(Forfeit("crash", message))
        if usage.memory > most:
            message = f"its processes use more than {self.limits.memory} MB together"
            raise self._kill_for(Forfeit("memory", message))

    def _kill_for(self, forfeit: Forfeit) -> Forfeit:
        """Kill the process, and return the forfeit with what the process had printed."""
        self.kill()
        fault = forfeit.fault
        if not fault.output:
            return Forfeit(fault.kind, fault.message, fault.traceback, self.printed())
        return forfeit

    def dismiss(self, seconds: float) -> None:
        """Close the input of the process, which asks it to end, and wait for it so long."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)

    def kill(self) -> None:
        """Kill the process and its group, and read what it had printed."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        sweep(self.launch.folder, self.waiting)
        self._drain()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


@contextmanager
def bot_process(
    entry: Entry,
    rules: Rules,
    limits: Limits,
    folder: Path,
    waiting: Callable[[], None] = lambda: None,
    *,
    check: bool = False,
    program: str = host.__file__,
    environment: Mapping[str, str] | None = None,
) -> Iterator[BotProcess]:
    """Yield the process of a bot, which starts when it is first needed; kill it at the end.

    `folder` is an empty one for this process. With `check`, the bot's parameters are checked
    as it starts. `program` and `environment` are those of `plan_launch`.
    """
    launch = plan_launch(entry, limits, folder, program, environment)
    process = BotProcess(launch, hello(entry, rules, check=check), limits, waiting)
    try:
        yield process
    finally:
        process.kill()


def _descriptor(pipe: IO[bytes] | None) -> int:
    assert pipe is not None
    os.set_blocking(pipe.fileno(), False)
    return pipe.fileno()
