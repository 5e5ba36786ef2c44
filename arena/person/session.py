"""Session: a person plays games against a bot, and every one of them is recorded."""

from __future__ import annotations

import fcntl
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arena.entries.entry import Entry
from arena.errors import ArenaError, InputError
from arena.games.match import Finished, Player, game, play_together, result
from arena.games.players import RemotePlayer
from arena.games.timing import Timing
from arena.lanes import cleanup as orphans
from arena.lanes.launch import hello, launch
from arena.lanes.limits import Limits
from arena.lanes.process import BotProcess
from arena.lanes.scratch import scratch
from arena.lanes.signals import terminated_like_interrupted
from arena.person import ending
from arena.person.board import short
from arena.person.player import HumanPlayer, Quit
from arena.person.terminal import Ended, Terminal
from arena.tournament.schedule import Pairing
from engine import Record, Rules, State, points
from engine.play import deal_at, luck_address
from engine.seeds import digest
from engine.state import Seat
from engine.strategy import Clock

_NAME = "games.jsonl"


@dataclass(frozen=True)
class Session:
    """Games of a person against a bot: game n is on the deal of pair n of these two labels.

    The seats alternate; with an even seed the person begins the first game. The bot plays
    in a process of its own, so its lane is `process` or `jail`; `spec` is how it was named.
    """

    person: str
    entry: Entry
    spec: str
    seed: int
    games: int
    naming: str
    rules: Rules
    limits: Limits = field(default_factory=Limits)

    @property
    def pairing(self) -> Pairing:
        """The person and the bot."""
        return Pairing(self.person, self.entry.label)

    def seat(self, number: int) -> Seat:
        """Return where the person sits in a game."""
        return (self.seed + number) % 2

    def deal(self, number: int) -> bytes:
        """Return the deal of a game."""
        return deal_at(self.seed, self.pairing.deal_address(number), self.rules)


class Records:
    """A file of game records in a folder, to which games are added."""

    def __init__(self, folder: Path) -> None:
        """Make the folder and the file; raises InputError if they cannot be written."""
        self.path = folder / _NAME
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with self.path.open("a"):
                pass
        except OSError as error:
            raise InputError(f"{folder}: cannot be written: {error.strerror or error}") from None

    def add(self, line: str) -> int:
        """Add a record, and return the number of its line.

        Raises ArenaError, which holds the record, if it cannot be written.
        """
        try:
            with self.path.open("a+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.seek(0)
                before = file.read()
                lead = b"" if not before or before.endswith(b"\n") else b"\n"
                file.write(lead + line.encode() + b"\n")
                return before.count(b"\n") + len(lead) + 1
        except OSError as error:
            raise ArenaError(
                f"{self.path}: {error.strerror or error}; the record: {line}"
            ) from None


def play(session: Session, records: Records, terminal: Terminal) -> bool:
    """Play the games of a session, each recorded; return False if the input ended too early.

    A game that is left in the middle, also by an exception, is recorded as it is.
    """
    ended_well = True
    orphans.adopt()
    with terminated_like_interrupted(), _process(session) as process:
        try:
            for number in range(session.games):
                _Sitting(session, number, terminal).play(process, records)
        except (Quit, Ended) as reason:
            ended_well = isinstance(reason, Quit)
    terminal.say([f"The same again: {_command(session)}"])
    return ended_well


@contextmanager
def _process(session: Session) -> Iterator[BotProcess]:
    with scratch() as folder:
        started = launch(session.entry, session.limits, folder)
        said = hello(session.entry, session.rules)
        process = BotProcess(started, said, session.limits, lambda: None)
        try:
            yield process
        finally:
            process.kill()


def _command(session: Session) -> str:
    """Return the command that deals the same games again."""
    person, entry = session.person, session.entry
    words = ["arena", "play", "human" if person == "human" else f"{person}=human", session.spec]
    if entry.lane == "jail":
        words += ["--lane", "jail"]
    if session.games > 1:
        words += ["--games", str(session.games)]
    if session.naming != "english":
        words += ["--names", session.naming]
    return shlex.join([*words, "--seed", str(session.seed)])


class _Sitting:
    """One game of a session."""

    def __init__(self, session: Session, number: int, terminal: Terminal) -> None:
        self.session = session
        self.number = number
        self.terminal = terminal
        self.deal = session.deal(number)
        self.seat = session.seat(number)
        self.state = State(self.deal, session.rules)
        self.human = HumanPlayer(terminal, session.entry.label, session.naming)

    def play(self, process: BotProcess, records: Records) -> None:
        """Play the game and record it, whatever ends it; an exception goes on from here."""
        opponent = short(self.session.entry.label)
        begins = "you begin" if self.seat == 0 else f"{opponent} begins"
        self.terminal.say(["", f"You against {opponent}; {begins}."])
        finished = None
        try:
            players: list[Player] = [self.human, self._bot(process)]
            ordered = players if self.seat == 0 else players[::-1]
            (finished,) = play_together([game(self.state, ordered)])
        finally:
            self._record(finished, records)

    def _bot(self, process: BotProcess) -> RemotePlayer:
        session, seat = self.session, 1 - self.seat
        luck = luck_address(session.pairing.deal_address(self.number), seat)
        clock = Clock(session.limits.decision, session.limits.game)
        seed = digest(session.seed, *luck)
        return RemotePlayer(process, 0, seat, seed, clock, lambda *_: None, Timing())

    def _record(self, finished: Finished | None, records: Records) -> None:
        """Add the game to the records, and say how it ended and where it is."""
        if finished is None and not self.state.history:
            return
        line = records.add(self._json(finished))
        if finished is not None:
            shown = ending.lines(
                self.state,
                finished.fault,
                self.seat,
                self.session.naming,
                self.session.entry.label,
                self.human.told,
            )
            self.terminal.say(["", *shown])
        what = "Recorded" if finished else "The game is kept unfinished"
        names = "" if self.session.naming == "english" else f" --names {self.session.naming}"
        path = shlex.quote(str(records.path))
        self.terminal.say(
            ["", f"{what}: line {line} of {path}", f"  arena show {path} --line {line}{names}"]
        )

    def _json(self, finished: Finished | None) -> str:
        """Return the record as one JSON line, with who sat where, the result, and the bot."""
        session = self.session
        pairing, number, seat = session.pairing, self.number, self.seat
        winner = win_type = None
        more: dict[str, Any] = {}
        if finished is not None:
            _, _, won, win_type, *_ = result(finished, number, seat)
            winner = None if won is None else pairing[won]
            if finished.fault:
                more = {"fault": {"bot": session.entry.label, **finished.fault._asdict()}}
        return Record.of(self.deal, self.state).to_json(
            game="/".join([*pairing, str(number), str(seat)]),
            bots=(pairing[seat], pairing[1 - seat]),
            winner=winner,
            win_type=win_type,
            points=points(self.state.piles, self.state.rules),
            seed=session.seed,
            opponent=session.entry.described(),
            **more,
        )
