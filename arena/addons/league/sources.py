"""Keep the bytes of bots that are handed in, for ever and by their hash, and find them to play.

A submitted file is read once. The bytes read are stored under their hash, and these are checked and
played, so a later change of the file has no effect.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from arena.addons.league.league_settings import Settings
from arena.addons.league.ledger import Version
from arena.entries.bot_files import MOST_SOURCE
from arena.entries.entry import Entry
from arena.entries.loader import MAGIC, name_of_first
from arena.entries.read_bot import BUILT, MANIFEST, ZIP, is_program
from arena.entries.resolve import installed, read_archived, resolve
from arena.entries.spec import is_address, parse
from arena.errors import ArenaError, InputError, Unreachable, naming
from arena.files import read_file, replacing

SOURCES: Final = "bots"
"""The folder of the submitted files, in the league's folder."""

LABEL: Final = "submitted"


def take(
    folder: Path, bot: str, settings: Settings, waiting: Callable[[], None]
) -> tuple[str, str]:
    """Store the bytes of a bot in the folder of a league, unless it is known by its spec.

    Returns its spec in the league, and its identity. A program is built; `waiting` is called
    regularly meanwhile. Raises InputError for a bot that cannot be read or built.
    """
    spec = parse(bot)
    if is_named(spec.target):
        return bot, identity_of(resolve(bot))
    path = Path(os.path.expanduser(spec.target))
    if spec.params:
        raise InputError(f"bot {bot!r}: write its parameters into the file")
    content = read_submission(path, settings.most_megabytes, waiting)
    name = f"{SOURCES}/{hashlib.sha256(content).hexdigest()}{_ending_of(content)}"
    kept = folder / name
    try:
        if not kept.is_file():
            with replacing(kept) as part:
                part.write_bytes(content)
    except OSError as error:
        raise ArenaError(f"{kept}: cannot be written: {error.strerror or error}") from None
    text = f"{LABEL}={as_file(kept)}"
    try:
        return name, identity_of(resolve(text))
    except InputError as error:  # the owner does not know the path of the copy
        raise InputError(str(error).removeprefix(f"bot {text!r}: ")) from None


def is_named(target: str) -> bool:
    """Return whether a target is a bot of the arena, or one elsewhere: no file of it is kept."""
    return is_address(target) or target in {name for name, _ in installed()}


def _ending_of(content: bytes) -> str:
    """Return the ending of a stored bot: a .py file, a zip of several, or a program."""
    if not content.startswith(MAGIC):
        return ".py"
    return BUILT if name_of_first(content) == MANIFEST else ZIP


def read_submission(path: Path, megabytes: int, waiting: Callable[[], None]) -> bytes:
    """Read a bot's file, or the archive of a folder or zip, of at most this many megabytes.

    A program is built, and what its build made is in the archive. Raises InputError, which names
    the path, also for a link, a pipe or a device.
    """
    if path.is_symlink():
        raise InputError(f"{path}: a link; submit what it leads to")
    most = megabytes << 20
    if path.is_dir() or path.suffix == ZIP or is_program(path):
        content = read_archived(path, waiting)
        if len(content) > most:
            raise InputError(f"{path}: its files are larger than {megabytes} MB")
        return content
    if path.suffix != ".py":
        raise InputError(
            f"{path}: a bot is a .py file, a folder, a zip, a program's file such as hasty.js, or "
            f"the name of one in bots/"
        )
    with naming(path):
        return read_file(path, min(most, MOST_SOURCE), links=False)


def as_file(path: Path) -> str:
    """Return the spec of a file that cannot be read as a label or a command.

    >>> as_file(Path("year=2026/bots/mine.py")), as_file(Path("/srv/mine.py"))
    ('./year=2026/bots/mine.py', '/srv/mine.py')
    """
    return os.path.join(os.curdir, path)


def identity_of(entry: Entry) -> str:
    """Return the hash of a bot's source and of its parameters, if it has any."""
    if not entry.params:
        return entry.sha256
    params = json.dumps(entry.params, sort_keys=True)
    return hashlib.sha256(f"{entry.sha256} {params}".encode()).hexdigest()


def find_entry(folder: Path, version: Version, settings: Settings) -> Entry:
    """Return the entry of a version; raises InputError if its source has changed.

    Its spec is relative to the league's folder, so that a league can be moved. Raises Unreachable,
    whose text begins with its label, for a bot that lives elsewhere and cannot be asked, or is
    another one now, and for one whose file was deleted.
    """
    is_file = version.spec.startswith(f"{SOURCES}/")
    spec = as_file(folder / version.spec) if is_file else version.spec
    try:
        entry = resolve(spec, version.label, lane=settings.lane if is_file else None)
        if identity_of(entry) != version.sha256:
            why = "is not what was submitted; its games would be another bot's"
            raise InputError(f"{spec} {why}")
    except InputError as error:
        is_away = is_address(spec) or (is_file and not os.path.lexists(spec))
        kind = Unreachable if is_away else InputError
        raise kind(f"{version.label}: {error}") from None
    if is_file:
        filename = entry.filename and f"{version.name}.py"
        entry = replace(entry, target=f"./{version.spec}", filename=filename)
    return entry
