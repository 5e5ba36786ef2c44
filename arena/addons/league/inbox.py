"""Take what was handed in to a league, as files in its inbox or over the web, and submit it.

An upload is a folder with one file, which appears whole; it stays until it is answered. So a kill
at any moment loses none. Of an owner's token only the hash is kept.
"""

from __future__ import annotations

import hashlib
import math
import os
import secrets
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from arena.addons.league.league import League
from arena.addons.league.league_settings import make_folder
from arena.addons.league.ledger import NAME, Ledger, Refusal, check_name
from arena.addons.league.sources import as_file
from arena.addons.league.submission import NotNow, Refused, Unchanged, Working
from arena.entries.bot_files import interpreter_of
from arena.entries.layout import remove_tree
from arena.entries.read_bot import BUILT, ZIP
from arena.errors import ArenaError, Exhausted, InputError, blaming_machine, escape
from arena.files import replacing
from arena.store.folder import write_text

INBOX: Final = "inbox"
TAKEN: Final = "taken"
TOKENS: Final = "tokens"
UPLOADS: Final = "uploads"
"""Folders in the league's folder; only this user enters those but the inbox."""

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
_OF: Final = "~"  # between the hash of an upload and its owner; no name has it
_MOST_BYTES: Final = 4 << 30  # of all uploads that wait
_Item = TypeVar("_Item")


class Sent(NamedTuple):
    """What was handed in: where it lies, its name, and the owner of an upload."""

    place: Path
    name: str
    owner: str = ""

    @property
    def title(self) -> str:
        """What it is called in a line."""
        return escape(self.name)[:_MOST_NAME]


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def find_owner(league: Path, token: str) -> str:
    """Return the owner of a token, empty for a wrong one."""
    known = _hash(token)
    for owner in invited(league):
        with suppress(OSError):  # it has just been revoked
            if (league / TOKENS / owner).read_text(encoding="utf-8") == known:
                return owner
    return ""


def invited(league: Path) -> list[str]:
    """Return the owners who have a token."""
    return sorted(path.name for path in (league / TOKENS).glob("[!.]*"))


def invite(league: Path, owner: str) -> str:
    """Return a new token of an owner, in place of the one before."""
    token = secrets.token_urlsafe(32)
    write_text(make_folder(league / TOKENS) / owner, _hash(token))
    return token


def receive(league: Path, owner: str, file: str, content: bytes) -> None:
    """Keep an upload until its turn; raises ArenaError if there is no room.

    The same file of the same name is one upload while it waits.
    """
    size = len(content)
    for sent in find_uploads(league):
        with suppress(OSError):  # it has just been answered
            size += sent.place.stat().st_size
    if size > _MOST_BYTES:
        raise ArenaError("too many uploads wait already")
    digest = hashlib.sha256(f"{owner}\0{file}\0".encode() + content).hexdigest()[:16]
    place = make_folder(league / UPLOADS) / f"{digest}{_OF}{owner}"
    try:
        place.mkdir(0o700, exist_ok=True)
        with replacing(place / file) as part:
            part.write_bytes(content)
    except OSError as error:
        raise ArenaError(f"{place}: cannot be written: {error.strerror or error}") from None


def find_uploads(league: Path) -> list[Sent]:
    """Return the uploads that wait, the oldest first."""
    files = _oldest_first((league / UPLOADS).glob(f"*{_OF}*/[!.]*"))
    return [Sent(file, file.stem, file.parent.name.partition(_OF)[2]) for file in files]


def find_waiting(league: Path) -> list[Sent]:
    """Return what waits: what was begun, then what lies in the inbox, then uploads."""
    lying = [*_list(league / TAKEN), *_list(league / INBOX)]
    return [*(Sent(item, name_of(item)) for item in lying), *find_uploads(league)]


def find_queue(league: League) -> list[tuple[str, Sent]]:
    """Return what waits with its owner, in the order of turns: one of each owner at a time."""
    waiting = [(_owner_of(league, sent), sent) for sent in find_waiting(league.folder)]
    return [*take_turns(waiting)]


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
    except NotNow as error:
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
    with closing(Ledger(league.folder / NAME)) as ledger:
        desk = replace(league.desk, ledger=ledger)
        try:
            version = desk.submit(as_file(place), sent.name, sent.owner, working)
            answer = f"accepted: {version.title}, by {version.owner}"
        except Unchanged as error:  # a whole folder was copied again, or a process was killed
            answer = f"left out: {sent.title}: {error}"
        except NotNow:
            return True  # it stays until tomorrow
        except InputError as error:
            if not isinstance(error, Refused):  # a wrong name
                with ledger.changing():
                    ledger.refuse(Refusal(0, sent.title, "", "", str(error), desk.time()))
            answer = f"refused: {sent.title}: {error}"
    tell(answer)
    remove_tree(place.parent if sent.owner else place)
    return True


def _owner_of(league: League, sent: Sent) -> str:
    """Return whose turn it is: a new name is its own owner, and invalid ones share one."""
    with suppress(InputError):
        check_name(sent.name)
        return sent.owner or league.desk.find_owner(sent.name) or sent.name
    return ""


def _list(folder: Path) -> list[Path]:
    """Return the complete, visible items of a folder, the oldest first."""
    return _oldest_first(
        item for item in folder.glob("[!.]*") if not item.name.endswith(_UNFINISHED)
    )


def _oldest_first(items: Iterable[Path]) -> list[Path]:
    """Return items in the order of their times, and then of their names."""
    found = []
    for item in items:
        with suppress(OSError):  # it has just been removed
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


def take_turns(owned: Iterable[tuple[str, _Item]]) -> Iterator[tuple[str, _Item]]:
    """Yield the first item of every owner, with the owner, then the second ones, and so on.

    >>> [*take_turns([("ann", 1), ("ann", 2), ("ann", 3), ("bob", 1)])]
    [('ann', 1), ('bob', 1), ('ann', 2), ('ann', 3)]
    """
    of_owner: dict[str, list[_Item]] = {}
    for owner, item in owned:
        of_owner.setdefault(owner, []).append(item)
    for turn in range(max(map(len, of_owner.values()), default=0)):
        yield from ((owner, all_[turn]) for owner, all_ in of_owner.items() if turn < len(all_))


def run_in_turns(
    owned: Iterable[tuple[str, _Item]],
    job: Callable[[_Item, Working], object],
    checks: int,
    seconds: float,
) -> Iterator[tuple[_Item, Future[object]]]:
    """Run a job for each item in this order; yield the item and the result when it ends.

    So many `checks` run at a time, of each owner one, in threads; after some `seconds` none begins.
    An owner whose job takes long holds nobody. If the caller stops, the jobs are ended. Raises
    Exhausted for a machine that has no thread for one.
    """
    end, stopped = time.monotonic() + seconds, threading.Event()
    waiting, running = [*owned], dict[Future[object], tuple[str, _Item]]()

    def working(_: str) -> None:
        if stopped.is_set():
            raise ArenaError("the check was stopped")

    with ThreadPoolExecutor(checks) as pool:
        try:
            while waiting or running:
                busy = {owner for owner, _ in running.values()}
                is_free = len(running) < checks and time.monotonic() <= end
                free = (one for one in waiting if is_free and one[0] not in busy)
                if one := next(free, None):
                    waiting.remove(one)
                    with blaming_machine("no check can begin"):
                        running[pool.submit(job, one[1], working)] = one
                elif running:
                    wait(running, return_when=FIRST_COMPLETED)
                    for done in [one for one in running if one.done()]:
                        yield running.pop(done)[1], done
                else:
                    return
        finally:
            stopped.set()
