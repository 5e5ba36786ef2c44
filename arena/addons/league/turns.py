"""Store the bytes of uploads, and submit each when its turn comes, exactly once."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from arena.addons.league.copies import describe_copies
from arena.addons.league.league import League
from arena.addons.league.league_settings import make_folder
from arena.addons.league.post import ACCEPTED, REFUSED, WAITING, Post, Upload, has_post
from arena.addons.league.submission import Refused, Submitting, TooMany, as_file
from arena.addons.league.together import submit_together
from arena.entries.file import read_file, replacing
from arena.entries.layout import remove_tree
from arena.entries.syntax import open_zip
from arena.errors import ArenaError, InputError

ZIP: Final = ".zip"
_WEB: Final = "web"
_DESK: Final = "desk"  # the folder in which an upload lies while it is submitted
_LONGEST: Final = 60.0  # seconds after which the rest of the queue waits for the next round
_BATCH: Final = 4  # uploads for each check at a time
_OLD: Final = 3600.0  # seconds after which bytes that nobody needs are removed


def open_web(league: Path) -> Path:
    """Return a league's folder of uploads, which only this user enters; raises InputError."""
    return make_folder(league / _WEB)


def store(folder: Path, id: int, content: bytes) -> None:
    """Store the bytes of an upload, to last also if the machine stops; raises ArenaError."""
    place = folder / str(id)
    try:
        with replacing(place) as part, part.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise ArenaError(f"{place}: cannot be written: {error.strerror or error}") from None


def take_uploads(
    league: League, tell: Callable[[str], object], *, checks: int = 1, whole: bool = False
) -> Iterator[str]:
    """Submit what owners have handed in, and yield the name of each upload that was looked at.

    The callback receives a line for each. So many `checks` run at a time. The rest waits once this
    has taken a minute, unless the `whole` queue is to be taken, and what is over an owner's daily
    limit waits for the next day.
    """
    if not has_post(league.folder):
        return
    end = time.monotonic() + (math.inf if whole else _LONGEST)
    folder = open_web(league.folder)
    with closing(Post(league.folder, league.now)) as post:
        _clear(post, folder)
        queue = [one for one in post.queue() if one.state != WAITING or _may_come(league, one)]
        for first in range(0, len(queue), _BATCH * checks):
            if time.monotonic() > end:
                return
            uploads = queue[first : first + _BATCH * checks]
            submissions = [_submitting(league, post, folder, one, tell) for one in uploads]
            yield from submit_together(league.desk, submissions, checks)
    with suppress(OSError):
        remove_tree(folder / _DESK)


def count_uploads(folder: Path) -> tuple[int, int]:
    """Return how many uploads of a league wait, and how many of these could not be taken."""
    if not has_post(folder):
        return 0, 0
    with closing(Post(folder)) as post:
        queue = post.queue()
    return len(queue), sum(one.state != WAITING for one in queue)


def _submitting(
    league: League, post: Post, folder: Path, upload: Upload, tell: Callable[[str], object]
) -> Submitting[str]:
    """Submit an upload, store its answer, and return its name."""
    since = post.take(upload)
    try:
        place = _lay_out(folder, upload)
        version = yield from league.desk.submitting(
            as_file(place), upload.name, upload.owner, since=since
        )
        state, answer = ACCEPTED, version.title
    except TooMany:
        return upload.name
    except InputError as error:  # also Refused
        state, answer = REFUSED, _without_path(str(error), folder)
    except ArenaError as error:  # for example a full disk: it is tried again
        tell(f"not yet taken: {upload.name}: {error}")
        return upload.name
    post.answer(upload, state, answer)
    if state == ACCEPTED:
        tell(f"accepted: {answer}, by {upload.owner}")
        for line in describe_copies(league.ledger, version):
            tell(line)
    else:
        tell(f"refused: {upload.name}: {answer}")
    (folder / str(upload.id)).unlink(missing_ok=True)
    return upload.name


def _may_come(league: League, upload: Upload) -> bool:
    """Return whether the owner may submit today; for any other refusal it is the bot's turn."""
    with suppress(Refused):
        try:
            league.desk.check_right(upload.name, upload.owner)
        except TooMany:
            return False
    return True


def _lay_out(folder: Path, upload: Upload) -> Path:
    """Return a file or folder with what was uploaded, in an empty folder.

    Raises InputError for a hostile zip, and ArenaError if nothing can be written.
    """
    content = read_file(folder / str(upload.id), upload.size, links=False)
    files = open_zip(content) if upload.ending == ZIP else {"": (False, content)}
    desk = folder / _DESK
    top = desk / (upload.name if upload.ending == ZIP else f"{upload.name}{upload.ending}")
    try:
        remove_tree(desk)
        desk.mkdir(mode=0o700)
        for name, (can_run, data) in files.items():
            place = top / name
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("xb") as file:
                file.write(data)
            place.chmod(0o755 if can_run else 0o644)
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        raise InputError("the zip has a name that is of a file and of a folder") from None
    except OSError as error:
        raise ArenaError(f"{desk}: cannot be written: {error.strerror or error}") from None
    return top


def _without_path(message: str, folder: Path) -> str:
    """Return a message for an owner, who does not know the folder in which the upload lay."""
    for place in (as_file(folder / _DESK), str((folder / _DESK).absolute()), str(folder / _DESK)):
        message = message.replace(f"{place}/", "")
    return message


def _clear(post: Post, folder: Path) -> None:
    """Remove bytes that a killed process has left, and that no upload needs any more."""
    for item in folder.iterdir():
        with suppress(OSError):
            is_old = time.time() - item.lstat().st_mtime > _OLD
            is_open = item.name.isdecimal() and post.is_open(int(item.name))
            if is_old and not is_open and item.is_file():
                item.unlink()
