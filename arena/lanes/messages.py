"""Define the messages between the arena and a bot's process (docs/protocol.md), and its pipes."""

from __future__ import annotations

import errno
import os
import select
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import msgspec

from arena.entries.entry import Entry
from arena.lanes.evidence import MOST_OUTPUT
from arena.lanes.faults import Forfeit
from engine import Rules
from engine.rules import RULE_NAMES
from engine.strategy import Spent


class Message(msgspec.Struct, kw_only=True, tag_field="type", tag=str.lower):
    """A message of the arena, of the type of its class; its `id` is set when it is sent."""

    id: int = 0


class Python(msgspec.Struct):
    """How our own host loads a bot; `params` is Python text, because JSON has no tuples.

    `file` is the module that defines `bot`, and can import the modules in `folder`. None: the bot
    is imported by name.
    """

    module: str
    filename: str
    file: str | None
    folder: str
    path: tuple[str, ...]
    params: str
    check: bool


class Hello(Message, kw_only=True, omit_defaults=False):
    """The first message: the rules and the bot's parameters."""

    protocol: int = 1
    rules: dict[str, Any]
    params: dict[str, Any]
    python: Python | msgspec.UnsetType = msgspec.UNSET


class New(Message, kw_only=True):
    """A game begins."""

    game: int
    seat: int
    seed: str
    seconds_per_decision: float | None
    seconds_per_game: float | None


class Choose(Message, kw_only=True):
    """It is the bot's turn: all fields of its View, as text."""

    game: int
    seat: int
    legal: str
    hand: str
    row: str
    piles: tuple[str, str]
    taken: tuple[bool, bool]
    history: str
    opening: str
    round: int
    opponent_cards: int
    seconds_left: float | None


class Chance(Choose, kw_only=True):
    """Request the bot's estimate of its chance to win in this view; for our own host only."""


class Thoughts(Message, kw_only=True):
    """Request the bot's estimate of each action at its last choice; for our own host only."""

    game: int


class End(Message, kw_only=True):
    """A game is over."""

    game: int


class Answer(msgspec.Struct, omit_defaults=True):
    """The answer of a bot's process to one message."""

    id: int
    action: str | None = None
    chance: float | None = None
    thoughts: list[tuple[int, float, int | None, str]] | None = None
    ready: bool = False
    games: int = 1
    version: str = ""
    error: str | None = None
    kind: str = "exception"
    traceback: str = ""
    output: str = ""


class Turn(NamedTuple):
    """The answers of a process to messages that were sent together, and the time for all.

    Each item is an Answer, or the Forfeit of an invalid one. If the process failed, the last item
    is the Forfeit for that, and further answers are missing.
    """

    answers: list[Answer | Forfeit]
    spent: Spent


MOST_LINE: Final = 1 << 16
"""The most bytes of an answer."""

TOO_LONG: Final = f"a line of more than {MOST_LINE:,} bytes"
_READ = 1 << 16  # bytes read at a time
_MARK = b"\xef\xbb\xbf"  # a byte order mark
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Answer).decode


def encode(message: Message) -> bytes:
    """Return a message as one line of JSON."""
    return _encode(message) + b"\n"


def read_answer(line: bytes, number: int) -> Answer:
    """Return the answer to message `number` in a line; raises the Forfeit for an invalid one."""
    if len(line) > MOST_LINE:
        raise Forfeit("protocol", TOO_LONG)
    try:
        answer = _decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise Forfeit("protocol", _describe_line(line, error)) from None
    if answer.id != number:
        raise Forfeit("protocol", f"an answer to message {answer.id} instead of {number}")
    return answer


def _describe_line(line: bytes, error: Exception) -> str:
    """Describe why a line is not a valid answer."""
    if not line.strip():
        return "an empty line instead of an answer"
    if line.startswith(_MARK):
        return "its answer begins with a byte order mark: write UTF-8 without it"
    return f"not an answer: {error}: {ascii(line[:400])[1:]}"


