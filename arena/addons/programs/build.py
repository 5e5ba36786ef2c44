"""Build a program in the jail, once, and keep what was made in this user's cache folder."""

from __future__ import annotations

import base64
import hashlib
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from arena.addons.programs import builder
from arena.addons.programs.builder import PIECE
from arena.entries.archive import MOST_DATA, MOST_FILES, MOST_ZIP, make_archive, read_archive
from arena.entries.entry import Entry
from arena.entries.file import own_cache, read_file, replacing
from arena.entries.identity import COPY, hash_command
from arena.entries.layout import check_name
from arena.entries.needs import why_hidden
from arena.entries.program import SYSTEM
from arena.entries.syntax import check_archive
from arena.errors import InputError, escape
from arena.lanes.bubblewrap import find_bubblewrap
from arena.lanes.faults import Forfeit
from arena.lanes.limits import Allowed, Limits
from arena.lanes.messages import Answer, Message
from arena.lanes.process import BotProcess, bot_process
from arena.lanes.scratch import BOT, scratch_folder
from engine import STANDARD

SECONDS: Final = 60.0
"""Seconds of processor time that a build may take; by the wall clock it is five times as long."""

LIMITS: Final = Limits(start=SECONDS, backstop=5 * SECONDS, idle=20.0, memory=2048)

_MOST_PIECES = 2 * MOST_DATA // PIECE
_MOST_KEPT = 50  # builds
_MOST_TOLD = 20  # lines at the beginning and at the end of a build's output
_TEXT = 8 << 10  # bytes of a file without a NUL, by which it counts as a source


class Piece(Message, kw_only=True):
    """Number 0: build; any other: send this part of the archive of what was made."""

    type: str = "piece"
    number: int


def build(
    words: Sequence[str], files: Mapping[str, bytes], waiting: Callable[[], None] = lambda: None
) -> dict[str, bytes]:
    """Return the files of a program together with those that its build makes in the jail.

    The same files are built once: what was made is kept. The output of the build is logged. Raises
    InputError, which has the end of the output, if the build fails or exceeds its limits, and what
    `waiting` raises, which is called while it goes on.
    """
    key = hash_command(words, files, [])
    with suppress(OSError, RuntimeError, InputError, ImportError):
        return read_archive(read_file(_place(key), MOST_ZIP, links=False))
    try:
        find_bubblewrap()
        both = _check(_build(words, files, key, waiting), files)
    except InputError as error:
        raise InputError(f"build: {error}") from None
    with suppress(OSError, RuntimeError, InputError), replacing(_place(key)) as part:
        part.write_bytes(make_archive(both, next(iter(files))))
        _forget_old(part.parent)
    return both


def _place(key: str) -> Path:
    return own_cache("builds") / f"{key}.bot"


def _forget_old(folder: Path) -> None:
    kept = sorted(folder.glob("*.bot"), key=lambda path: path.stat().st_mtime)
    for path in kept[:-_MOST_KEPT]:
        path.unlink(missing_ok=True)


def _build(
    words: Sequence[str], files: Mapping[str, bytes], key: str, waiting: Callable[[], None]
) -> bytes:
    """Return the archive of what a build makes, as it came out of the jail."""
    places = [place for place in map(Path, SYSTEM) if place.is_dir() and not why_hidden(place)]
    entry = Entry(
        label="build",
        target="build",
        lane="jail",
        module="",
        filename="",
        sha256=hashlib.sha256(key.encode()).hexdigest(),
        source=make_archive(files, next(iter(files))),
        command=(sys.executable, "-I", "-S", builder.__file__, COPY, *words),
        needs=tuple(map(str, [*places, *Path("/etc").glob("java-*")])),
    )
    with (
        scratch_folder() as folder,
        bot_process(entry, STANDARD, LIMITS, folder / BOT, waiting) as process,
    ):
        try:
            process.start()
            result = _ask(process, 0)
            _tell(result.output)
            if result.traceback:
                raise InputError(_describe(result.traceback, result.output))
            if not 0 <= result.games <= _MOST_PIECES:
                raise InputError(f"it makes more than {MOST_DATA:,} bytes")
            return b"".join(_piece(process, 1 + number) for number in range(result.games))
        except Forfeit as forfeit:
            raise InputError(forfeit.fault.message) from None


def _ask(process: BotProcess, number: int) -> Answer:
    allowed = Allowed(LIMITS.start, LIMITS.backstop_of(LIMITS.start))
    answer = process.ask([Piece(number=number)], allowed).answers[-1]
    if isinstance(answer, Forfeit):
        kind, message, *_ = answer.fault
        if kind == "timeout" and answer.spent:
            message = f"not done within {allowed.describe(answer.spent)}"
        if kind == "idle":
            message = f"it waited for more than {LIMITS.idle:g} s without work"
        raise Forfeit(kind, message)
    return answer


def _piece(process: BotProcess, number: int) -> bytes:
    try:
        return base64.b64decode(_ask(process, number).output, validate=True)
    except ValueError:
        raise InputError("what it made did not come out of the jail") from None


def _check(archive: bytes, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of a program, and of the archive of what was made, which is a stranger's.

    Raises InputError for a damaged archive, a name that leads out of the folder, a source that the
    build changed, and too many files or bytes.
    """
    if not archive:
        return {**files}
    check_archive(archive)
    made = {name: data for name, data in read_archive(archive).items() if _is_kept(name)}
    for name, data in made.items():
        try:
            check_name(name)
            name.encode()
        except (ImportError, UnicodeEncodeError):
            raise InputError(f"it made {name!a}, which is not below its folder") from None
        if name in files and b"\0" not in files[name][:_TEXT] and files[name] != data:
            raise InputError(f"it changed {name}, a source; what it makes must be other files")
    both = {**files, **made}
    if len(both) > MOST_FILES or sum(len(data) for data in both.values()) > MOST_DATA:
        most = f"{MOST_FILES:,} files and {MOST_DATA:,} bytes"
        raise InputError(f"a program has at most {most}, with what its build makes")
    return both


def _is_kept(name: str) -> bool:
    return not any(part.startswith(".") and part not in (".", "..") for part in name.split("/"))


def _describe(why: str, output: str) -> str:
    """Return why a build failed, with the first lines of its error, but for quoted sources."""
    lines = [escape(line.strip()) for line in output.splitlines()]
    lines = [line for line in lines if line and "|" not in line]
    first = next((at for at, line in enumerate(lines) if "error" in line.lower()), -1)
    return " | ".join([why, *lines[first:][:3]] if lines else [why])


def _tell(output: str) -> None:
    """Log the lines of a build's output, of many only the first and the last."""
    lines = output.splitlines()
    if len(lines) > 2 * _MOST_TOLD:
        lines[_MOST_TOLD:-_MOST_TOLD] = ["..."]
    for line in lines:
        logging.getLogger("arena").warning("build: %s", escape(line.rstrip()))
