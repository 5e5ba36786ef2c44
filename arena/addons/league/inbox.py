"""Take what lies in the inbox of a league or was uploaded, and play it until it is stopped."""

from __future__ import annotations

import math
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, suppress
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from arena.addons.league.league import League
from arena.addons.league.league_settings import make_folder
from arena.addons.league.league_site import write_site
from arena.addons.league.league_tables import Refusal, check_name
from arena.addons.league.post import ACCEPTED, REFUSED, WAITING, Post, Upload, has_post
from arena.addons.league.sources import (
    as_file,
    clear_desk,
    clear_web,
    lay_out,
    open_web,
    without_path,
)
from arena.addons.league.submission import Refused, TooMany, Unchanged
from arena.addons.league.turns import Submitting, Turns
from arena.entries.file import interpreter_of
from arena.entries.layout import remove_tree
from arena.entries.program import BUILT, ZIP
from arena.errors import ArenaError, Exhausted, InputError, counted, escape
from arena.executors.local import Executor
from arena.executors.log import QUIET

INBOX: Final = "inbox"
TAKEN: Final = "taken"

LONGEST: Final = 60.0
"""Seconds after which the rest of the inbox, or of the queue, waits for the next round."""

_SETTLED = 2.0  # seconds without change after which a file counts as complete
_UNFINISHED = (".part", ".tmp", ".swp", "~")
_MOST_LOOKED_AT = 1000  # files and folders examined in a folder
_MOST_NAME = 60
_NOT_YET, _NO_ROUND = "not yet taken", "no round was played"
_Waiting: TypeAlias = tuple[str, Callable[[], Submitting[str] | None]]


def take_all(
    league: League,
    tell: Callable[[str], object],
    settled: float = _SETTLED,
    *,
    checks: int = 1,
    whole: bool = False,
) -> Iterator[str]:
    """Submit the bots in the inbox and those uploaded, and yield the name of each when it is done.

    The callback receives a line for each. Owners take turns, and so many `checks` run at a time.
    Files that changed in the last `settled` seconds stay in the inbox. What is over an owner's
    daily limit waits, and the rest once this has taken a minute, unless the `whole` is to be taken.
    """
    with ExitStack() as opened:
        waiting = [*_in_inbox(league, tell, settled)]
        if has_post(league.folder):
            post = opened.enter_context(closing(Post(league.folder, league.now)))
            waiting += _in_queue(league, post, tell)
        yield from Turns(checks).submit(waiting, math.inf if whole else LONGEST)


def _in_inbox(league: League, tell: Callable[[str], object], settled: float) -> Iterator[_Waiting]:
    """Yield the owner and the beginning of each submission in the inbox, and of those taken."""
    inbox = make_folder(league.folder / INBOX, 0o777)
    taken = make_folder(league.folder / TAKEN)

    def begin(item: Path) -> Submitting[str] | None:
        if item.parent == taken:
            return _submitting(league, item, tell, since=_time_of(item))
        place = _move(league, item, tell, settled)
        return _submitting(league, place, tell) if place else None

    for item in [*_list(taken), *_list(inbox)]:
        yield _owner_of(league, name_of(item)), partial(begin, item)


def _owner_of(league: League, name: str) -> str:
    """Return whose turn it is with a name: a new one is its own owner, invalid ones share one."""
    try:
        check_name(name)
    except InputError:
        return ""
    return league.desk.find_owner(name) or name


def _move(league: League, item: Path, tell: Callable[[str], object], settled: float) -> Path | None:
    """Move an item out of the inbox, and return its new place; None if it has to wait."""
    place = league.folder / TAKEN / item.name
    if os.path.lexists(place):
        return None  # an earlier one of this name waits, for example for disk space
    if not _is_settled(item, settled) or not _may_come(league, name_of(item)):
        return None
    try:
        os.rename(item, place)
    except OSError as error:
        tell(f"{escape(str(item))}: cannot be taken: {error.strerror or error}")
        return None
    return place


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
    is_known = item.suffix in (".py", BUILT, ZIP) or interpreter_of(item.name)
    return item.stem if is_known else item.name


def _may_come(league: League, name: str, owner: str = "") -> bool:
    """Return whether an owner may submit today, by default the one of the name, if it is valid."""
    try:
        league.desk.check_right(name, owner)
    except TooMany:
        return False
    except Refused:
        return True  # the refusal is recorded with its reason for the owner
    except InputError:
        return league.desk.has_right("")
    return True


def _submitting(
    league: League, place: Path, tell: Callable[[str], object], *, since: str = ""
) -> Submitting[str]:
    """Submit an item that was moved from the inbox, remove it, and return its name.

    `since` is the time at which a killed process moved it, empty otherwise.
    """
    name = name_of(place)
    try:
        version = yield from league.desk.submitting(as_file(place), name, since=since, resent=True)
        tell(f"accepted: {version.title}, by {version.owner}")
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
        _tell_waiting(escape(name)[:_MOST_NAME], error, tell)
        return name
    (yield lambda _: remove_tree(place))()
    return name


def _tell_waiting(name: str, error: ArenaError, tell: Callable[[str], object]) -> None:
    """Tell why a submission waits; what the machine refuses is one line for all of them."""
    of = "" if isinstance(error, Exhausted) else f"{name}: "
    tell(f"{_NOT_YET}: {of}{error}")


def _in_queue(league: League, post: Post, tell: Callable[[str], object]) -> Iterator[_Waiting]:
    """Yield the owner and the beginning of each submission over the web."""
    folder = open_web(league.folder)
    clear_web(folder, post)

    def begin(upload: Upload) -> Submitting[str] | None:
        may_come = upload.state != WAITING or _may_come(league, upload.name, upload.owner)
        return _submitting_upload(league, post, folder, upload, tell) if may_come else None

    for upload in post.queue():
        yield upload.owner, partial(begin, upload)


def count_uploads(folder: Path) -> tuple[int, int]:
    """Return how many uploads of a league wait, and how many of these could not be taken."""
    if not has_post(folder):
        return 0, 0
    with closing(Post(folder)) as post:
        queue = post.queue()
    return len(queue), sum(one.state != WAITING for one in queue)


def _submitting_upload(
    league: League, post: Post, folder: Path, upload: Upload, tell: Callable[[str], object]
) -> Submitting[str]:
    """Submit an upload, store its answer, and return its name."""
    since = post.take(upload)
    try:
        bot = (yield lambda _: lay_out(folder, upload))()
        version = yield from league.desk.submitting(bot, upload.name, upload.owner, since=since)
        state, answer = ACCEPTED, version.title
    except TooMany:
        return upload.name
    except InputError as error:  # also Refused
        state, answer = REFUSED, without_path(str(error), folder, upload)
    except ArenaError as error:  # for example a full disk: it is tried again
        _tell_waiting(upload.name, error, tell)
        return upload.name
    post.answer(upload, state, answer)
    if state == ACCEPTED:
        tell(f"accepted: {version.title}, by {version.owner}")
    else:
        tell(f"refused: {upload.name}: {answer}")
    (folder / str(upload.id)).unlink(missing_ok=True)
    (yield lambda _: clear_desk(folder, upload))()
    return upload.name


_PAUSE = 1.0  # seconds between two checks of the inbox while no game can be played


class Served(NamedTuple):
    """What serving came to: the submissions answered, what still lies there, rounds and games.

    It is unfinished if a submission could not be taken, or no round could be played.
    """

    accepted: int
    refused: int
    waiting: int
    rounds: int
    games: int
    is_unfinished: bool

    @property
    def sentence(self) -> str:
        """The summary in words."""
        files = f"{self.waiting:,} {'waits' if self.waiting == 1 else 'wait'} in the inbox"
        done = f"{self.accepted:,} accepted, {self.refused:,} refused, {files}"
        return f"{done}; {counted(self.rounds, 'round')}, {counted(self.games, 'game')}"


def serve(
    league: League,
    executor: Executor,
    tell: Callable[[str], object],
    *,
    rests: bool = False,
    rounds: int | None = None,
    seconds: float = math.inf,
    checks: int = 1,
    whole: bool = False,
) -> Served:
    """Play until the process is stopped, or for a number of `rounds`, or for some `seconds`.

    The callback receives a line for each event. With `rests`, no round is played while all ratings
    are within the target. So many `checks` run at a time; with `whole`, all of the inbox is taken
    before a round. Call it inside `League.playing`.
    """
    end, tell = time.monotonic() + seconds, _once(tell)
    before, played, games = league.ledger.count_submissions(), 0, 0
    names = _of_last_round(league)
    while (rounds is None or rounds > 0) and time.monotonic() < end:
        names |= {*take_all(league, tell, checks=checks, whole=whole)}
        result = None
        if not (rests and league.number and league.is_precise()):
            try:
                result = league.play_round(executor, shown=QUIET)
            except Exhausted as error:
                tell(f"{_NO_ROUND}: {error}")
        if result:
            played, games = played + 1, games + 2 * result.pairs
            tell(f"round {result.number:,}: {2 * result.pairs:,} games")
            for name in result.suspended:
                tell(f"suspended: {name}")
            names = {*names, *_of_last_round(league), *result.suspended}
        if result or names:
            write_site(league, _known(league, names))
            names = set()
        rounds = None if rounds is None else rounds - 1
        if not result and rounds != 0:
            time.sleep(min(_PAUSE, max(0.0, end - time.monotonic())))
    accepted, refused = (
        now - then for now, then in zip(league.ledger.count_submissions(), before, strict=True)
    )
    stuck = (not rests and not played) or any(
        _may_come(league, name_of(item)) for item in _list(league.folder / TAKEN)
    )
    stuck = stuck or count_uploads(league.folder)[1] > 0
    return Served(accepted, refused, count_waiting(league.folder), played, games, stuck)


def _once(tell: Callable[[str], object]) -> Callable[[str], None]:
    """Return a function that tells each reason why submissions or rounds wait only once."""
    told: set[str] = set()

    def tell_new(line: str) -> None:
        if line not in told:
            tell(line)
        if line.startswith((_NOT_YET, _NO_ROUND)):
            told.add(line)

    return tell_new


def count_waiting(folder: Path) -> int:
    """Return how many submissions lie in the inbox of a league, or in the queue of its web."""
    places = [folder / name for name in (INBOX, TAKEN)]
    files = sum(len(_list(place)) for place in places if place.is_dir())
    return files + count_uploads(folder)[0]


def _of_last_round(league: League) -> set[str]:
    """Return the names that played in the last finished round."""
    if not league.number:
        return set()
    return {name for meeting in league.ledger.plan(league.number).meetings for name in meeting[:2]}


def _known(league: League, names: Iterable[str]) -> list[str]:
    """Return the names that have a version, sorted."""
    there = {version.name for version in league.ledger.versions()}
    return sorted(there & {*names})
