"""Take the submissions that lie in the inbox of a league: NAME.py, or a folder NAME.

What is taken is first moved to a folder of the league's own, in one step. So a killed process loses
nothing: what lies there is submitted when the next one begins, and counts once.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Final

from arena.errors import ArenaError, InputError, escape
from arena.lanes.cleanup import remove_tree
from arena.leagues.league import League
from arena.leagues.ledger import Refusal
from arena.leagues.submission import Refused, TooMany, Unchanged, as_file

INBOX: Final = "inbox"
TAKEN: Final = "taken"

_SETTLED = 2.0  # seconds for which a file has not changed: whoever writes it has done
_UNFINISHED = (".part", ".tmp", ".swp", "~")
_MOST_LOOKED_AT = 1000  # files and folders of a folder
_MOST_NAME = 60
_LONGEST = 60.0  # seconds, after which no more is taken before the next round


def take_all(
    league: League, tell: Callable[[str], object], settled: float = _SETTLED
) -> Iterator[str]:
    """Submit what lies there, and yield the name of each bot that was accepted or refused.

    `tell` gets a line for each. What has changed in the last `settled` seconds stays, and so does
    what is over the limit of the day, and what would keep the league from playing for long.
    """
    inbox, taken = _make(league.folder / INBOX), _make(league.folder / TAKEN, mode=0o700)
    end = time.monotonic() + _LONGEST
    for item in _list(taken):
        yield _submit(league, item, tell, since=_time_of(item))
    for item in _list(inbox):
        if time.monotonic() > end:
            break
        place = taken / item.name
        if os.path.lexists(place):
            continue  # one of the same name waits, for a disk with room, say
        if _is_settled(item, settled) and _may_come(league, name_of(item)):
            try:
                os.rename(item, place)
            except OSError as error:
                tell(f"{escape(str(item))}: cannot be taken: {error.strerror or error}")
                continue
            yield _submit(league, place, tell)


def _make(folder: Path, mode: int = 0o777) -> Path:
    """Make a folder of the league if it is not there; raises InputError."""
    try:
        folder.mkdir(mode, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be a folder: {error.strerror or error}") from None
    return folder


def _time_of(item: Path) -> str:
    """Return when an item was taken: a file that is renamed is changed."""
    changed = int(item.lstat().st_ctime)
    return datetime.fromtimestamp(changed, UTC).isoformat(timespec="seconds")


def _list(folder: Path) -> list[Path]:
    """Return what is finished in a folder, the oldest first, and then in order of names."""
    found = []
    for item in folder.iterdir():
        if item.name.startswith(".") or item.name.endswith(_UNFINISHED):
            continue
        with suppress(OSError):
            found.append((item.lstat().st_mtime_ns, os.fsencode(item.name), item))
    return [item for *_, item in sorted(found)]


def _is_settled(item: Path, seconds: float) -> bool:
    """Return whether neither a file nor what lies in a folder has changed for some seconds."""
    newest, looked_at, waiting = 0.0, 0, [os.fspath(item)]
    while waiting and looked_at < _MOST_LOOKED_AT:
        place = waiting.pop()
        looked_at += 1
        with suppress(OSError):  # deeper than paths go, or removed meanwhile
            status = os.lstat(place)
            newest = max(newest, status.st_mtime)
            if stat.S_ISDIR(status.st_mode):
                with os.scandir(place) as items:
                    waiting += [below.path for below in islice(items, _MOST_LOOKED_AT)]
    now = time.time()
    return newest > now + 1 or now - newest >= seconds  # a clock of the future never settles


def name_of(item: Path) -> str:
    """Return the name under which a file or folder is submitted."""
    return item.name.removesuffix(".py")


def _may_come(league: League, name: str) -> bool:
    """Return whether the owner of a name may submit today; a wrong name is nobody's."""
    try:
        league.desk.check_right(name)
    except TooMany:
        return False
    except Refused:
        return True  # it is kept, and its owner is told why
    except InputError:
        return league.desk.has_right("")
    return True


def _submit(league: League, place: Path, tell: Callable[[str], object], *, since: str = "") -> str:
    """Submit what was taken, remove it, and return its name.

    It was taken at the time `since` by a process that was killed, if there is one.
    """
    name = name_of(place)
    try:
        version = league.desk.submit(as_file(place), name, since=since, resent=True)
        tell(f"accepted: {version.title}, by {version.owner}")
        for copy in league.desk.find_copies(version):
            tell(f"warning: but for comments {version.title} is the same as {copy.title}")
    except Unchanged as error:  # a folder that is copied whole, again
        tell(f"left out: {escape(name)[:_MOST_NAME]}: {error}")
    except Refused as error:
        tell(f"refused: {escape(name)[:_MOST_NAME]}: {error}")
    except TooMany:
        return name  # it stays until tomorrow
    except InputError as error:  # of a name that no bot can have
        shown = escape(name)[:_MOST_NAME]
        known = "name = ? AND owner = '' AND at >= ?"
        if not since or not league.ledger.refusals(known, shown, since):
            at = league.now().isoformat(timespec="seconds")
            with league.ledger.changing():
                league.ledger.refuse(Refusal(0, shown, "", "", str(error), at))
        tell(f"refused: {shown}: {error}")
    except ArenaError as error:  # a full disk, say: it is tried again
        tell(f"not yet taken: {escape(name)[:_MOST_NAME]}: {error}")
        return name
    remove_tree(place)
    return name
