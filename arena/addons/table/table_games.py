"""Play one game of a person and a bot, or of two bots; keep those that are open, and records."""

from __future__ import annotations

import fcntl
import json
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.errors import ArenaError, InputError, arena_command, naming
from arena.lanes.limits import Limits
from arena.lanes.process import BotProcess, bot_process
from arena.lanes.temp_and_cache_folders import remove_folder
from arena.replays.finished_game import Game, game_timeline
from arena.replays.timeline import make_timeline
from arena.runs.judge_games import describe_judge, review_record
from arena.tournament.config_keys import Naming
from arena.tournament.match import Player, play_asking, play_together, result_of
from arena.tournament.players import RemotePlayer
from arena.tournament.schedule import Fixture, Pairing
from arena.tournament.timing import Timing
from engine import STANDARD, TAKE, Action, Record, Rules, Seat, State, View, points
from engine.cards import CHARS
from engine.errors import show

LIMITS = Limits()
"""The limits of bots: those of `arena play`."""

SEEDS: Final = 1_000_000_000
"""Seeds are drawn below this number: they are short enough to be typed."""


class Quit(Exception):
    """The person, or the program, ends the game early."""


class Person(Player):
    """A person, as a player: there is nothing to start or to close."""

    def begin(self) -> None:
        """Do nothing."""

    def end(self) -> None:
        """Do nothing."""


class Match:
    """One game on the deal of a fixture; a seat without a bot is the person's.

    `game` is the finished game, None until then.
    """

    def __init__(
        self, fixture: Fixture, bots: Mapping[Seat, Entry], seed: int, rules: Rules = STANDARD
    ) -> None:
        self.fixture = fixture
        self.bots = bots
        self.seed = seed
        self.draw = fixture.draw(seed, rules)
        self.state = State(self.draw.deal, rules)
        self.game: Game | None = None

    @property
    def record(self) -> Record:
        """The record of the actions so far."""
        return Record.of(self.draw.deal, self.state)

    def play(
        self,
        person: Player,
        processes: Mapping[Seat, BotProcess],
        asking: Callable[[bytes | None], None] = lambda _: None,
    ) -> None:
        """Play the game; `asking` is called before each choice of a bot."""
        players: list[Player] = [person, person]
        for seat, process in processes.items():
            luck, clock = self.draw.lucks[seat], LIMITS.clock()
            players[seat] = RemotePlayer(process, 0, seat, luck, clock, Timing(), asking)
        (finished,) = play_together([play_asking(self.state, players)])
        assert finished is not None  # None is for a process that also holds other games
        result = result_of(finished, *self.fixture[1:])
        winner = None if result.winner is None else self.fixture.pairing[result.winner]
        score = points(self.state.piles, self.state.rules)
        labels, fault = self.fixture.labels, finished.fault
        self.game = Game(self.record, labels, winner, result.win_type, score, fault)

    def to_json(self) -> str:
        """Return the record of a person's game as one line, also of an unfinished game."""
        (bot,) = self.bots.values()
        more = {"game": self.fixture.name, "seed": self.seed, "opponent": bot.describe()}
        if self.game:
            return self.game.to_json(**more)
        result = {"winner": None, "win_type": None}
        score = points(self.state.piles, self.state.rules)
        return self.record.to_json(**more, bots=self.fixture.labels, **result, points=score)


@dataclass(frozen=True)
class Session:
    """Games of a person against a bot: game n is on the deal of pair n of these two labels.

    The seats alternate; with an even seed the person begins the first game. The bot plays in a
    process of its own, so its lane is not `inproc`; `spec` is its spec as typed.
    """

    person: str
    entry: Entry
    spec: str
    seed: int
    games: int = 1
    naming: Naming = "english"
    rules: Rules = STANDARD

    def match(self, number: int) -> Match:
        """Return the game of this number."""
        seat = (self.seed + number) % 2
        fixture = Fixture(Pairing(self.person, self.entry.label), number, seat)
        return Match(fixture, {1 - seat: self.entry}, self.seed, self.rules)

    @property
    def command(self) -> str:
        """The command that plays games on the same deals."""
        words = {
            "--me": "" if self.person == "human" else self.person,
            "--lane": "jail" if self.entry.lane == "jail" else "",
            "--games": str(self.games) if self.games > 1 else "",
            "--names": "" if self.naming == "english" else self.naming,
            "--rules": json.dumps(self.rules.changes()) if self.rules.changes() else "",
            "--seed": str(self.seed),
        }
        given = [word for pair in words.items() if pair[1] for word in pair]
        return arena_command("human", [self.spec], given)


