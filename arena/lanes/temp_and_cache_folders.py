"""The temporary folders of runs and of their bots' processes, and this user's cache folder.

Only folders that the arena has made are removed: they contain a marker, and no living process
holds their lock. A matching name is not enough.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from arena.entries.layout import remove_tree
from arena.errors import ArenaError, InputError, require_posix, writing
from arena.files import replacing
from arena.lanes.jail_support import IS_ROOT
from arena.processes import signals_held, sweep

T = TypeVar("T")

_LOCAL = "a TMPDIR on a local disk"


def lock_file(path: Path, *, wait: bool = False, other: str = _LOCAL) -> int:
    """Lock a file or folder; return a descriptor whose closing releases the lock.

    Raises BlockingIOError if it is locked already, unless it is to `wait`; ArenaError, which says
    to choose the `other` place, if the file system does not support locks, and InputError if the
    operating system does not.
    """
    require_posix(f"a lock of {path}")
    import fcntl

    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        os.close(descriptor)
        if isinstance(error, BlockingIOError):
            raise
        reason = f"its file system has no locks ({error.strerror})"
        raise ArenaError(f"{path}: {reason}; choose {other}") from None
    return descriptor


@contextmanager
def lock_folder(path: Path, busy: str, other: str) -> Iterator[None]:
    """Lock a folder; the lock ends with the block, or with the process, however that ends.

    Raises InputError, which says that it is `busy`, if it is locked already, and what `lock_file`
    raises.
    """
    try:
        descriptor = lock_file(path, other=other)
    except BlockingIOError:
        raise InputError(f"{path}: {busy}") from None
    try:
        yield
    finally:
        os.close(descriptor)


RUN: Final = "run-"
"""The prefix of the names of runs' folders."""

MARKER: Final = "made-by-district-noir-arena"
"""The file that marks a folder as the arena's; a run locks the one in its folder."""

BOT: Final = "bot"
"""The folder of a run's only process, inside the run's folder, which holds the marker."""

_PRIVATE = 0o700
_ACCESS = 0o777  # the permission bits of a folder's mode
_TEXT = "District Noir Arena uses this folder, and removes it.\n"
_NEW = "new-"  # prefix of a folder that is not locked yet; no run removes it
_MOST_HOMES = 100  # names to try: other programs may use some
_MOST_TRIES = 100  # a run that ends may remove the home meanwhile


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield a new temporary folder; at the end kill every process started for it and remove it.

    The folder is locked as long as this process lives. First, unlocked folders are removed: they
    belong to killed runs. A signal that ends the program leaves no folder behind, whenever it
    arrives. Raises ArenaError if no folder can be made.
    """
    require_posix("workers and processes of bots")
    made: list[tuple[Path, int]] = []
    try:
        try:
            with signals_held():
                made.append(_make_folder())
            folder = made[0][0]
            _remove_killed(folder.parent)
            yield folder
        finally:
            _remove_made(made)
    finally:  # also if a signal arrived before it was deferred
        _remove_made(made)


def _remove_made(made: list[tuple[Path, int]]) -> None:
    with signals_held():
        while made:
            folder, lock = made.pop()
            remove_scratch(folder)
            os.close(lock)


def remove_scratch(folder: Path) -> None:
    """Kill every process that was started for an ended run, and remove the run's folder."""
    remove_folder(folder)
    _remove_home(folder.parent)


def remove_folder(folder: Path) -> None:
    """Remove a folder, and kill every process that was started for it."""
    sweep(folder)
    remove_tree(folder)


def _make_folder() -> tuple[Path, int]:
    """Return a new folder and its lock.

    It gets its final name after it was locked, so that no other run takes it for the folder of a
    killed run.
    """
    for _ in range(_MOST_TRIES):
        home = _find_home()
        with suppress(FileNotFoundError):  # an ending run has removed the home
            new = Path(tempfile.mkdtemp(prefix=_NEW, dir=home))
            with writing(new / MARKER):
                (new / MARKER).write_text(_TEXT)
            try:
                lock = lock_file(new / MARKER)
            except ArenaError:
                remove_scratch(new)
                raise
            folder = new.rename(home / f"{RUN}{new.name.removeprefix(_NEW)}")
            return folder, lock
    raise ArenaError(f"temporary folder {tempfile.gettempdir()}: what is made in it disappears")


