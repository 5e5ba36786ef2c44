"""Play and record games of a person against a bot, whatever shows them; or all at a terminal."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from arena.addons.table.journal import Journal, Kept, TakenBack, Whose, take_back
from arena.addons.table.player import InputEnded, PersonPlayer, Quit, Suspend, Terminal
from arena.entries.entry import Entry
from arena.errors import ArenaError, InputError, Unreachable, arena_command, quote
from arena.lanes.cleanup import adopt_orphans, exit_on_termination
from arena.lanes.faults import Forfeit
from arena.lanes.limits import Limits
from arena.lanes.process import BotProcess, bot_process
from arena.lanes.scratch import BOT, scratch_folder
from arena.store import judge
from arena.store.board import shorten
from arena.store.timeline import Thoughts, write_thoughts
from arena.tournament.keys import Naming
from arena.tournament.match import (
    Asking,
    Finished,
    Inline,
    LocalPlayer,
    Player,
    play_asking,
    play_together,
    result_of,
)
from arena.tournament.players import RemotePlayer
from arena.tournament.schedule import Fixture, Pairing
from arena.tournament.thinking import find_thoughts
from arena.tournament.timing import Timing
from engine import Action, Record, Rules, State, View, points
from engine.cards import CHARS
from engine.state import Seat
from engine.view import view


class Changed(ArenaError):
    """The bot differs from the one with which a game began, or plays differently."""


class Again:
    """A bot in a new process, at a seat of a game that is already under way.

    `beginning` is the game before its first action; `history` has the actions of both seats. At
    the start the bot gets its past views again; raises Changed if it chooses another action.
    """

    def __init__(
        self, player: Player, seat: Seat, label: str, beginning: State, history: bytes
    ) -> None:
        self.player = player
        self.seat = seat
        self.label = label
        self.beginning = beginning
        self.history = history

    def begin(self) -> Asking[None]:
        """Begin, and replay the game up to its present position."""
        state = self.beginning.copy()
        try:
            yield from self.player.begin()
            for action in self.history:
                if state.to_act == self.seat:
                    yield from self._ask(view(state, self.seat), action)
                state.apply(action)
        except Forfeit as forfeit:
            raise self._changed(len(state.history), str(forfeit.fault.message)) from None

    def _ask(self, seen: View, former: Action) -> Asking[None]:
        now = yield from self.player.choose(seen)
        if now != former:
            then = f"it was {CHARS[former]} and is {CHARS[now]} now"
            raise self._changed(len(seen.history), then)

    def _changed(self, ply: int, how: str) -> Changed:
        return Changed(f"{self.label} does not play as before, ply {ply}: {how}")

    def choose(self, view: View, /) -> Asking[Action]:
        """Return the bot's action."""
        return self.player.choose(view)

    def end(self) -> Asking[None]:
        """End the game for the bot."""
        return self.player.end()


_NAME = "games.jsonl"
_UNDER_WAY = "open"


class TakeBack(Exception):
    """A person takes back all actions since the one at `ply`."""

    def __init__(self, ply: int) -> None:
        super().__init__(ply)
        self.ply = ply


@dataclass(frozen=True)
class Session:
    """Games of a person against a bot: game n is on the deal of pair n of these two labels.

    The seats alternate; with an even seed the person begins the first game. The bot plays
    in a process of its own, so its lane is `process` or `jail`; `spec` is its spec as typed. With
    `thoughts` the bot reports after each game its estimates of its actions.
    """

    person: str
    entry: Entry
    spec: str
    seed: int
    games: int
    naming: Naming
    rules: Rules
    limits: Limits = field(default_factory=Limits)
    thoughts: bool = False

    def fixture(self, number: int) -> Fixture:
        """Return the place of a game; its seat is the seat of the person."""
        seat = (self.seed + number) % 2
        return Fixture(Pairing(self.person, self.entry.label), number, seat)

    @property
    def command(self) -> str:
        """The command that plays games on the same deals."""
        words: list[str] = []
        if self.person != "human":
            words += ["--me", self.person]
        if self.entry.lane == "jail":
            words += ["--lane", "jail"]
        if self.games > 1:
            words += ["--games", str(self.games)]
        if self.naming != "english":
            words += ["--names", self.naming]
        if changes := self.rules.changes():
            words += ["--rules", json.dumps(changes)]
        if self.thoughts:
            words += ["--thoughts"]
        return arena_command("human", [self.spec], [*words, "--seed", str(self.seed)])


