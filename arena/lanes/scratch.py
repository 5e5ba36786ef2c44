"""Make and remove the temporary folders of runs and of their bots' processes.

Only what the arena has made is removed: a folder with a marker, which no living process has
locked. Nothing is known by its name alone.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from arena.errors import ArenaError, require_posix
from arena.lanes.cgroup import RUN, groups_of_run
from arena.lanes.cleanup import remove_folder, remove_tree, signals_held
from arena.lanes.users import IS_ROOT


def lock_file(path: Path) -> int:
    """Return a descriptor that locks a file or folder until it is closed.

    Raises BlockingIOError if it is locked, OSError where the file system has no locks, and
    InputError where the system has none.
    """
    require_posix(f"a lock of {path}")
    import fcntl

    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


MARKER: Final = "made-by-district-noir-arena"
"""The file by which the arena knows its folders; a run locks that in its own."""

BOT: Final = "bot"
"""The folder of a process in a run's folder that has only one: it is emptied, the marker stays."""

_PRIVATE = 0o700
_ACCESS = 0o777  # what of a mode says who may enter a folder
_TEXT = "District Noir Arena uses this folder, and removes it.\n"
_NEW = "new-"  # begins the name of a folder that is not locked yet; nobody removes it
_MOST_HOMES = 100  # names that are tried: others may have taken some
_MOST_TRIES = 100  # the home may be removed by a run that ends


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield a new folder; at the end remove it, and kill every process started for it.

    The folder is locked as long as this process lives. The folders of killed runs are not
    locked any more; they are removed first. Raises ArenaError where there can be no folder. A
    signal that ends the program leaves nothing, whenever it comes.
    """
    require_posix("workers and processes of bots")
    made: list[tuple[Path, int]] = []
    try:
        try:
            with signals_held():
                made.append(_make_folder())
            folder = made[0][0]
            _remove_killed(folder.parent)
            with groups_of_run(folder.name):
                yield folder
        finally:
            _remove_made(made)
    finally:  # a signal came here before it was held
        _remove_made(made)


def _remove_made(made: list[tuple[Path, int]]) -> None:
    with signals_held():
        while made:
            folder, lock = made.pop()
            remove_scratch(folder)
            os.close(lock)


def remove_scratch(folder: Path) -> None:
    """Remove the folder of a run that has ended, and kill every process started for it."""
    remove_folder(folder)
    _remove_home(folder.parent)


def _make_folder() -> tuple[Path, int]:
    """Return a new folder and its lock.

    It gets its name after it has been locked, so that no other run takes it for that of a
    killed one.
    """
    for _ in range(_MOST_TRIES):
        home = _find_home()
        with suppress(FileNotFoundError):  # a run that ended has removed the home
            new = Path(tempfile.mkdtemp(prefix=_NEW, dir=home))
            (new / MARKER).write_text(_TEXT)
            try:
                lock = _lock(new)
            except ArenaError:
                remove_scratch(new)
                raise
            folder = new.rename(home / f"{RUN}{new.name.removeprefix(_NEW)}")
            return folder, lock
    raise ArenaError(f"temporary folder {tempfile.gettempdir()}: what is made in it disappears")


def _find_home() -> Path:
    """Return the folder of this user's runs.

    A name that something else has is left alone: a link, a file, a folder without a marker or of
    another user, or one that others may enter.
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
    """Remove the folder of this user's runs if there is none in it."""
    with suppress(OSError):
        if _is_ours(home) and len([*home.iterdir()]) == 1:
            (home / MARKER).unlink()
            try:
                home.rmdir()
            except OSError:  # a run has begun meanwhile
                (home / MARKER).write_text(_TEXT)


def _is_ours(folder: Path) -> bool:
    """Return whether the arena has made a folder for this user, and nobody else may enter it."""
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
        with suppress(OSError, ArenaError):  # a living run's, or just removed
            if _is_ours(folder):
                lock = _lock(folder)
                try:
                    remove_folder(folder)
                finally:
                    os.close(lock)


def _lock(folder: Path) -> int:
    """Return the lock of a folder; raises BlockingIOError if another process has it."""
    try:
        return lock_file(folder / MARKER)
    except (BlockingIOError, FileNotFoundError):
        raise
    except OSError as error:
        reason = f"its file system has no locks ({error.strerror})"
        advice = "set TMPDIR to a folder on a local disk"
        raise ArenaError(f"temporary folder {tempfile.gettempdir()}: {reason}; {advice}") from None


def hiding(folder: Path, files: Path | None = None) -> tuple[str, ...]:
    """Return the arguments with which bubblewrap hides the folders of all runs but this one.

    The `files` of the bot cannot be written. Root could take away what hides them, and so loses
    the right to.
    """
    own = folder.resolve()
    shown = ("--ro-bind", str(files), str(files)) if files and files.is_dir() else ()
    home = next((path.parent for path in (own, *own.parents) if path.name.startswith(RUN)), None)
    if home is None:  # not of a run
        return shown
    words = ("--tmpfs", str(home), "--bind", str(own), str(own), *shown, "--remount-ro", str(home))
    return (*words, "--cap-drop", "CAP_SYS_ADMIN") if IS_ROOT else words


def empty_folder(path: Path) -> None:
    """Make a folder that is empty, also where a bot has put something else in its place."""
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        path.unlink()
    path.mkdir(parents=True, exist_ok=True)
    for item in path.iterdir():
        remove_tree(item)
