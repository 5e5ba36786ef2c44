"""Write a person's game to a locked journal, so that it can be resumed if its process is killed."""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple, TypeVar

import msgspec
from msgspec import Meta

from arena.errors import ArenaError, InputError
from arena.store.judge import parse_record
from arena.tournament.keys import Naming
from arena.tournament.match import Asking, Player
from engine import Action, EngineError, State, View
from engine.cards import CHARS, to_text
from engine.notation import parse_deal

ENDING: Final = ".jsonl"
_MOST = 1 << 20  # bytes of a journal; a game has a few thousand
_TRIES = 20  # attempts to lock: a process that only reads holds the lock for a moment
_PAUSE = 0.05  # seconds between attempts
_NEW: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NOFOLLOW
_OLD: Final = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK


class _Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An action."""

    ply: int
    action: str


class _Back(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All actions from a ply on were taken back."""

    back_to: Annotated[int, Meta(ge=0)]


_Entry = TypeVar("_Entry", _Line, _Back)
_DECODERS: Final[dict[Any, msgspec.json.Decoder[Any]]] = {
    kind: msgspec.json.Decoder(kind) for kind in (_Line, _Back)
}


class Whose(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The session, and the number of its game, of a journal; the bot is given as in a record."""

    person: str
    spec: str
    games: Annotated[int, Meta(ge=1)]
    number: Annotated[int, Meta(ge=0)]
    names: Naming
    thoughts: bool


class TakenBack(NamedTuple):
    """Actions that were taken back together, the first of them at this ply."""

    ply: int
    actions: str


class Content(NamedTuple):
    """The content of a journal: its first line, the game up to its last action, and their bytes.

    The first line is a record of the game without actions, with its session.
    """

    head: bytes
    deal: bytes
    state: State
    size: int
    taken_back: tuple[TakenBack, ...]


class Journal:
    """A journal that this process writes and locks, so that no other process resumes its game.

    The journal of a new game has no `content`, and no file before the first action.
    """

    def __init__(self, path: Path, head: bytes) -> None:
        self.path = path
        self.content: Content | None = None
        self._head = head
        self._file: int | None = None

    @classmethod
    def begin(cls, folder: Path, name: str, head: str) -> Journal:
        """Return the journal of a new game; its file will be in this folder."""
        path = folder / f"{name}-{secrets.token_hex(4)}{ENDING}"
        return cls(path, head.encode() + b"\n")

    @classmethod
    def take(cls, path: Path) -> Journal:
        """Lock and return the journal of an interrupted game; a damaged end is cut off.

        Raises InputError if another process has it, and for a file that is not a journal.
        """
        file = _lock(path, fcntl.LOCK_EX, _TRIES)
        if file is None:
            raise InputError(f"{path}: the game goes on elsewhere, or has ended there")
        try:
            content = _parse(path, file)
            with _named(path):
                os.ftruncate(file, content.size)
        except ArenaError:
            os.close(file)
            raise
        journal = cls(path, content.head)
        journal.content, journal._file = content, file
        return journal

    def add(self, ply: int, action: Action) -> None:
        """Write an action; raises ArenaError if it cannot be written."""
        self._add(_Line(ply, CHARS[action]))

    def take_back(self, ply: int) -> None:
        """Write that all actions from a ply on were taken back; raises as `add` does."""
        self._add(_Back(ply))

    def _add(self, entry: _Line | _Back) -> None:
        line = msgspec.json.encode(entry) + b"\n"
        with _named(self.path):
            if self._file is None:
                self._make(self._head + line)
            else:
                _write(self._file, line)

    def _make(self, text: bytes) -> None:
        """Create the file, under a hidden name until it is locked and has its first lines."""
        self.path.parent.mkdir(exist_ok=True)
        hidden = self.path.with_name(f".{self.path.name}")
        self._file = os.open(hidden, _NEW, 0o600)
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _write(self._file, text)
        hidden.rename(self.path)

    def remove(self) -> None:
        """Remove the file: the game has ended, and is recorded."""
        if self._file is not None:
            with _named(self.path):
                self.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Release the lock: another process can resume the game if the file was not removed."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


class Kept:
    """A player whose actions are written to the journal before they count."""

    def __init__(self, player: Player, journal: Journal) -> None:
        self.player = player
        self.journal = journal

    def begin(self) -> Asking[None]:
        """Begin as the player does."""
        return self.player.begin()

    def choose(self, view: View, /) -> Asking[Action]:
        """Return the player's action."""
        action = yield from self.player.choose(view)
        self.journal.add(len(view.history), action)
        return action

    def end(self) -> Asking[None]:
        """End as the player does."""
        return self.player.end()


def read_journal(path: Path) -> Content | None:
    """Return the content of an interrupted game's journal, None while a process has it locked.

    Raises ArenaError for a file that cannot be read or is not a journal.
    """
    file = _lock(path, fcntl.LOCK_SH, 1)
    if file is None:
        return None
    try:
        return _parse(path, file)
    finally:
        os.close(file)


def _parse(path: Path, file: int) -> Content:
    """Return the content of a journal, up to the first damaged or inconsistent line.

    Raises InputError if that is the first line of the file.
    """
    with _named(path):
        text = os.pread(file, _MOST, 0)
    head, *lines = text.splitlines(keepends=True) or [b""]
    try:
        record = parse_record(head)
        state = record.replay()
    except EngineError as error:
        raise InputError(f"{path}: line 1: {error}") from None
    deal = parse_deal(record.deal, record.rules)
    size, taken_back = len(head), []
    for line in lines:
        if back := _read(line, _Back):
            if back.back_to >= len(state.history):
                break
            state, undone = take_back(deal, state, back.back_to)
            taken_back.append(undone)
        else:
            action = _read_action(line, len(state.history))
            if state.over or action not in state.legal():
                break
            state.apply(action)
        size += len(line)
    return Content(head, deal, state, size, tuple(taken_back))


def take_back(deal: bytes, state: State, ply: int) -> tuple[State, TakenBack]:
    """Return the position at an earlier ply of a game, and the actions taken back."""
    before = State(deal, state.rules)
    before.follow(state.history[:ply])
    return before, TakenBack(ply, to_text(state.history[ply:]))


def _read_action(line: bytes, ply: int) -> Action:
    """Return the action of a complete line for this ply, -1 for any other line."""
    read = _read(line, _Line)
    if read is None or read.ply != ply or len(read.action) != 1:
        return -1
    return CHARS.find(read.action)


def _read(line: bytes, kind: type[_Entry]) -> _Entry | None:
    """Parse a complete line, None for a line of another kind."""
    try:
        read: _Entry = _DECODERS[kind].decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return read if line.endswith(b"\n") else None


def _lock(path: Path, kind: int, tries: int) -> int | None:
    """Lock a file and return a descriptor whose closing releases it, None if another has the lock.

    Also None if the file was removed meanwhile.
    """
    with _named(path):
        try:
            file = os.open(path, _OLD)
        except FileNotFoundError:
            return None
        locked = False
        try:
            waits = (_PAUSE * bool(number) for number in range(tries))
            locked = any(_try_lock(file, kind, wait) for wait in waits)
            locked = locked and os.fstat(file).st_nlink > 0
        finally:
            if not locked:
                os.close(file)
        return file if locked else None


def _try_lock(file: int, kind: int, wait: float) -> bool:
    """Wait, then try to lock a file; return whether that succeeded."""
    time.sleep(wait)
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _write(file: int, text: bytes) -> None:
    """Write a text in one system call, so that after a kill the line is complete or missing."""
    if os.write(file, text) != len(text):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Convert errors into an ArenaError that names the file."""
    try:
        yield
    except OSError as error:
        raise ArenaError(f"{path}: {error.strerror or error}") from None
