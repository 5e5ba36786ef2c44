"""Check that a bot sent from another machine is the same on this one, with all that it imports."""

from __future__ import annotations

import hashlib
import shlex
import shutil
from dataclasses import replace

from arena.entries.archive import MAGIC, read_archive
from arena.entries.entry import Entry
from arena.entries.identity import imported_bots
from arena.entries.needs import check_needs
from arena.entries.program import COPY, find_version
from arena.entries.resolve import BOTS, resolve
from arena.entries.spec import COMMAND
from arena.errors import InputError

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
        found = resolve(entry.target, entry.label, entry.params, entry.lane, entry.needs)
        _check(entry.target, "sha256", entry.sha256, found.sha256)
        return replace(entry, path=found.path, command=found.command)
    if entry.command:
        return _find_program(entry)
    _check(entry.target, "the bots that it imports", imports, hash_imports(entry))
    return entry


def _find_program(entry: Entry) -> Entry:
    """Return a command that was sent with its files, with this machine's program to run them."""
    name = shlex.split(entry.target.removeprefix(COMMAND))[0]
    program, *words = entry.command
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
