"""Play the chunks of one call, on the machine that takes it.

A bot travels with its source. What it imports and runs must be the same there: the first machine on
which something differs ends the run, with a line that names both.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import shlex
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from arena.entries.entry import Entry
from arena.entries.identity import COPY, find_version, imported_bots
from arena.entries.needs import check_needs
from arena.entries.resolve import BOTS, resolve
from arena.entries.spec import COMMAND
from arena.errors import ArenaError, InputError
from arena.executors.crew_messages import Garbled, Part, from_part, to_part
from arena.executors.local import open_crew
from arena.executors.log import Line, RunLog, Sender
from arena.tournament.config_keys import Venue
from arena.tournament.plan import Chunk, Chunks, Played
from arena.tournament.tournament import Tournament
from arena.tournament.versions import Versions, versions_here

_SHOWN = 12  # characters of a hash
_MOST_LINES = 1000  # of the log, in an answer


class Answer(msgspec.Struct, array_like=True):
    """The results of a call's chunks, the machine that played them, and the log of its workers."""

    machine: str
    parts: list[Part]
    lines: list[Line]


_decoder = msgspec.msgpack.Decoder(Answer)


def play_chunks(
    workers: int,
    tournament: Tournament,
    venue: Venue,
    chunks: Sequence[Chunk],
    log: RunLog,
    is_stopped: Callable[[], bool] = lambda: False,
) -> list[Played]:
    """Return the results of chunks by a crew, of some if it is stopped; no process is left."""
    played = []
    with open_crew(workers, Chunks(chunks), tournament, log, venue) as crew:
        for one in crew.play():
            played.append(one)
            if is_stopped():
                return played
        crew.dismiss()
    return played


def write_head(tournament: Tournament, venue: Venue) -> bytes:
    """Return what every call of a run is given, for `play_call`."""
    return pickle.dumps((tournament, venue, [*map(hash_imports, tournament.entries)]))


def play_call(versions: Versions, head: bytes, chunks: bytes) -> bytes:
    """Return the results of pickled chunks, for `read_answer`, with nothing left behind.

    Raises ArenaError, which names the machine.
    """
    machine = os.uname().nodename
    try:
        if differences := versions_here().differences(versions):
            raise InputError("; ".join(differences))  # before anything is unpickled
        tournament, venue, imports = pickle.loads(head)
        entries = [*map(find_here, tournament.entries, imports)]
        lines: list[Line] = []
        log = RunLog([Sender(machine, lines.append)])
        tournament = replace(tournament, entries=entries)
        workers = venue.workers or 1
        played = play_chunks(workers, tournament, venue, pickle.loads(chunks), log)
    except ArenaError as error:
        error.args = (f"{machine}: {error}",)
        raise
    return msgspec.msgpack.encode(Answer(machine, [*map(to_part, played)], lines[:_MOST_LINES]))


def read_answer(data: bytes, chunks: Sequence[Chunk]) -> tuple[str, list[Played], list[Line]]:
    """Return the machine, the results of these chunks, and the log lines of a call.

    Raises Garbled unless every game of every chunk is there once, and can be.
    """
    try:
        answer = _decoder.decode(data)
    except (msgspec.DecodeError, RecursionError, TypeError) as error:
        raise Garbled(f"its answer cannot be read: {error}") from None
    parts = {(part.pairing, part.first): part for part in answer.parts}
    if parts.keys() != {chunk[:2] for chunk in chunks} or len(answer.parts) != len(parts):
        raise Garbled("its answer has other games than it was asked for")
    played = [from_part(parts[chunk[:2]], chunk) for chunk in chunks]
    return answer.machine, played, answer.lines


def hash_imports(entry: Entry) -> str:
    """Hash the bots in bots/ that a bot imports: these are not sent along with its source."""
    if entry.source is None or entry.command:
        return ""
    digest = hashlib.sha256()
    for name in imported_bots(entry.files(), BOTS):
        digest.update(f"{name}\0".encode() + (BOTS / f"{name}.py").read_bytes())
    return digest.hexdigest()


def find_here(entry: Entry, imports: str) -> Entry:
    """Return a received bot as it is played here; `imports` is its `hash_imports` at the sender.

    The module of a bot, or the program of a command, must be installed here. Raises InputError,
    which names what is missing or differs. Its reader is the sender, so "there" in the message is
    this machine.
    """
    check_needs(entry.target, entry.needs)
    if entry.source is None:
        found = resolve(entry.target, entry.label, entry.params, entry.lane, entry.needs)
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
