"""Copy the files of a bot into a folder from which it runs, and detect changes there."""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
import shutil
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from weakref import WeakValueDictionary

from arena.errors import Exhausted, blaming_machine
from arena.processes import FOLDER_VARIABLE, run_program

_NAME = "files-"  # prefix of the name of a folder with a bot's files
_CACHE = "__pycache__"
_READ, _EXECUTE = 0o444, 0o555
_MOST_TOLD = 3  # names of changed files in a message


class Layout:
    """A copy of a bot's files in a folder that nobody should change.

    `read` returns the files by name. With `programs`, each is executable.
    """

    def __init__(
        self,
        folder: Path,
        label: str,
        read: Callable[[], Mapping[str, bytes]],
        *,
        programs: bool = False,
    ) -> None:
        self.folder = folder
        self.label = label
        self.read = read
        self.mode = _EXECUTE if programs else _READ
        self._states: dict[str, tuple[int, ...]] = {}
        self._renewing = threading.Lock()

    def renew(self) -> None:
        """Copy the files, unless the copy exists and is unchanged; log the changes.

        Raises ImportError for a name that no file can have, and Exhausted if the disk is full.
        """
        with self._renewing:
            if self._states and not self._has_changed():
                return
            remove_tree(self.folder)
            try:
                with blaming_machine(f"the files of {self.label} cannot be laid out"):
                    self._write(self.read())
            except OSError as error:
                raise ImportError(f"the bot's files cannot be laid out: {error.strerror}") from None
            self._states = dict(_look(self.folder))

    def _write(self, files: Mapping[str, bytes]) -> None:
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod(self.mode)
        for place, _, _ in os.walk(self.folder, topdown=False):
            os.chmod(place, _EXECUTE)

    def _has_changed(self) -> bool:
        """Return whether the copy was changed, and log the changes."""
        now = dict(_look(self.folder))
        both = self._states | now
        changed = sorted(name for name in both if self._states.get(name) != now.get(name))
        if changed:
            shown = ", ".join(name or "its folder" for name in changed[:_MOST_TOLD])
            more = ", ..." if len(changed) > _MOST_TOLD else ""
            what = "its files were changed while it played, and are laid out again"
            logging.getLogger("arena").warning("%s: %s: %s%s", self.label, what, shown, more)
        return bool(changed)


_layouts: WeakValueDictionary[Path, Layout] = WeakValueDictionary()


def shared(layout: Layout, identity: object) -> Layout:
    """Return this process's existing layout of the same files in this folder, else `layout`.

    Files with equal `identity` are the same.
    """
    digest = hashlib.sha256(repr(identity).encode()).hexdigest()
    layout.folder = layout.folder.absolute() / f"{_NAME}{digest[:16]}"
    return _layouts.setdefault(layout.folder, layout)


def renew_all() -> None:
    """Check all copies of this process, and restore those that were changed.

    Nothing is made in the folder of a run that has ended.
    """
    for layout in [*_layouts.values()]:
        if layout.folder.parent.exists():
            with suppress(ImportError, Exhausted):  # its next process reports it
                layout.renew()


@cache
def own_folder() -> Path:
    """Return the folder for the files of bots that this process loads itself.

    That is the worker's folder; in any other program, a folder that is removed when it ends.
    """
    if os.environ.get(FOLDER_VARIABLE) == tempfile.gettempdir():
        return Path(tempfile.gettempdir())
    folder = Path(tempfile.mkdtemp(prefix="noir-arena-"))
    atexit.register(_remove_own, folder, os.getpid())
    return folder


def _remove_own(folder: Path, process: int) -> None:
    if os.getpid() == process:  # not in a fork
        remove_tree(folder)


def remove_tree(path: Path) -> None:
    """Remove a file, or a folder with its contents, however deeply a bot has nested it.

    It works if a bot has removed the permissions. Links are not followed, and pipes are not opened.
    """
    with suppress(OSError):
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            os.unlink(path)
            return
    folders = [os.fspath(path)]
    while folders:
        with suppress(OSError):
            folder = folders.pop()
            os.chmod(folder, stat.S_IRWXU)
            with os.scandir(folder) as items:
                folders += [item.path for item in items if item.is_dir(follow_symlinks=False)]
    with suppress(RecursionError):
        shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):  # a file, or nested too deeply for Python
        if path.exists():
            run_program("rm", "-rf", "--", str(path), seconds=None)


def _look(folder: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield files and folders by name, with the metadata by which changes are detected."""
    waiting = [""]
    while waiting:
        place = waiting.pop()
        with suppress(OSError):
            status = os.lstat(folder / place)
            is_folder = stat.S_ISDIR(status.st_mode)
            yield place, (status.st_mode, status.st_ino, 0 if is_folder else status.st_ctime_ns)
            if is_folder:
                names = (name for name in os.listdir(folder / place) if name != _CACHE)
                waiting += [f"{place}/{name}" if place else name for name in names]
