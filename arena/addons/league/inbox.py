"""Take the submissions in the inbox of a league, and play the league until it is stopped."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Final

from arena.addons.league.league import League
from arena.addons.league.league_site import write_site
from arena.addons.league.league_tables import Refusal
from arena.addons.league.submission import Refused, TooMany, Unchanged, as_file
from arena.entries.file import interpreter_of
from arena.entries.layout import remove_tree
from arena.entries.pack import PACKED
from arena.errors import ArenaError, InputError, escape
from arena.executors.contract import Executor
from arena.executors.log import QUIET

INBOX: Final = "inbox"
TAKEN: Final = "taken"

_SETTLED = 2.0  # seconds without change after which a file counts as complete
_UNFINISHED = (".part", ".tmp", ".swp", "~")
_MOST_LOOKED_AT = 1000  # files and folders examined in a folder
_MOST_NAME = 60
_LONGEST = 60.0  # seconds after which the rest of the inbox waits for the next round


def take_all(
    league: League, tell: Callable[[str], object], settled: float = _SETTLED
) -> Iterator[str]:
    """Submit the bots in the inbox, and yield the name of each that was accepted or refused.

    The callback receives a line for each. Files that changed in the last `settled` seconds stay in
    the inbox; so do those over an owner's daily limit, and the rest once this has taken a minute.
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
            continue  # an earlier one of this name waits, for example for disk space
        if _is_settled(item, settled) and _may_come(league, name_of(item)):
            try:
                os.rename(item, place)
            except OSError as error:
                tell(f"{escape(str(item))}: cannot be taken: {error.strerror or error}")
                continue
            yield _submit(league, place, tell)


def _make(folder: Path, mode: int = 0o777) -> Path:
    """Make a folder of the league if it does not exist; raises InputError."""
    try:
        folder.mkdir(mode, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be a folder: {error.strerror or error}") from None
    return folder


def _time_of(item: Path) -> str:
    """Return the time at which an item was moved here: its ctime, which renaming updates."""
    changed = int(item.lstat().st_ctime)
    return datetime.fromtimestamp(changed, UTC).isoformat(timespec="seconds")


def _list(folder: Path) -> list[Path]:
    """Return the complete, visible items of a folder, the oldest first, and then by name."""
    found = []
    for item in folder.iterdir():
        if item.name.startswith(".") or item.name.endswith(_UNFINISHED):
            continue
        with suppress(OSError):
            found.append((item.lstat().st_mtime_ns, os.fsencode(item.name), item))
    return [item for *_, item in sorted(found)]


def _is_settled(item: Path, seconds: float) -> bool:
    """Return whether a file, or everything in a folder, has not changed for some seconds."""
    newest, looked_at, waiting = 0.0, 0, [os.fspath(item)]
    while waiting and looked_at < _MOST_LOOKED_AT:
        place = waiting.pop()
        looked_at += 1
        with suppress(OSError):  # a path that is too long, or was removed meanwhile
            status = os.lstat(place)
            newest = max(newest, status.st_mtime)
            if stat.S_ISDIR(status.st_mode):
                with os.scandir(place) as items:
                    waiting += [below.path for below in islice(items, _MOST_LOOKED_AT)]
    now = time.time()
    return newest > now + 1 or now - newest >= seconds  # a future time counts as settled


def name_of(item: Path) -> str:
    """Return the bot's name for a submitted file or folder.

    >>> name_of(Path("hasty.js")), name_of(Path("mine.py")), name_of(Path("ann-2.1"))
    ('hasty', 'mine', 'ann-2.1')
    """
    is_known = item.suffix in (".py", PACKED) or interpreter_of(item.name)
    return item.stem if is_known else item.name


def _may_come(league: League, name: str) -> bool:
    """Return whether the owner of a name may submit today; an invalid name has no owner."""
    try:
        league.desk.check_right(name)
    except TooMany:
        return False
    except Refused:
        return True  # the refusal is recorded with its reason for the owner
    except InputError:
        return league.desk.has_right("")
    return True


def _submit(league: League, place: Path, tell: Callable[[str], object], *, since: str = "") -> str:
    """Submit an item that was moved from the inbox, remove it, and return its name.

    `since` is the time at which a killed process moved it, empty otherwise.
    """
    name = name_of(place)
    try:
        version = league.desk.submit(as_file(place), name, since=since, resent=True)
        tell(f"accepted: {version.title}, by {version.owner}")
        for copy in league.desk.find_copies(version):
            tell(f"warning: but for comments {version.title} is the same as {copy.title}")
    except Unchanged as error:  # for example, a whole folder was copied again
        tell(f"left out: {escape(name)[:_MOST_NAME]}: {error}")
    except Refused as error:
        tell(f"refused: {escape(name)[:_MOST_NAME]}: {error}")
    except TooMany:
        return name  # it stays until tomorrow
    except InputError as error:  # an invalid name
        shown = escape(name)[:_MOST_NAME]
        known = "name = ? AND owner = '' AND at >= ?"
        if not since or not league.ledger.refusals(known, shown, since):
            at = league.now().isoformat(timespec="seconds")
            with league.ledger.changing():
                league.ledger.refuse(Refusal(0, shown, "", "", str(error), at))
        tell(f"refused: {shown}: {error}")
    except ArenaError as error:  # for example a full disk: it is tried again
        tell(f"not yet taken: {escape(name)[:_MOST_NAME]}: {error}")
        return name
    remove_tree(place)
    return name


_PAUSE = 1.0  # seconds between two checks of the inbox while no game can be played


def serve(
    league: League,
    executor: Executor,
    tell: Callable[[str], object],
    *,
    rests: bool = False,
    rounds: int | None = None,
) -> None:
    """Play until the process is stopped, or for a number of `rounds`.

    The callback receives a line for each event. With `rests`, no round is played while all ratings
    are within the target. Call it inside `League.playing`.
    """
    names = _of_last_round(league)
    while rounds is None or rounds > 0:
        names = {*names, *take_all(league, tell)}
        result = None
        if not (rests and league.number and league.is_precise()):
            result = league.play_round(executor, shown=QUIET)
        if result:
            tell(f"round {result.number:,}: {2 * result.pairs:,} games")
            for name in result.suspended:
                tell(f"suspended: {name}")
            names = {*names, *_of_last_round(league), *result.suspended}
        if result or names:
            write_site(league, _known(league, names))
            names = set()
        if not result:
            time.sleep(_PAUSE)
        rounds = None if rounds is None else rounds - 1


def _of_last_round(league: League) -> set[str]:
    """Return the names that played in the last finished round."""
    if not league.number:
        return set()
    return {name for meeting in league.ledger.plan(league.number).meetings for name in meeting[:2]}


def _known(league: League, names: Iterable[str]) -> list[str]:
    """Return the names that have a version, sorted."""
    there = {version.name for version in league.ledger.versions()}
    return sorted(there & {*names})