def _find_home() -> Path:
    """Return the folder that holds all runs of this user.

    A name is skipped if it belongs to something else: a link, a file, or a folder that has no
    marker, belongs to another user, or may be entered by others.
    """
    place = Path(tempfile.gettempdir())
    for number in range(_MOST_HOMES):
        home = place / f"noir-arena-{os.geteuid()}{f'.{number}' if number else ''}"
        try:
            home.mkdir(_PRIVATE)
            (home / MARKER).write_text(_TEXT)
        except FileExistsError:
            if not _is_ours(home):
                continue
        except OSError as error:
            raise ArenaError(f"temporary folder {place}: {error.strerror}") from None
        return home
    raise ArenaError(f"temporary folder {place}: {home} and the names before it are taken")


def _remove_home(home: Path) -> None:
    """Remove the folder of this user's runs if it contains no run."""
    with suppress(OSError):
        if _is_ours(home) and len([*home.iterdir()]) == 1:
            (home / MARKER).unlink()
            try:
                home.rmdir()
            except OSError:  # a run has begun meanwhile
                (home / MARKER).write_text(_TEXT)


def _is_ours(folder: Path) -> bool:
    """Return whether the arena made a folder for this user and no other user may enter it."""
    try:
        status, marker = folder.lstat(), (folder / MARKER).lstat()
    except OSError:
        return False
    is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == marker.st_uid == os.geteuid()
    is_private = status.st_mode & _ACCESS == _PRIVATE
    return is_own and is_private and stat.S_ISREG(marker.st_mode)


def _remove_killed(home: Path) -> None:
    """Remove the folders of runs that were killed."""
    for folder in home.glob(f"{RUN}*"):
        with suppress(OSError, ArenaError):  # it belongs to a living run, or was just removed
            if _is_ours(folder):
                lock = lock_file(folder / MARKER)
                try:
                    remove_folder(folder)
                finally:
                    os.close(lock)


def base_of(folder: Path) -> Path:
    """Return the folder of the run to which a folder belongs, else the one that holds it."""
    own = folder.absolute()
    runs = (path for path in (own, *own.parents) if path.name.startswith(RUN))
    return next(runs, own.parent)


def once(record: Path, find: Callable[[], T], kind: Any) -> T:
    """Return what `find` has returned to the first process of a run that asked for it.

    `record` is a file in the run's folder that keeps it, of a `kind` that msgspec decodes.
    """
    if not record.exists():
        lock = lock_file(record.parent, wait=True)
        try:
            if not record.exists():
                with replacing(record) as part:
                    part.write_bytes(msgspec.json.encode(find()))
        finally:
            os.close(lock)
    found: T = msgspec.json.decode(record.read_bytes(), type=kind)
    return found


def hiding(folder: Path, files: Path | None = None) -> tuple[str, ...]:
    """Return the arguments with which bubblewrap hides the folders of all runs but this one.

    The `files` of the bot are read-only. Root could unmount what hides the folders, and therefore
    loses the capability for it.
    """
    own = folder.resolve()
    shown = ("--ro-bind", str(files), str(files)) if files and files.is_dir() else ()
    run = base_of(own)
    if not run.name.startswith(RUN):
        return shown
    words = ("--tmpfs", str(run.parent), "--bind", str(own), str(own), *shown)
    words += ("--remount-ro", str(run.parent))
    return (*words, "--cap-drop", "CAP_SYS_ADMIN") if IS_ROOT else words


def empty_folder(path: Path) -> None:
    """Make an empty folder at this path, removing anything that a bot has put there."""
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        path.unlink()
    path.mkdir(parents=True, exist_ok=True)
    for item in path.iterdir():
        remove_tree(item)


def cache_folder() -> Path:
    """Return this user's cache folder for the arena (XDG Base Directory Specification)."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(named) if named.startswith("/") else Path("~/.cache").expanduser()
    return base / "district-noir-arena"


def own_cache(name: str = "") -> Path:
    """Return this user's cache folder, or one in it, which is made if it is missing.

    Raises OSError or RuntimeError without a home, and InputError for a folder to which another user
    may write, for a link, and on a system where files have no owners.
    """
    folder = cache_folder()
    if not hasattr(os, "geteuid"):
        raise InputError(f"{folder}: files have no owners on {sys.platform}")
    folder.parent.mkdir(exist_ok=True, mode=0o700)
    for place in (folder, folder / name):
        place.mkdir(exist_ok=True, mode=0o700)
        status = place.lstat()
        is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
        if not is_own or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise InputError(f"{place}: not a folder of yours alone")
    return folder / name
