"""Private: the folder of one process of a bot, which the other bots of a run are kept from."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from arena.lanes.cgroup import RUN
from arena.lanes.cleanup import remove_tree
from arena.lanes.users import IS_ROOT


def hiding(folder: Path) -> tuple[str, ...]:
    """Return the arguments with which bubblewrap hides the folders of all runs but this one.

    Root could take away what hides them, and so loses the right to.
    """
    own = folder.resolve()
    home = next((path.parent for path in (own, *own.parents) if path.name.startswith(RUN)), None)
    if home is None:  # not of a run
        return ()
    words = ("--tmpfs", str(home), "--bind", str(own), str(own), "--remount-ro", str(home))
    return (*words, "--cap-drop", "CAP_SYS_ADMIN") if IS_ROOT else words


class PrivateFolder:
    """A folder that is empty whenever a process is started in it.

    Where bots have no namespaces, each of them can change the folders of all.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._state: tuple[int, ...] | None = None

    def renew(self) -> None:
        """Make the folder empty, also where a bot has put something else in its place."""
        state = _look(self.path)
        if state and not stat.S_ISDIR(state[0]):
            self.path.unlink()
        self.path.mkdir(parents=True, exist_ok=True)
        for item in self.path.iterdir():
            with suppress(OSError):
                item.unlink() if item.is_symlink() else remove_tree(item)
        self._state = _look(self.path)

    @property
    def is_touched(self) -> bool:
        """Whether somebody, perhaps the bot itself, has changed what is in it since then."""
        return self._state is not None and self._state != _look(self.path)


def _look(path: Path) -> tuple[int, ...] | None:
    """Return what changes when anything is added to a folder or removed, None if it is gone."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_mode, found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns
