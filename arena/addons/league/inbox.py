"""Take what was handed in to a league, as files in its inbox or over the web, and submit it."""

from __future__ import annotations

import math
import os
import stat
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from arena.addons.league import post
from arena.addons.league.league import League
from arena.addons.league.league_settings import make_folder
from arena.addons.league.league_tables import Refusal, check_name
from arena.addons.league.ledger import NAME, Ledger
from arena.addons.league.sources import as_file
from arena.addons.league.submission import Refused, TooMany, Unchanged, Working
from arena.entries.file import interpreter_of
from arena.entries.layout import remove_tree
from arena.entries.program import BUILT, ZIP
from arena.errors import ArenaError, Exhausted, InputError, blaming_machine, escape

INBOX: Final = "inbox"
TAKEN: Final = "taken"

LONGEST: Final = 60.0
"""Seconds after which the rest of what was handed in waits for the next round."""

NOT_YET: Final = "not yet taken"
"""How the line begins that tells why something waits."""

_PAUSE = 0.1  # seconds
_SETTLED = 2.0  # seconds without change after which a file counts as complete
_PATIENCE = 60.0  # seconds for which an inbox is waited for that somebody writes
_UNFINISHED = (".part", ".tmp", ".swp", "~")
_MOST_LOOKED_AT = 1000  # files and folders examined in a folder
_MOST_NAME = 60
_Item = TypeVar("_Item")


class Sent(NamedTuple):
    """What was handed in: where it lies, its name, and the owner of an upload.

    A killed process may have submitted it at the time `since` or later; empty if none can have.
    """

    place: Path
    name: str
    owner: str = ""
    since: str = ""

    @property
    def title(self) -> str:
        """What it is called in a line."""
        return escape(self.name)[:_MOST_NAME]


def find_waiting(league: Path) -> list[Sent]:
    """Return what waits: what was begun, then what lies in the inbox, then uploads."""
    taken = [
        Sent(item, name_of(item), "", post.time_of(item, moved=True))
        for item in _list(league / TAKEN)
    ]
    lying = [Sent(item, name_of(item)) for item in _list(league / INBOX)]
    uploads = [
        Sent(file, file.name.rpartition(".")[0], owner, post.time_of(file.parent))
        for owner, file in post.find_uploads(league)
    ]
    return [*taken, *lying, *uploads]


def find_queue(league: League) -> list[tuple[str, Sent]]:
    """Return what waits with its owner, in the order of turns: one of each owner at a time."""
    waiting = [(_owner_of(league, sent), sent) for sent in find_waiting(league.folder)]
    return [(str(owner), sent) for owner, sent in take_turns(waiting)]


def take_all(
    league: League,
    tell: Callable[[str], object],
    settled: float = _SETTLED,
    *,
    checks: int = 1,
    whole: bool = False,
) -> Iterator[str]:
    """Submit what was handed in, and yield the name of each when it is done.

    The callback receives a line for each. Owners take turns, and so many `checks` run at a time.
    Files that changed in the last `settled` seconds stay in the inbox, and the rest once this has
    taken a minute; but the `whole` is waited for. What is over an owner's daily limit waits.
    """
    for name in (INBOX, TAKEN):
        make_folder(league.folder / name, 0o777 if name == INBOX else 0o700)
    end, inbox = time.monotonic() + _PATIENCE, league.folder / INBOX
    while whole and not all(_is_settled(item, settled) for item in _list(inbox)):
        if time.monotonic() > end:
            break
        time.sleep(min(settled, _PAUSE))
    job, longest = partial(_submit, league, tell, settled), math.inf if whole else LONGEST
    for sent, done in run_in_turns(find_queue(league), job, checks, longest):
        try:
            if done.result():
                yield sent.name
        except ArenaError as error:  # for example a full disk: it is tried again
            of = "" if isinstance(error, Exhausted) else f"{sent.title}: "
            tell(f"{NOT_YET}: {of}{error}")
            yield sent.name


def why_waiting(league: League, sent: Sent, settled: float = _SETTLED) -> str:
    """Return why something that was handed in waits, empty if it can be taken now."""
    inbox, taken = league.folder / INBOX, league.folder / TAKEN
    try:
        league.desk.check_right(sent.name, sent.owner)
    except TooMany as error:
        return str(error)
    except Refused:
        pass  # the refusal is recorded with its reason for the owner
    except InputError:
        if not league.desk.has_right(""):
            return "too many files with wrong names came today"
    if sent.place.parent == inbox and os.path.lexists(taken / sent.place.name):
        return "an earlier one of this name waits"  # for example for disk space
    if sent.place.parent == inbox and not _is_settled(sent.place, settled):
        return "it is still being written"
    return ""