def hello(entry: Entry, rules: Rules, files: Path | None, *, check: bool = False) -> Hello:
    """Return the first message to a bot's process; `files` is the folder of the bot's files.

    With `check`, our own host also checks that the bot accepts its parameters.
    """
    numbers = {name: getattr(rules, name) for name in RULE_NAMES}
    message = Hello(rules=numbers, params=entry.params)
    if not entry.command:
        params = repr(entry.params)
        file, folder = entry.main(files or "")
        message.python = Python(
            entry.module, entry.filename, file, folder, entry.path, params, check
        )
    return message


class Pipes:
    """The three streams of a process that was started with pipes; None for no process.

    `received` holds answers that were not taken yet. Its output is what it writes to standard
    error. `first` bytes lie in its input already.
    """

    def __init__(self, process: subprocess.Popen[bytes] | None, first: int = 0) -> None:
        self.received = b""
        self._sent = first  # bytes
        self._unsent = memoryview(b"")
        self._output = b""
        self._files: list[IO[bytes]] = []
        if process is None:
            return
        self._files = [pipe for pipe in (process.stdin, process.stdout, process.stderr) if pipe]
        self._stdin, self._stdout, self._stderr = map(_descriptor, self._files)
        self._poll = select.poll()
        for descriptor in (self._stdout, self._stderr):
            self._poll.register(descriptor, select.POLLIN)

    def send(self, data: bytes) -> None:
        """Write as much of the data as possible now, and leave the rest to `transfer`."""
        self._unsent = memoryview(bytes(self._unsent) + data if self._unsent else data)
        self._write()

    def transfer(self, seconds: float) -> bool:
        """Read and write for up to this many seconds; return False at the end of the output."""
        for descriptor, _ in self._poll.poll(seconds * 1000):
            if descriptor == self._stdin:
                self._write()
            elif descriptor == self._stderr:
                self._read_output()
            else:
                data = os.read(descriptor, _READ)
                if not data:
                    return False
                self.received += data
        return True

    @property
    def taken(self) -> int:
        """How many bytes of what was sent the process has read, also if it has ended."""
        return self._sent - self._unread()

    def _unread(self) -> int:
        """Return how many bytes lie in the pipe to the process."""
        import fcntl  # not on Windows
        import termios

        waiting = bytearray(4)
        with suppress(OSError, ValueError):  # it was closed
            fcntl.ioctl(self._files[0].fileno(), termios.FIONREAD, waiting)
        return int.from_bytes(waiting, sys.byteorder)

    @property
    def is_read(self) -> bool:
        """Whether the process has read everything that was sent."""
        return not self._unsent and not self._unread()

    @property
    def answers(self) -> int:
        """The inode of the pipe into which the process writes its answers."""
        return os.fstat(self._stdout).st_ino

    def take_line(self) -> bytes:
        """Remove and return the first received line, without its line break."""
        line, _, self.received = self.received.partition(b"\n")
        return line

    def forget_output(self) -> None:
        """Discard the output so far."""
        self._drain()
        self._output = b""

    def printed(self) -> str:
        """Return the end of the output since `forget_output`."""
        self._drain()
        return self._output.decode("utf-8", "replace")[-MOST_OUTPUT:]

    def close(self) -> None:
        """Read the remaining output, and close all pipes."""
        self._drain()
        for pipe in self._files:
            pipe.close()

    def _write(self) -> None:
        try:
            while self._unsent:
                written = os.write(self._stdin, self._unsent)
                self._unsent = self._unsent[written:]
                self._sent += written
        except BlockingIOError:
            self._poll.register(self._stdin, select.POLLOUT)
            return
        except OSError as error:  # reading the output detects the end of the process
            if error.errno != errno.EPIPE:
                raise
            self._unsent = memoryview(b"")
        with suppress(KeyError):
            self._poll.unregister(self._stdin)

    def _read_output(self) -> None:
        data = os.read(self._stderr, _READ)
        if not data:
            self._poll.unregister(self._stderr)
        self._keep(data)

    def _drain(self) -> None:
        if not self._files or self._files[2].closed:
            return
        with suppress(BlockingIOError):
            while data := os.read(self._stderr, _READ):
                self._keep(data)

    def _keep(self, data: bytes) -> None:
        self._output = (self._output + data)[-2 * MOST_OUTPUT :]


def _descriptor(pipe: IO[bytes]) -> int:
    os.set_blocking(pipe.fileno(), False)
    return pipe.fileno()
