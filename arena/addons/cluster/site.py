"""Run a site: a crew of workers as a program of its own, to which another machine sends batches."""

from __future__ import annotations

import hashlib
import logging
import os
import shlex
import shutil
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue

from arena.addons.cluster import wire
from arena.addons.cluster.wire import Head, Hello, Line
from arena.entries.archive import MAGIC, read_archive
from arena.entries.entry import Entry
from arena.entries.identity import COPY, find_version, imported_bots
from arena.entries.needs import check_needs
from arena.entries.resolve import BOTS, resolve
from arena.entries.spec import COMMAND
from arena.errors import ArenaError, InputError
from arena.executors import answers
from arena.executors.local import open_crew
from arena.executors.log import RunLog, logger
from arena.lanes.cleanup import exit_on_termination
from arena.lanes.probe import find_problems
from arena.tournament.plan import Chunk, Played
from arena.tournament.tournament import Tournament
from arena.tournament.versions import versions_here

_SHOWN = 12  # characters of a hash


def hash_imports(entry: Entry) -> str:
    """Hash the bots in bots/ that a bot imports: these are not sent along with its source."""
    if entry.source is None or entry.command:
        return ""
    digest = hashlib.sha256()
    for name in imported_bots(_files(entry.source), BOTS, ours=entry.is_ours):
        digest.update(f"{name}\0".encode() + (BOTS / f"{name}.py").read_bytes())
    return digest.hexdigest()


def _files(source: bytes) -> dict[str, bytes]:
    if not source.startswith(MAGIC):
        return {"bot.py": source}
    try:
        return read_archive(source)
    except ImportError:  # its games will report it
        return {}


def find_here(entry: Entry, imports: str) -> Entry:
    """Return a received bot as it is played here; `imports` is its `hash_imports` at the sender.

    The module of a bot, or the program of a command, must be installed here. Raises InputError,
    which names what is missing or differs. Its reader is the sender, so "there" in the message is
    this machine.
    """
    check_needs(entry.target, entry.needs)
    if entry.source is None:
        known = entry.target, entry.label, entry.params, entry.lane, entry.needs
        found = resolve(*known, public=entry.public)
        _check(entry.target, "sha256", entry.sha256, found.sha256)
        return replace(entry, path=found.path, command=found.command)
    if entry.command:
        return _find_program(entry)
    _check(entry.target, "the bots that it imports", imports, hash_imports(entry))
    return entry


def _find_program(entry: Entry) -> Entry:
    """Return a command that was sent with its files, with this machine's program to run them."""
    program, *words = entry.command
    name = Path(program).name
    if entry.target.startswith(COMMAND):  # a program may stand outside the PATH
        name = shlex.split(entry.target.removeprefix(COMMAND))[0]
    if not program.startswith(COPY):
        program = shutil.which(name) or ""
    if not program:
        raise InputError(f"bot {entry.target!r}: {name}: no such program")
    found = replace(entry, command=(program, *words))
    version = find_version(found.command, found.files() if program.startswith(COPY) else {})
    _check(entry.target, "its program", entry.program, version)
    return found


def _check(target: str, what: str, asked: str, found: str) -> None:
    if asked != found:
        differs = f"there {found[:_SHOWN]}, here {asked[:_SHOWN]}"
        raise InputError(f"bot {target!r}: {what}: {differs}")


_BEAT = 1.0  # seconds
_MOST_LINES = 1000  # lines of the log in one answer


class Ended(Exception):
    """The site's input has ended."""


