"""Store the bytes of uploads, and submit each when its turn comes, exactly once."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from arena.addons.league.league import League
from arena.addons.league.post import ACCEPTED, REFUSED, WAITING, Post, Upload, has_post
from arena.addons.league.submission import Refused, TooMany, as_file
from arena.entries.file import read_file, replacing
from arena.entries.layout import remove_tree
from arena.entries.syntax import open_zip
from arena.errors import ArenaError, InputError

ZIP: Final = ".zip"
_WEB: Final = "web"
_DESK: Final = "desk"  # the folder in which an upload lies while it is submitted
_LONGEST: Final = 60.0  # seconds after which the rest of the queue waits for the next round
_OLD: Final = 3600.0  # seconds after which bytes that nobody needs are removed


def make_folder(league: Path) -> Path:
    """Return a league's folder of uploads, which only this user enters; raises InputError."""
    folder = league / _WEB
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be a folder: {error.strerror or error}") from None
    return folder


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


def take_uploads(league: League, tell: Callable[[str], object]) -> Iterator[str]:
    """Submit what owners have handed in, and yield the name of each that was answered.

    The callback receives a line for each. The rest waits once this has taken a minute, and what is
    over an owner's daily limit waits for the next day.
    """
    if not has_post(league.folder):
        return
    end = time.monotonic() + _LONGEST
    folder = make_folder(league.folder)
    with closing(Post(league.folder, league.now)) as post:
        _clear(post, folder)
        for upload in post.queue():
            if time.monotonic() > end:
                return
            if _submit(league, post, folder, upload, tell):
                yield upload.name


def _submit(
    league: League, post: Post, folder: Path, upload: Upload, tell: Callable[[str], object]
) -> bool:
    """Submit an upload, and return whether it was answered."""
    if upload.state == WAITING and not _may_come(league, upload):
        return False
    since = post.take(upload)
    try:
        state, answer = ACCEPTED, _hand_over(league, folder, upload, since)
    except TooMany:
        return False
    except InputError as error:  # also Refused
        state, answer = REFUSED, _without_path(str(error), folder)
    except ArenaError as error:  # for example a full disk: it is tried again
        tell(f"not yet taken: {upload.name}: {error}")
        return False
    post.answer(upload, state, answer)
    about = f"{answer}, by {upload.owner}" if state == ACCEPTED else f"{upload.name}: {answer}"
    tell(f"{state}: {about}")
    (folder / str(upload.id)).unlink(missing_ok=True)
    return True


def _may_come(league: League, upload: Upload) -> bool:
    """Return whether the owner may submit today; for any other refusal it is the bot's turn."""
    with suppress(Refused):
        try:
            league.desk.check_right(upload.name, upload.owner)
        except TooMany:
            return False
    return True


def _hand_over(league: League, folder: Path, upload: Upload, since: str) -> str:
    """Submit an upload under its name, and return the title of the version that it becomes."""
    desk = folder / _DESK
    try:
        with suppress(FileNotFoundError):
            remove_tree(desk)
        desk.mkdir(mode=0o700)
        place = _lay_out(folder / str(upload.id), desk, upload)
    except OSError as error:
        raise ArenaError(f"{desk}: cannot be written: {error.strerror or error}") from None
    return league.desk.submit(as_file(place), upload.name, upload.owner, since=since).title


def _lay_out(source: Path, desk: Path, upload: Upload) -> Path:
    """Return a file or folder with what was uploaded; raises InputError for a hostile zip."""
    content = read_file(source, upload.size, links=False)
    if upload.ending != ZIP:
        place = desk / f"{upload.name}{upload.ending}"
        place.write_bytes(content)
        return place
    top = desk / upload.name
    top.mkdir()
    for name, (can_run, data) in open_zip(content).items():
        place = top / name
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("xb") as file:
                file.write(data)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            raise InputError(f"the zip has {name!a} as a file and as a folder") from None
        place.chmod(0o755 if can_run else 0o644)
    return top


def _without_path(message: str, folder: Path) -> str:
    """Return a message for an owner, who does not know the folder in which the upload lay."""
    for place in (as_file(folder / _DESK), str((folder / _DESK).absolute())):
        message = message.replace(f"{place}/", "")
    return message


def _clear(post: Post, folder: Path) -> None:
    """Remove bytes that a killed process has left, and of which no upload has a row."""
    for item in folder.iterdir():
        with suppress(OSError):
            is_old = time.time() - item.lstat().st_mtime > _OLD
            is_open = item.name.isdecimal() and post.is_open(int(item.name))
            if is_old and not is_open and item.is_file():
                item.unlink()
