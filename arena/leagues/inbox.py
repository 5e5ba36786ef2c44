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
from itertools import islice
from pathlib import Path
from typing import Final

from arena.errors import ArenaError, InputError, escape
from arena.lanes.cleanup import remove_tree
from arena.leagues.league import League
from arena.leagues.ledger import Refusal
from arena.leagues.submission import Refused, TooMany

INBOX: Final = "inbox"
TAKEN: Final = "taken"

_SETTLED = 2.0  # seconds for which a file has not changed: whoever writes it has done
_UNFINISHED = (".part", ".tmp", ".swp", "~")
_MOST_LOOKED_AT = 1000  # files of a folder
_MOST_NAME = 60


def take_all(
    league: League, tell: Callable[[str], object], settled: float = _SETTLED
) -> Iterator[str]:
    """Submit what lies there, and yield the name of each bot that was accepted or refused.

    `tell` gets a line for each. What has changed in the last `settled` seconds stays, and so does
    what is over the limit of the day.
    """
    inbox, taken = (league.folder / name for name in (INBOX, TAKEN))
    for folder in (inbox, taken):
        folder.mkdir(exist_ok=True)
    for item in _list(taken):
        yield _submit(league, item, tell, again=True)
    for item in _list(inbox):
        if _is_settled(item, settled) and _may_come(league, _name_of(item)):
            place = taken / item.name
            try:
                os.rename(item, place)
            except OSError as error:
                tell(f"{escape(str(item))}: cannot be taken: {error.strerror or error}")
                continue
            yield _submit(league, place, tell)


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
    newest = 0.0
    with suppress(OSError):
        status = item.lstat()
        newest = status.st_mtime
        if stat.S_ISDIR(status.st_mode):
            for below in islice(item.rglob("*"), _MOST_LOOKED_AT):
                newest = max(newest, below.lstat().st_mtime)
    now = time.time()
    return newest > now + 1 or now - newest >= seconds  # a clock of the future never settles


def _name_of(item: Path) -> str:
    return item.name.removesuffix(".py")


def _may_come(league: League, name: str) -> bool:
    """Return whether the owner of a name may submit today."""
    try:
        league.desk.check_right(name)
    except TooMany:
        return False
    except InputError:
        return True  # it is refused, and its owner is told why
    return True


def _submit(
    league: League, place: Path, tell: Callable[[str], object], *, again: bool = False
) -> str:
    """Submit what was taken, remove it, and return its name."""
    name = _name_of(place)
    try:
        version = league.desk.submit(str(place), name, again=again)
        tell(f"accepted: {version.title}, by {version.owner}")
        for copy in league.desk.find_copies(version):
            tell(f"warning: but for comments {version.title} is the same as {copy.title}")
    except Refused as error:
        tell(f"refused: {escape(name)[:_MOST_NAME]}: {error}")
    except TooMany:
        return name  # it stays until tomorrow
    except InputError as error:  # of a name that no bot can have
        shown = escape(name)[:_MOST_NAME]
        why = str(error)
        with league.ledger.changing():
            league.ledger.refuse(Refusal(0, shown, "", "", why, league.now().isoformat()))
        tell(f"refused: {shown}: {why}")
    except ArenaError as error:  # a full disk, say: it is tried again
        tell(f"not yet taken: {escape(name)[:_MOST_NAME]}: {error}")
        return name
    remove_tree(place)
    return name