class Batches:
    """The source of chunks for a site's crew: the batches that the site has received.

    `frames` is a queue of batches as they arrive, with None at the end of the input.
    """

    def __init__(self) -> None:
        self.frames: SimpleQueue[bytes | None] = SimpleQueue()
        self._waiting: deque[Chunk] = deque()
        self._missing: dict[int, set[tuple[int, int]]] = {}  # places of chunks, by number of batch
        self._played: dict[int, list[Played]] = {}

    def wait(self) -> None:
        """Wait for a batch; raises Ended if none comes."""
        self._add(self.frames.get())

    def _add(self, frame: bytes | None) -> None:
        if frame is None:
            raise Ended
        number, chunks = wire.read_batch(frame)
        self._missing[number] = {chunk[:2] for chunk in chunks}
        self._played[number] = []
        self._waiting.extend(chunks)

    def _hear(self) -> None:
        """Take all batches that have arrived."""
        try:
            while True:
                self._add(self.frames.get_nowait())
        except Empty:
            return

    def next(self) -> Chunk | None:
        """Return the next chunk, None if there is nothing to play now; raises Ended."""
        self._hear()
        return self._waiting.popleft() if self._waiting else None

    def take_back(self, chunks: Iterable[Chunk]) -> None:
        """Take back chunks that were handed out but not played."""
        self._waiting.extendleft(chunks)

    def is_out(self, _pairing: int) -> bool:
        """Return False: only the client knows which pairings are out."""
        return False

    def finish(self, played: Played) -> tuple[int, list[Played]] | None:
        """Return the number and the results of a batch if this was its last chunk, else None."""
        for number, missing in self._missing.items():
            if played.chunk[:2] in missing:
                missing.remove(played.chunk[:2])
                self._played[number].append(played)
                if missing:
                    return None
                del self._missing[number]
                return number, self._played.pop(number)
        return None


class _Lines(logging.Handler):
    """Keeps the lines of a site's log until they are sent."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: deque[Line] = deque(maxlen=_MOST_LINES)

    def emit(self, record: logging.LogRecord) -> None:
        process = record.processName or ""
        self.lines.append(Line(process, record.levelno, record.getMessage()))

    def take(self) -> list[Line]:
        """Return the lines since the last call."""
        return [self.lines.popleft() for _ in range(len(self.lines))]


class _Site:
    """Exchanges frames with the host through two descriptors."""

    def __init__(self, source: int, sink: int) -> None:
        self.source = source
        self.sink = sink
        self.batches = Batches()
        self._sending = threading.Lock()

    def send(self, kind: int, data: bytes = b"") -> None:
        """Send the host a frame; if the host has gone, the input ends, too."""
        with self._sending:
            answers.send(self.sink, kind, data)

    def listen(self) -> None:
        """Receive batches from the host until the input ends, then end this process."""
        try:
            while True:
                self.batches.frames.put(answers.receive(self.source)[1])
        except (EOFError, OSError):
            self.batches.frames.put(None)
            os.kill(os.getpid(), signal.SIGTERM)  # a game may take hours

    def beat(self) -> None:
        """Send heartbeats to the host until it has gone."""
        pause = threading.Event()
        try:
            while not pause.wait(_BEAT):
                self.send(wire.BEAT)
        except OSError:
            return

    def serve(self) -> None:
        """Answer every batch until the input ends."""
        told = answers.receive(self.source)[1]
        if refusals := versions_here().differences(wire.read_versions(told)):  # sent to the client
            self.send(wire.HELLO, wire.write_hello(Hello(refusals, [])))
            return
        head = wire.read_head(told)
        for work in (self.listen, self.beat):
            threading.Thread(target=work, daemon=True).start()
        hello, tournament = _prepare(head)
        self.send(wire.HELLO, wire.write_hello(hello))
        if tournament is None:
            return
        lines = _Lines()
        logger.setLevel(logging.INFO)
        logger.propagate = False
        logger.addHandler(lines)
        log = RunLog([lines])
        with open_crew(head.workers, self.batches, tournament, log, head.venue) as crew:
            try:
                while True:
                    self.batches.wait()
                    for played in crew.play():
                        if done := self.batches.finish(played):
                            self.send(wire.ANSWER, wire.write_answer(*done, lines.take()))
            finally:  # a signal must not interrupt the crew's end
                signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _prepare(head: Head) -> tuple[Hello, Tournament | None]:
    """Return a site's first message, and the tournament to play, None if it refuses."""
    refusals: list[str] = []
    entries: list[Entry] = []
    for entry, imports in zip(head.tournament.entries, head.imports, strict=True):
        try:
            entries.append(find_here(entry, imports))
        except InputError as error:
            refusals.append(str(error))
    if refusals:
        return Hello(refusals, []), None
    tournament = replace(head.tournament, entries=entries)
    try:
        problems = [*find_problems(entries, tournament.rules, tournament.limits)]
    except InputError as error:
        return Hello([str(error)], []), None
    return Hello([], problems), tournament


def main() -> None:
    """Be a site; printed output of any code here does not reach the pipes to the host."""
    source, sink = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):
        os.dup2(null, descriptor)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with exit_on_termination():
            _Site(source, sink).serve()
    except (Ended, EOFError, BrokenPipeError):
        return
    except ArenaError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
