"""Find a person's games whose process was killed, to resume or to record them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import msgspec

from arena.addons.table.journal import ENDING, Content, Journal, Whose, read_journal
from arena.addons.table.session import Changed, RecordedGame, Records, Session
from arena.entries.entry import Entry
from arena.entries.spec import check_label
from arena.errors import ArenaError, InputError
from engine import Record

_MOST: Final = 100  # journals examined
_SHOWN = 12  # characters of a hash


class _Bot(msgspec.Struct, frozen=True):
    """The description of the bot in a record."""

    label: str
    bot: str
    lane: str
    sha256: str
    params: dict[str, Any]
    needs: tuple[str, ...] = ()
    program: str = ""


class _Head(msgspec.Struct, frozen=True):
    """The first line of a journal, except for the deal."""

    seed: int
    opponent: _Bot
    session: Whose


_head = msgspec.json.Decoder(_Head)


@dataclass(frozen=True)
class Interrupted:
    """An interrupted game: its journal, its former session, and its actions so far.

    The bot of `session` is only a description without source, and cannot play.
    """

    path: Path
    session: Session
    number: int
    content: Content

    @property
    def plies(self) -> int:
        """The number of actions."""
        return len(self.content.state.history)

    def go_on(self, entry: Entry, records: Records) -> RecordedGame:
        """Take over the game with its bot in this process, and return it.

        Raises InputError if another process has it. If the bot or the deal has changed, records the
        game as it stands and raises Changed.
        """
        game = self._take()
        then, now = self.session.entry, entry
        if now.describe() != then.describe():
            hashes = f"its sha256 was {then.sha256[:_SHOWN]}... and is {now.sha256[:_SHOWN]}..."
            raise self._ended(game, records, f"{then.label} has changed: {hashes}")
        if game.fixture.draw(game.session.seed, game.session.rules) != game.draw:
            raise self._ended(game, records, "this version of the arena deals other cards")
        game.session = replace(self.session, entry=entry)
        return game

    def keep(self, records: Records) -> int:
        """Record the game as it stands, and return its line number; raises as `go_on` does."""
        return self._take().keep(records)

    def _take(self) -> RecordedGame:
        return RecordedGame(self.session, self.number, Journal.take(self.path))

    def _ended(self, game: RecordedGame, records: Records, why: str) -> Changed:
        line = game.keep(records)
        return Changed(f"{why}; the game is kept unfinished: line {line} of {records.path}")


def find_interrupted(records: Records) -> tuple[list[Interrupted], list[str]]:
    """Return the interrupted games, and the errors of files that are not valid journals.

    A game that was recorded just before the kill is not interrupted: its journal is removed.
    """
    found, problems = [], []
    for path in _journals(records.under_way):
        try:
            content = read_journal(path)
            if content is not None and content.state.over and _is_recorded(content, records):
                _remove(path)
            elif content is not None:
                found.append(_describe(path, content))
        except ArenaError as error:
            problems.append(str(error))
    return found, problems


def find_own(session: Session, records: Records) -> tuple[Interrupted | None, list[str]]:
    """Return the interrupted game of a session, and messages about other interrupted games.

    A game belongs to the session if the same command plays it.
    """
    found, problems = find_interrupted(records)
    own = [one for one in found if one.session.command == session.command]
    others = [
        f"Interrupted at ply {one.plies}; this goes on with it: {one.session.command}"
        for one in found
        if one not in own
    ]
    return (own[0] if own else None), [*problems, *others]


def _journals(folder: Path) -> Iterator[Path]:
    with suppress(OSError):
        names = sorted(path.name for path in folder.iterdir())
        visible = [name for name in names if name.endswith(ENDING) and not name.startswith(".")]
        yield from (folder / name for name in visible[:_MOST])


def _describe(path: Path, content: Content) -> Interrupted:
    """Return the game of a journal; raises InputError for one that does not name its session."""
    try:
        head = _head.decode(content.head)
        whose, bot = head.session, head.opponent
        check_label(whose.spec, whose.person)
        check_label(whose.spec, bot.label)
    except (msgspec.DecodeError, UnicodeDecodeError, InputError) as error:
        raise InputError(f"{path}: line 1: {error}") from None
    entry = Entry(
        bot.label,
        bot.bot,
        bot.lane,
        module="",
        filename="",
        sha256=bot.sha256,
        source=None,
        params=bot.params,
        needs=bot.needs,
        program=bot.program,
    )
    session = Session(
        whose.person,
        entry,
        whose.spec,
        head.seed,
        whose.games,
        whose.names,
        content.state.rules,
        thoughts=whose.thoughts,
    )
    return Interrupted(path, session, whose.number, content)


def _is_recorded(content: Content, records: Records) -> bool:
    """Return whether this game is over and in the file of records."""
    ours = Record.of(content.deal, content.state).to_json().encode()[:-1]
    with records.path.open("rb") as file:
        return any(line.startswith(ours) for line in file)


def _remove(path: Path) -> None:
    with suppress(InputError), closing(Journal.take(path)) as journal:
        journal.remove()
