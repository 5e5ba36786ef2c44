"""Play one game of a person and a bot, or of two bots, and keep the records of persons' games."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.entries.entry import Entry
from arena.errors import ArenaError, InputError, arena_command
from arena.lanes.limits import Limits
from arena.lanes.process import BotProcess
from arena.store.finished import Game
from arena.tournament.keys import Naming
from arena.tournament.match import (
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
from arena.tournament.timing import Timing
from engine import STANDARD, Record, Rules, State, points
from engine.state import Seat

LIMITS = Limits()
"""The limits of bots: those of `arena play`."""


class Quit(Exception):
    """The person, or the program, ends the game early."""


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
        person: LocalPlayer,
        processes: Mapping[Seat, BotProcess],
        asking: Callable[[bytes | None], None] = lambda _: None,
    ) -> Finished:
        """Play the game; `asking` is called before each choice of a bot."""
        players: list[Player] = [Inline(person), Inline(person)]
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
        return finished

    def to_json(self) -> str:
        """Return the record of a person's game as one line, also of an unfinished game."""
        game, (bot,) = self.game, self.bots.values()
        more: dict[str, Any] = {}
        if game and game.fault:
            fault = {"kind": game.fault.kind, "ply": game.plies, "message": game.fault.message}
            more["fault"] = {"bot": game.guilty} | fault
        return self.record.to_json(
            game=self.fixture.name,
            bots=self.fixture.labels,
            winner=game and game.winner,
            win_type=game and game.win_type,
            points=points(self.state.piles, self.state.rules),
            seed=self.seed,
            opponent=bot.describe(),
            **more,
        )


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
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.path.open("a").close()
        except OSError as error:
            raise InputError(f"{folder}: cannot be written: {error.strerror or error}") from None

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
