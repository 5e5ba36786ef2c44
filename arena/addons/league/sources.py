"""Keep the bytes that are handed in: uploads until their turn, and bots for ever by their hash.

A submitted file is read once. The bytes read are stored under their hash, and these are checked and
played, so a later change of the file has no effect.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from arena.addons.league.league_settings import Settings, make_folder
from arena.addons.league.post import Post, Upload
from arena.entries.archive import MAGIC, name_of_first
from arena.entries.entry import Entry
from arena.entries.file import MOST_SOURCE, read_file, replacing
from arena.entries.layout import remove_tree
from arena.entries.program import BUILT, MANIFEST, ZIP, is_program
from arena.entries.resolve import installed, read_archived, resolve
from arena.entries.spec import is_address, parse
from arena.entries.syntax import open_zip
from arena.errors import ArenaError, InputError, naming

SOURCES: Final = "bots"
"""The folder of the submitted files, in the league's folder."""

LABEL: Final = "submitted"
_WEB: Final = "web"
_DESK: Final = "desk"  # begins the name of the folder of an upload while it is submitted
_OLD: Final = 3600.0  # seconds after which bytes that nobody needs are removed


class Taken(NamedTuple):
    """A bot that was read: its spec in the league, and its identity."""

    spec: str
    sha256: str


def take(folder: Path, bot: str, settings: Settings, waiting: Callable[[], None]) -> Taken:
    """Store the bytes of a bot in the folder of a league, unless it is known by its spec.

    A program is built; `waiting` is called regularly meanwhile. Raises InputError for a bot that
    cannot be read or built.
    """
    spec = parse(bot)
    if spec.target in {name for name, _ in installed()}:
        return Taken(bot, identity_of(resolve(bot)))
    if is_address(spec.target):
        entry = resolve(bot)
        return Taken(entry.spec, identity_of(entry))
    path = Path(os.path.expanduser(spec.target))
    if spec.params:
        raise InputError(f"bot {bot!r}: write its parameters into the file")
    content = read_submission(path, settings.most_megabytes, waiting)
    name = f"{SOURCES}/{hashlib.sha256(content).hexdigest()}{_ending_of(content)}"
    kept = folder / name
    try:
        kept.parent.mkdir(exist_ok=True)
        if not kept.is_file():
            with replacing(kept) as part:
                part.write_bytes(content)
    except OSError as error:
        raise ArenaError(f"{kept}: cannot be written: {error.strerror or error}") from None
    text = f"{LABEL}={as_file(kept)}"
    try:
        return Taken(name, identity_of(resolve(text)))
    except InputError as error:  # the owner does not know the path of the copy
        raise InputError(str(error).removeprefix(f"bot {text!r}: ")) from None


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


def open_web(league: Path) -> Path:
    """Return a league's folder of uploads, which only this user enters; raises InputError."""
    return make_folder(league / _WEB)


def store(folder: Path, id: int, content: bytes) -> None:
    """Store the bytes of an upload, to last also if the machine stops; raises ArenaError."""
    place = folder / str(id)
    try:
        with replacing(place) as part, part.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise ArenaError(f"{place}: cannot be written: {error.strerror or error}") from None


def lay_out(folder: Path, upload: Upload) -> str:
    """Return the spec of a file or folder with what was uploaded, in a folder of its own.

    Raises InputError for a hostile zip, and ArenaError if nothing can be written.
    """
    content = read_file(folder / str(upload.id), upload.size, links=False)
    files = open_zip(content) if upload.ending == ZIP else {"": content}
    desk = _desk_of(folder, upload)
    top = desk / (upload.name if upload.ending == ZIP else f"{upload.name}{upload.ending}")
    try:
        clear_desk(folder, upload)
        desk.mkdir(mode=0o700)
        for name, data in files.items():
            place = top / name
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("xb") as file:
                file.write(data)
            place.chmod(0o644)
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        raise InputError("the zip has a name that is of a file and of a folder") from None
    except OSError as error:
        raise ArenaError(f"{desk}: cannot be written: {error.strerror or error}") from None
    return as_file(top)


def _desk_of(folder: Path, upload: Upload) -> Path:
    return folder / f"{_DESK}-{upload.id}"


def clear_desk(folder: Path, upload: Upload) -> None:
    """Remove what `lay_out` has written for an upload."""
    remove_tree(_desk_of(folder, upload))


def clear_web(folder: Path, post: Post) -> None:
    """Remove what a killed process has left, and no upload needs any more."""
    for item in folder.iterdir():
        with suppress(OSError):
            is_old = time.time() - item.lstat().st_mtime > _OLD
            is_open = item.name.isdecimal() and post.is_open(int(item.name))
            if item.name.startswith(_DESK) or (is_old and not is_open and item.is_file()):
                remove_tree(item)


def without_path(message: str, folder: Path, upload: Upload) -> str:
    """Return a message for an owner, who does not know the folder in which the upload lay."""
    desk = _desk_of(folder, upload)
    for place in (as_file(desk), str(desk.absolute()), str(desk)):
        message = message.replace(f"{place}/", "")
    return message