def _submit(
    league: League, tell: Callable[[str], object], settled: float, sent: Sent, working: Working
) -> bool:
    """Submit what was handed in, say what became of it, and remove it; False if it has to wait."""
    place, inbox, taken = sent.place, league.folder / INBOX, league.folder / TAKEN
    if place.parent != taken and why_waiting(league, sent, settled):
        return False
    if place.parent == inbox:
        try:
            os.rename(place, place := taken / place.name)
        except OSError as error:
            tell(f"{escape(str(sent.place))}: cannot be taken: {error.strerror or error}")
            return False
    bot, since = as_file(place), sent.since
    try:
        with closing(Ledger(league.folder / NAME)) as ledger:
            desk = replace(league.desk, ledger=ledger)
            version = desk.submit(bot, sent.name, sent.owner, working, since=since, resent=True)
        answer = f"accepted: {version.title}, by {version.owner}"
    except Unchanged as error:  # for example, a whole folder was copied again
        answer = f"left out: {sent.title}: {error}"
    except Refused as error:
        answer = f"refused: {sent.title}: {error}"
    except TooMany:
        return True  # it stays until tomorrow
    except InputError as error:
        _refuse_name(league, sent, str(error))
        answer = f"refused: {sent.title}: {error}"
    tell(answer)
    if sent.owner:
        post.answer(league.folder, place, answer)
    else:
        remove_tree(place)
    return True


def _refuse_name(league: League, sent: Sent, why: str) -> None:
    """Record the refusal of a wrong name, unless a killed process has recorded it."""
    known = "name = ? AND owner = '' AND at >= ?"
    if not sent.since or not league.ledger.refusals(known, sent.title, sent.since):
        at = league.now().isoformat(timespec="seconds")
        with league.ledger.changing():
            league.ledger.refuse(Refusal(0, sent.title, "", "", why, at))


def _owner_of(league: League, sent: Sent) -> str:
    """Return whose turn it is: a new name is its own owner, and invalid ones share one."""
    with suppress(InputError):
        check_name(sent.name)
        return sent.owner or league.desk.find_owner(sent.name) or sent.name
    return ""


def _list(folder: Path) -> list[Path]:
    """Return the complete, visible items of a folder, the oldest first, and then by name."""
    found = []
    for item in folder.glob("*"):
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


def take_turns(owned: Iterable[tuple[Hashable, _Item]]) -> Iterator[tuple[Hashable, _Item]]:
    """Yield the first item of every owner, with the owner, then the second ones, and so on.

    >>> [*take_turns([("ann", 1), ("ann", 2), ("ann", 3), ("bob", 1)])]
    [('ann', 1), ('bob', 1), ('ann', 2), ('ann', 3)]
    """
    of_owner: dict[Hashable, list[_Item]] = {}
    for owner, item in owned:
        of_owner.setdefault(owner, []).append(item)
    for turn in range(max(map(len, of_owner.values()), default=0)):
        yield from ((owner, all_[turn]) for owner, all_ in of_owner.items() if turn < len(all_))


def run_in_turns(
    owned: Iterable[tuple[Hashable, _Item]],
    job: Callable[[_Item, Working], object],
    checks: int,
    seconds: float,
) -> Iterator[tuple[_Item, Future[object]]]:
    """Run a job for each item of each owner in turns; yield the item and the result when it ends.

    So many `checks` run at a time, of each owner one, in threads; after some `seconds` none begins.
    An owner whose job takes long holds nobody. If the caller stops, the jobs are ended.
    """
    end, stopped = time.monotonic() + seconds, threading.Event()
    waiting, running = [*take_turns(owned)], dict[Future[object], tuple[Hashable, _Item]]()

    def working(_: str) -> None:
        if stopped.is_set():
            raise ArenaError("the check was stopped")

    try:
        while waiting or running:
            busy = {owner for owner, _ in running.values()}
            is_free = len(running) < checks and time.monotonic() <= end
            if is_free and (one := next((one for one in waiting if one[0] not in busy), None)):
                waiting.remove(one)
                running[_start(job, one[1], working)] = one
            elif running:
                wait(running, return_when=FIRST_COMPLETED)
                for done in [one for one in running if one.done()]:
                    yield running.pop(done)[1], done
            else:
                return
    finally:
        stopped.set()
        for future in running:
            future.exception()  # waits for its end


def _start(
    job: Callable[[_Item, Working], object], item: _Item, working: Working
) -> Future[object]:
    """Return the future result of a job, which a thread of its own runs if there is one."""
    future: Future[object] = Future()

    def work() -> None:
        try:
            future.set_result(job(item, working))
        except BaseException as error:  # for the caller's thread
            future.set_exception(error)

    try:
        with blaming_machine("no check can begin"):
            threading.Thread(target=work).start()
    except Exhausted as error:
        future.set_exception(error)
    return future