class Records:
    """A file of game records in a folder, to which games are appended.

    `under_way` is the folder for the journals of unfinished games.
    """

    def __init__(self, folder: Path) -> None:
        """Create the folder and the file; raises InputError if they cannot be written."""
        self.path = folder / _NAME
        self.under_way = folder / _UNDER_WAY
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with self.path.open("a"):
                pass
        except OSError as error:
            raise InputError(f"{folder}: cannot be written: {error.strerror or error}") from None

    def add(self, line: str) -> int:
        """Append a record, and return its line number.

        Raises ArenaError, whose message contains the record, if it cannot be written.
        """
        try:
            with self.path.open("a+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.seek(0)
                before = file.read()
                separator = b"" if not before or before.endswith(b"\n") else b"\n"
                file.write(separator + line.encode() + b"\n")
                return before.count(b"\n") + len(separator) + 1
        except OSError as error:
            raise ArenaError(
                f"{self.path}: {error.strerror or error}; the record: {line}"
            ) from None


class RecordedGame:
    """One game of a session; `line` is the line of its record, None before it is recorded.

    With the journal of an interrupted game, that game is resumed: `former` are its actions before
    the interruption. `taken_back` are the actions that the person took back. `thoughtless` is the
    reason if the record lacks the thoughts that were requested.
    """

    def __init__(self, session: Session, number: int, journal: Journal | None = None) -> None:
        self.session = session
        self.fixture = session.fixture(number)
        self.draw = self.fixture.draw(session.seed, session.rules)
        self.state = State(self.draw.deal, session.rules)
        self.journal = journal
        self.taken_back: list[TakenBack] = []
        if journal is not None and journal.content is not None:
            self.draw = self.draw._replace(deal=journal.content.deal)
            self.state = journal.content.state.copy()
            self.taken_back += journal.content.taken_back
        self.former = self.state.history
        self.line: int | None = None
        self.thoughtless = ""

    @property
    def seat(self) -> Seat:
        """The seat of the person."""
        return self.fixture.seat

    def play(
        self,
        person: LocalPlayer,
        process: BotProcess,
        records: Records,
        asking: Callable[[bytes | None], None] = lambda _: None,
    ) -> Finished:
        """Play the game and record it, even if an exception ends it, which is raised again.

        `asking` is called before each choice of the bot. A game without an action is not recorded.
        Nor is a game that Suspend or Unreachable ends: its journal remains, so that it can be
        resumed. When the person raises TakeBack, the game continues from that ply with a restarted
        bot. Raises Changed if the bot does not repeat its earlier actions after that, or after an
        interruption.
        """
        finished = None
        with closing(self.journal or self._begin_journal(records)) as journal:
            try:
                while finished is None:
                    try:
                        finished = self._play_on(person, process, journal, asking)
                    except TakeBack as back:
                        self._take_back(back.ply, journal)
                        process.kill()
            except (Suspend, Unreachable):
                raise
            except BaseException:
                self._end(finished, records, journal)
                raise
            self._end(finished, records, journal)
            return finished

    def _end(self, finished: Finished | None, records: Records, journal: Journal) -> None:
        if finished is not None or self.state.history or self.taken_back:
            self._record(finished, records)
        journal.remove()

    def _play_on(
        self,
        person: LocalPlayer,
        process: BotProcess,
        journal: Journal,
        asking: Callable[[bytes | None], None],
    ) -> Finished:
        bot = self._bot(process, asking)
        players: list[Player] = [Kept(Inline(person), journal), Kept(bot, journal)]
        ordered = players if self.seat == 0 else players[::-1]
        (finished,) = play_together([play_asking(self.state, ordered)])
        assert finished is not None  # None is for a process that also holds other games
        return finished

    def _take_back(self, ply: int, journal: Journal) -> None:
        journal.take_back(ply)
        self.state, undone = take_back(self.draw.deal, self.state, ply)
        self.taken_back.append(undone)

    def keep(self, records: Records) -> int:
        """Record an interrupted game as it stands, and return its line number."""
        assert self.journal is not None
        with closing(self.journal):
            self._record(None, records)
            self.journal.remove()
        assert self.line is not None
        return self.line

    def close(self) -> None:
        """Release the journal, so that another process can resume the game."""
        if self.journal is not None:
            self.journal.close()

    def _begin_journal(self, records: Records) -> Journal:
        session, number = self.session, self.fixture.pair
        whose = Whose(
            session.person, session.spec, session.games, number, session.naming, session.thoughts
        )
        head = self._to_json(None, session=to_builtins(whose))
        return Journal.begin(records.under_way, f"{session.seed}-{number}", head)

    def _record(self, finished: Finished | None, records: Records) -> None:
        """Append the game to the records, even if the bot fails to report its thoughts."""
        thoughts = None
        try:
            if finished is not None and self.session.thoughts:
                thoughts = self._thoughts()
        finally:
            more = {} if thoughts is None else {"thoughts": write_thoughts(thoughts)}
            self.line = records.add(self._to_json(finished, **more))

    def _bot(self, process: BotProcess, asking: Callable[[bytes | None], None]) -> Player:
        """Return the bot as a player; in a game under way, it first repeats its actions."""
        clock, seat = self.session.limits.clock(), 1 - self.seat
        bot = RemotePlayer(process, 0, seat, self.draw.lucks[seat], clock, Timing(), asking)
        if not self.state.history:
            return bot
        beginning = State(self.draw.deal, self.session.rules)
        return Again(bot, seat, self.session.entry.label, beginning, self.state.history)

    def _thoughts(self) -> Thoughts:
        """Return the bot's estimates of its actions, empty if it has none."""
        seat, record = 1 - self.seat, Record.of(self.draw.deal, self.state)
        bot = {seat: (self.session.entry, self.draw.lucks[seat])}
        try:
            return find_thoughts(record, bot, self.session.limits).thoughts
        except InputError as error:
            self.thoughtless = str(error)
            return {}

    def _to_json(self, finished: Finished | None, **more: Any) -> str:
        """Return the record as one JSON line, with the seats, the result, the bot, and `more`."""
        session, fixture = self.session, self.fixture
        winner = win_type = None
        if self.taken_back:
            more = {"taken_back": [one._asdict() for one in self.taken_back]} | more
        if finished is not None:
            result = result_of(finished, *fixture[1:])
            win_type = result.win_type
            winner = None if result.winner is None else fixture.pairing[result.winner]
            if fault := finished.fault:
                guilty = {"bot": session.entry.label, "seat": finished.guilty}
                evidence = {"traceback": fault.traceback, "output": fault.output}
                what = {"kind": fault.kind, "ply": result.plies, "message": fault.message}
                more = {"fault": guilty | what | evidence} | more
        return Record.of(self.draw.deal, self.state).to_json(
            game=fixture.name,
            bots=fixture.labels,
            winner=winner,
            win_type=win_type,
            points=points(self.state.piles, self.state.rules),
            seed=session.seed,
            opponent=session.entry.describe(),
            **more,
        )


def play_session(
    session: Session, records: Records, terminal: Terminal, interrupted: RecordedGame | None = None
) -> bool:
    """Play the games of a session, each recorded; return False if the input ended too early.

    A game that is left early, even by an exception, is recorded as it stands. The session begins
    with the `interrupted` game. Raises Changed if its bot plays differently now.
    """
    ended_well = True
    first = interrupted or RecordedGame(session, 0)
    adopt_orphans()
    with (
        exit_on_termination(),
        scratch_folder() as folder,
        bot_process(session.entry, session.rules, session.limits, folder / BOT) as process,
    ):
        try:
            _play(first, process, records, terminal)
            for number in range(first.fixture.pair + 1, session.games):
                _play(RecordedGame(session, number), process, records, terminal)
        except (Quit, InputEnded) as reason:
            ended_well = isinstance(reason, Quit)
    terminal.say([f"The same again: {session.command}"])
    return ended_well


def _play(game: RecordedGame, process: BotProcess, records: Records, terminal: Terminal) -> None:
    """Play one game at the terminal, and show its end, even if an exception ends it."""
    label, naming = game.session.entry.label, game.session.naming
    opponent = shorten(label)
    begins = "you begin" if game.seat == 0 else f"{opponent} begins"
    terminal.say(["", f"You against {opponent}; {begins}."])
    if plies := len(game.former):
        terminal.say([f"The game goes on where it was interrupted, at ply {plies}."])
    person = PersonPlayer(terminal, label, naming)
    finished = None
    try:
        finished = game.play(person, process, records)
    except Unreachable:
        seed = f"--seed {game.session.seed}"
        terminal.say(["", f"The game is kept: the same command with {seed} goes on with it."])
        raise
    finally:
        if game.line is not None:
            if game.thoughtless:
                terminal.say([f"No thoughts: {game.thoughtless}"])
            if finished is not None:
                since = person.seen_plies
                lines = judge.format_ending(finished, game.seat, naming, label, since)
                terminal.say(["", *lines])
            _say_where(game, finished, records, terminal)


def _say_where(
    game: RecordedGame, finished: Finished | None, records: Records, terminal: Terminal
) -> None:
    """Show in which line of the file the game was recorded."""
    naming, line = game.session.naming, game.line
    what = "Recorded" if finished else "The game is kept unfinished"
    names = "" if naming == "english" else f" --names {naming}"
    path = quote(str(records.path))
    terminal.say(
        ["", f"{what}: line {line} of {path}", f"  arena show {path} --line {line}{names}"]
    )
