"""Start, query, watch and kill a bot's process; messages are JSON lines (docs/protocol.md)."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import perf_counter

from arena.addons import hook
from arena.entries.entry import Entry
from arena.errors import Exhausted, blaming_machine
from arena.lanes import host, meter
from arena.lanes.faults import KINDS, Forfeit, Kind, describe_exit, idle_forfeit, last_words
from arena.lanes.jail import most_processes
from arena.lanes.jail_limits import MOST_OPEN
from arena.lanes.jail_root import HOME
from arena.lanes.launch import Launch, plan_launch
from arena.lanes.limits import Allowed, Budget, Limits, idle_seconds
from arena.lanes.messages import (
    MOST_LINE,
    TOO_LONG,
    Answer,
    Choose,
    Message,
    Pipes,
    Turn,
    encode,
    hello,
    read_answer,
)
from arena.lanes.meter import Held, Room, Stopwatch
from arena.lanes.temp_and_cache_folders import empty_folder
from arena.processes import Child, find_below, sweep
from engine import Rules

MOST_PROCESSES = 32
MOST_GAMES = 64
_TICK = 0.1  # seconds between two checks of a process that has not answered
_MUCH = 0.001  # seconds of work out of turn that are reported to the bot
_NEAR = 0.005  # seconds between two checks near the time limit
_CONTAINED_SIGNAL = 128  # bubblewrap's exit status for signal 0
_LOOKS = 8  # readings of its resources before its room can be used up
_MOST_UNSEEN = 512  # games without a reading, at most; a reading takes 0.3 ms
_SLEPT = 10  # a turn's wall time over its charged time from which the bot was asleep
_FLUSH = "(does it flush its output?)"
_PARTIAL = "(an incomplete line arrived: does it end each answer with a line break, and flush it?)"
TOO_MANY = f"started more than {MOST_PROCESSES} processes"
"""What is said of a bot that the limit of processes has stopped."""

_NO_MORE = "Resource temporarily unavailable", "can't start new thread"  # what a bot is told then
_ABOVE = 2  # bubblewrap's own processes around the one that it starts
_STARTS = 3  # at most, of a process that does not become the bot's own
_EXIT_PATIENCE = 2.0  # seconds in which a process must end after its output has ended


class BotProcess:
    """Starts a bot's program when needed, queries it, and kills it with all its descendants.

    `hello` is the first message; `waiting` is called every 0.1 s while an answer is awaited;
    `budget` is the idle time of all processes of the bot in a worker. Every failure is raised as
    a Forfeit of the bot, but for a start that the machine refuses, which is Exhausted.
    """

    def __init__(
        self,
        launch: Launch,
        hello: Message,
        limits: Limits,
        waiting: Callable[[], None],
        budget: Budget | None = None,
    ) -> None:
        self.budget = budget or limits.budget()
        self.launch = launch
        self.hello = hello
        self.limits = limits
        self.waiting = waiting
        self.games = 1
        self._process: Child | None = None
        self._pipes = Pipes(None)
        self._watch: Stopwatch
        self._reset()

    def _reset(self) -> None:
        self.is_warm = False  # whether it has chosen an action
        self._is_its_own = True  # whether what was started has become the bot's own program
        self.room = Room(self.most_held)
        self._unseen = 0  # games since its resources were last read
        self._asked = 0  # the id of the next message; 0 before the process has started
        self._answered = 0  # the id of the next answer
        self._awaited = ""  # the type of the message whose answer is awaited
        self._looked = perf_counter()  # at its processes, without the time between its turns
        self._ended = self._looked  # its last turn

    @property
    def pid(self) -> int | None:
        """The id of the process, None while the program is not running."""
        return self._process.pid if self._process else None

    def prepare(self) -> None:
        """Start the program if it is not running, without waiting for it."""
        try:
            self._open()
        except (OSError, Forfeit):  # `start` fails the same way, and reports it
            self.kill()

    def _open(self) -> int:
        if self._process is None:
            self._reset()
            self._process = self._popen()
            self._watch = self._meter(self._process.pid)
        return self._process.pid

    def start(self) -> None:
        """Start the program if it is not running, and exchange `hello` with it.

        One that has ended before it was the bot's own, perhaps killed from outside, is tried again.
        """
        for left in reversed(range(_STARTS)):
            try:
                if not self._asked:
                    self._start()
                return
            except Exhausted:
                if not left:
                    raise

    def _start(self) -> None:
        try:
            with blaming_machine("no process of a bot can be started"):
                pid = self._open()
            answer = self._greet()
        except OSError as error:
            raise self._kill_for(Forfeit("import", f"cannot be started: {error}")) from None
        except Exhausted:
            self.kill()
            raise
        except Forfeit as forfeit:
            self.kill()
            if not self._is_its_own:
                why = last_words(forfeit.fault.output) or f": {forfeit.fault.message}"
                raise Exhausted(f"no process of a bot can be confined{why}") from None
            raise self._failed_start(forfeit) from None
        self.games = max(1, min(MOST_GAMES, answer.games))
        main, *_ = self._own() or [pid]
        self._watch = self._meter(pid, main)

    def _greet(self) -> Answer:
        """Return the answer to `hello`."""
        (answer,), _ = self.ask([self.hello], self.limits.of_start)
        if isinstance(answer, Forfeit):
            raise answer
        if not answer.ready:
            raise Forfeit("protocol", "the answer to hello is not ready")
        return answer

    def _meter(self, pid: int, main: int | None = None) -> Stopwatch:
        """Return a clock for the turns of its processes."""
        return Stopwatch(meter.Meter(pid, main))

    def _failed_start(self, forfeit: Forfeit) -> Forfeit:
        """Return the forfeit of a bot whose program failed to start."""
        kind, message, traceback, output = forfeit.fault
        if kind == "timeout" and forfeit.spent:
            within = self.limits.of_start.describe(forfeit.spent)
            message = f"no answer to `hello` within {within} {message}"
        if kind == "crash" and not self.launch.hosted:
            message += last_words(output)
        kind = kind if kind == "params" else "import"
        return Forfeit(kind, message, traceback, output)

    def _popen(self) -> Child:
        empty_folder(self.launch.folder)  # nothing of an earlier process may remain
        process = self.launch.popen()
        self._pipes = Pipes(process, len(self.launch.first))
        return process

    @property
    def most_held(self) -> Held:
        """The limits on the resources of its processes."""
        threads = most_processes(hosted=self.launch.hosted) if self.launch.jailed else 0
        return Held(self.limits.memory, MOST_PROCESSES, threads, MOST_OPEN)

    def held(self) -> Held:
        """Return the resources that its processes use."""
        return meter.read_held(self._own())

    def _own(self) -> list[int]:
        """Return the ids of the bot's processes, without those of the jail around them."""
        if self._process is None:
            return []
        members = [self._process.pid, *find_below(self._process.pid)]
        return members[_ABOVE if self.launch.contained else 0 :]

    def count_games(self, games: int) -> None:
        """Count games that it has played; end the process if they have leaked too much."""
        self._unseen += games
        if not self._asked or _LOOKS * self._unseen < min(self.room.games, _MOST_UNSEEN):
            return
        self.room.add(self._unseen, self.held())
        self._unseen = 0
        if self.room.is_full:
            self.kill()

    def ask(self, messages: Sequence[Message], allowed: Allowed) -> Turn:
        """Send messages in one write, and wait for all answers within the allowed time.

        All together may be idle for the rest of the budget.
        """
        allowed = allowed._replace(idle=self.budget.left)
        self._looked += perf_counter() - self._ended
        self._watch.start()
        self._send(messages, self._watch.before)
        answers: list[Answer | Forfeit] = []
        while len(answers) < len(messages):
            self._awaited = type(messages[len(answers)]).__name__.lower()
            try:
                answers.append(self._receive(allowed))
            except Forfeit as forfeit:
                answers.append(forfeit)
                if self.pid is None:
                    break
        spent = self._watch.stop()
        self._ended = perf_counter()
        self.is_warm = self.is_warm or isinstance(messages[0], Choose)
        self.budget.spend(spent)
        return Turn(answers, spent)

    def _send(self, messages: Sequence[Message], before: float) -> None:
        lines = []
        for message in messages:
            if before > _MUCH and isinstance(message, Choose) and message.seconds_left:
                message.seconds_left = round(message.seconds_left - before, 6)
            message.id = self._asked
            self._asked += 1
            lines.append(encode(message))
        self._write(b"".join(lines))

    def _write(self, data: bytes) -> None:
        self._pipes.send(data)

    def forget_output(self) -> None:
        """Discard the output so far: further output belongs to another game."""
        self._pipes.forget_output()

    def _receive(self, allowed: Allowed) -> Answer:
        """Return the answer to the oldest unanswered message.

        Raises Forfeit if the program reports a fault. If a line is not an answer, or no answer
        arrives in time, it kills the process and raises Forfeit.
        """
        line = self._line(allowed)
        try:
            answer = read_answer(line, self._answered)
        except Forfeit as forfeit:
            raise self._kill_for(forfeit) from None
        self._answered += 1
        if answer.error is None:
            return answer
        raise self._refusal(answer)

    def _refusal(self, answer: Answer) -> Forfeit:
        known = KINDS.get(answer.kind)
        kind = answer.kind if known and self._may_say(known) else "exception"
        output = answer.output if self.launch.hosted else self.printed()
        error = answer.error or ""
        if self._process and any(text in error for text in _NO_MORE):  # and no server elsewhere
            error = f"{error}: {TOO_MANY}"
        forfeit = Forfeit(kind, error, answer.traceback, output)
        return forfeit if kind in ("illegal", "exception") else self._kill_for(forfeit)

    def _may_say(self, kind: Kind) -> bool:
        """Return whether its program may say of itself that it has such a fault."""
        return kind.of_host if self.launch.hosted else kind.of_program

    def _line(self, allowed: Allowed) -> bytes:
        """Return the next line of the answers without its line break."""
        left = min(allowed)
        pipes = self._pipes
        while b"\n" not in pipes.received:
            if len(pipes.received) > MOST_LINE:
                raise self._kill_for(Forfeit("protocol", TOO_LONG))
            if not pipes.transfer(min(max(left, _NEAR), _TICK)):
                raise self._kill_for(self._exit_forfeit())
            if perf_counter() - self._looked > _TICK:
                self._looked = perf_counter()
                self.waiting()
                self._check_processes()
                self._check_silence()
            if b"\n" in pipes.received:
                break
            spent = self._watch.read()
            left = min(allowed.charged - spent.charged, allowed.wall - spent.wall)
            if idle_seconds(spent) > max(0.0, allowed.idle):
                raise self._kill_for(idle_forfeit(self.budget.seconds, ""))
            if left < 0:
                self._check_processes(MOST_PROCESSES - 1)  # a jail allows no more of them
                slept = spent.wall > _SLEPT * spent.charged
                talks = slept and not self.launch.hosted  # our host always flushes
                message = _PARTIAL if pipes.received else _FLUSH if talks else ""
                raise self._kill_for(Forfeit("timeout", message, spent=spent))
        return pipes.take_line()

    def printed(self) -> str:
        """Return the end of the process's output since `forget_output`."""
        return self._pipes.printed()

    def _exit_forfeit(self) -> Forfeit:
        """Return the forfeit of a process that has closed its output."""
        assert self._process is not None
        try:
            status = self._process.wait(_EXIT_PATIENCE)
        except subprocess.TimeoutExpired:
            return Forfeit("crash", "closed its output")
        if self.launch.contained and status > _CONTAINED_SIGNAL:
            status = _CONTAINED_SIGNAL - status
        return Forfeit("crash", describe_exit(status))

    def _check_processes(self, most_processes: int = MOST_PROCESSES) -> None:
        """Kill the bot if it has too many processes, or they use too much memory together."""
        assert self._process is not None
        most = self.limits.memory << 20
        usage = meter.read_usage(self._process.pid, most, HOME if self.launch.jailed else "")
        if usage.processes - _ABOVE * self.launch.contained > most_processes:  # bubblewrap and host
            raise self._kill_for(Forfeit("crash", TOO_MANY))
        if usage.memory > most:
            message = f"its processes use more than {self.limits.memory} MB together"
            raise self._kill_for(Forfeit("memory", message))

    def _check_silence(self) -> None:
        """Kill the bot if it cannot answer: it has closed its output, or waits for more input."""
        found = meter.find_silence(self._own, self._pipes.answers, is_read=self._pipes.is_read)
        if not found or not self._pipes.transfer(0) or b"\n" in self._pipes.received:
            return
        if found == meter.CLOSED:
            raise self._kill_for(Forfeit("crash", found))
        detail = _PARTIAL if self._pipes.received else _FLUSH
        message = f"no answer to `{self._awaited}`: {found} {detail}"
        raise self._kill_for(Forfeit("timeout", message))

    def _kill_for(self, forfeit: Forfeit) -> Forfeit:
        """Kill the process, and return the forfeit with the process's output."""
        self.kill()
        return forfeit if forfeit.fault.output else forfeit.with_output(self.printed())

    def kill(self) -> None:
        """Kill the process and its group, and read its output."""
        process, self._process, self._asked = self._process, None, 0
        if process is None:
            return
        self._is_its_own = self._pipes.taken >= len(self.launch.first)
        process.end(contained=self.launch.contained)
        if not self.launch.contained:  # nothing leaves a pid namespace, or is in it after this
            sweep(self.launch.folder, self.waiting)
        self._pipes.close()


@contextmanager
def bot_process(
    entry: Entry,
    rules: Rules,
    limits: Limits,
    folder: Path,
    waiting: Callable[[], None] = lambda: None,
    *,
    check: bool = False,
    program: str = host.__name__,
    environment: Mapping[str, str] | None = None,
    budget: Budget | None = None,
) -> Iterator[BotProcess]:
    """Yield the process of a bot, which starts when it is first needed; kill it at the end.

    For a bot that lives elsewhere, it is a session of its server. `folder` is an empty folder for
    this process. With `check`, the bot's parameters are checked at the start. `program` and
    `environment` are passed to `plan_launch`; without a `budget` the process has its own.
    """
    with ExitStack() as opened:
        if entry.lane == "remote":
            first = hello(entry, rules, None)
            process: BotProcess = hook("RemoteBot")(entry, first, limits, waiting)
        else:
            launch = plan_launch(entry, limits, folder, program, environment)
            opened.callback(launch.close)
            files = launch.layout.folder if launch.layout else None
            first = hello(entry, rules, files, check=check)
            process = BotProcess(launch, first, limits, waiting, budget)
        opened.callback(process.kill)
        yield process