class Records:
    """The file games.jsonl in a folder, to which records of games are appended."""

    def __init__(self, folder: Path) -> None:
        """Create the folder and the file; raises InputError if they cannot be written."""
        self.path = folder / "games.jsonl"
        with naming(f"{folder}: cannot be written", OSError):
            folder.mkdir(parents=True, exist_ok=True)
            self.path.open("a").close()

    def keep(self, match: Match) -> int | None:
        """Append a game, and return its line number; None for one in which nobody has acted.

        Raises ArenaError, whose message contains the record, if it cannot be written.
        """
        if match.game is None and not match.state.history:
            return None
        line = match.to_json()
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


MOST_OPEN: Final = 8
"""The most games under way at once: each has one or two processes of bots."""

WORLDS: Final = 200
"""Sampled worlds in which a judge tries each action: a game takes some 3 s of processor time."""

_MOST_KEPT: Final = 32
_PATIENCE: Final = 5.0  # seconds to wait for a game's end
_VALUER: Final = "champion"
_one_at_a_time = threading.Lock()


class TableGame(Person):
    """A game in a thread: of the person and a bot, or of two bots, whose game is not recorded.

    `news` is what the page shows; each has a `version`, which counts them. `folder` is a new folder
    for the processes of the bots.
    """

    def __init__(
        self, match: Match, records: Records, folder: Path, session: Session | None = None
    ) -> None:
        self.match = match
        self.records = records
        self.folder = folder
        self.session = session
        self.labels = match.fixture.labels
        self.person: Seat | None = next((seat for seat in (0, 1) if seat not in match.bots), None)
        self.news: dict[str, Any] = {"version": 0, "over": False}
        self._line: int | None = None
        self._awaited: View | None = None
        self._answers: SimpleQueue[Action | None] = SimpleQueue()
        self._leaving = self._has_quit = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._publish("begins")
        self._thread.start()

    def leave(self) -> None:
        """End the game soon, even while a bot is thinking; a person's game is recorded."""
        with self._lock:
            self._leaving, self._awaited = True, None
        self._answers.put(None)

    def join(self) -> None:
        """Wait for the end of the game, for some seconds at most."""
        self._thread.join(_PATIENCE)

    def act(self, ply: int, char: str) -> None:
        """Accept the person's action for a ply.

        Raises InputError if it is not legal there, and if the game does not wait for an action at
        this ply: a second tab may have been faster.
        """
        with self._lock:
            seen = self._awaited
            if seen is None or len(seen.history) != ply:
                raise InputError(f"ply {ply}: the game does not wait for an action there")
            action = CHARS.find(char) if len(char) == 1 else -1
            if action not in seen.legal:
                legal = " ".join(CHARS[one] for one in seen.legal)
                raise InputError(f"action {show(char)}: not legal; legal: {legal}")
            self._awaited = None
        self._answers.put(action)

    def judge(self) -> dict[str, Any]:
        """Return the timeline of the finished game with the loss of each decision."""
        if self.match.game is None:
            raise InputError("the game has not been played to its end")
        record, name = self.match.game.record, self.match.fixture.name
        with _one_at_a_time:
            judged = review_record(record, name=name, worlds=WORLDS)
        judge = describe_judge(worlds=WORLDS)
        return game_timeline(self.match.game, by=resolve(_VALUER), judged=judged, judge=judge)

    def choose(self, seen: View, /) -> Action:
        """Return the action that the page sends; a forced action is chosen automatically."""
        if len(seen.legal) == 1:
            return seen.legal[0]
        with self._lock:
            self._awaited = None if self._leaving else seen
        or_take = ", or take" if TAKE in seen.legal else ""
        self._publish("yours", f"Your turn: play a card{or_take}.")
        action = self._answers.get()
        if action is None:
            raise Quit
        return action

    def _run(self) -> None:
        phase, said = "failed", "The game has failed: an error of the arena: see its terminal"
        try:
            self._play()
            phase, said = "ended", ""
        except Quit:
            phase, said = "left", "The game was left."
        except ArenaError as problem:  # for example, the record cannot be written
            said = f"The game has failed: {problem}"
        finally:
            remove_folder(self.folder)
            self._publish(phase, said)

    def _play(self) -> None:
        rules, processes = self.match.state.rules, dict[Seat, BotProcess]()
        try:
            with ExitStack() as stack:
                for seat, entry in self.match.bots.items():
                    folder = self.folder / str(seat)
                    process = bot_process(entry, rules, LIMITS, folder, self._look_up)
                    processes[seat] = stack.enter_context(process)
                self.match.play(self, processes, self._hear)
        finally:
            if self.person is not None:
                self._line = self.records.keep(self.match)

    def _look_up(self) -> None:
        """Raise Quit if the game is to be left; this is called repeatedly while a bot thinks.

        It is raised only once, because cleaning up after a bot's process calls this, too.
        """
        if self._leaving and not self._has_quit:
            self._has_quit = True
            raise Quit

    def _hear(self, history: bytes | None) -> None:
        """Publish that a bot must choose next."""
        if history is not None:
            label = self.match.bots[self.match.state.to_act].label
            self._publish("bot", f"{label} is thinking\N{HORIZONTAL ELLIPSIS}")

    def _publish(self, phase: str, said: str = "") -> None:
        """Replace the news; until the end those of a person's game depend only on the View."""
        if phase == "ended" and self.match.game:
            timeline = game_timeline(self.match.game, by=resolve(_VALUER))
        else:
            record, seat = self.match.record, self.person
            timeline = make_timeline(record, players=self.labels, seat=seat, ending=said)
        over = phase in ("ended", "left", "failed")
        self.news = {
            "version": self.news["version"] + 1,
            "phase": phase,
            "over": over,
            "seat": self.person,
            "line": self._line,
            "file": str(self.records.path),
            "bot": self.session and self.session.spec,
            "command": self.session.command if self.session and phase == "ended" else "",
            "timeline": timeline,
        }


class Hall:
    """The games of a server by id ("1" and so on); `folder` holds the folders of their bots."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._games: dict[str, TableGame] = {}
        self._numbers = count(1)

    def open(self, match: Match, records: Records, session: Session | None = None) -> str:
        """Start a game, and return its id; the oldest ended game may be removed.

        Raises InputError if too many games are under way.
        """
        with self._lock:
            ended = [number for number, game in self._games.items() if game.news["over"]]
            if len(self._games) - len(ended) >= MOST_OPEN:
                raise InputError(f"{MOST_OPEN} games are under way; leave one of them first")
            if len(self._games) >= _MOST_KEPT:
                del self._games[ended[0]]
            number = str(next(self._numbers))
            folder = self.folder / number
            folder.mkdir()
            self._games[number] = TableGame(match, records, folder, session)
        return number

    def find(self, number: str) -> TableGame:
        """Return the game with an id; raises LookupError."""
        return self._games[number]

    def listing(self) -> list[dict[str, str]]:
        """Return the games as data, the newest first."""
        return [
            {"id": number, "title": " against ".join(game.labels), "phase": game.news["phase"]}
            for number, game in reversed([*self._games.items()])
        ]

    def close(self) -> None:
        """Leave all games, and wait for their ends."""
        games = [*self._games.values()]
        for game in games:
            game.leave()
        for game in games:
            game.join()
