"""A game of two bots and a game of a person, as the web page shows them during play."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

from arena.addons.table.open_game import OpenGame
from arena.addons.table.own_games import describe_strength, find_strength
from arena.addons.table.player import Quit
from arena.addons.table.session import RecordedGame, Records, TakeBack
from arena.entries.entry import Entry
from arena.errors import InputError
from arena.lanes.limits import Limits
from arena.lanes.process import BotProcess, bot_process
from arena.store.board import Board
from arena.store.finished import Game
from arena.store.judge import format_result
from arena.store.timeline import describe_rules, look_back, make_frames
from arena.tournament.match import Finished, play_asking, play_together, result_of
from arena.tournament.players import RemotePlayer
from arena.tournament.schedule import Fixture, Pairing
from arena.tournament.timing import Timing
from engine import STANDARD, Action, Record, State, View, to_text
from engine.cards import CHARS
from engine.errors import show
from engine.state import Seat
from engine.view import view

MOST_TAKEN_BACK: Final = 100
"""The most take-backs in a game, because its journal and its record are limited in size."""


class BotGame(OpenGame):
    """A game of two bots on the deal of pair 0, with the first bot in seat 0."""

    kind = "watch"

    def __init__(self, folder: Path, entries: tuple[Entry, Entry], seed: int) -> None:
        super().__init__(folder)
        self.entries = entries
        self.seed = seed
        self.fixture = Fixture(Pairing(*(entry.label for entry in entries)), 0, 0)
        self.draw = self.fixture.draw(seed)
        self.state = State(self.draw.deal)
        self.game: Game | None = None
        self._looks: list[tuple[View, View]] = []
        self._look()

    @property
    def title(self) -> str:
        """Who plays whom."""
        return "{} against {}".format(*self.fixture.labels)

    def play(self) -> dict[str, Any]:
        """Play the game, and return the final document."""
        self.news.publish(self.document("playing"))
        first, second = self.entries
        folders = [self.folder / str(seat) for seat in (0, 1)]
        for folder in folders:
            folder.mkdir()
        limits = Limits()
        with (
            bot_process(first, STANDARD, limits, folders[0], self.look_up) as one,
            bot_process(second, STANDARD, limits, folders[1], self.look_up) as two,
        ):
            players = [self._player(one, 0, limits), self._player(two, 1, limits)]
            (finished,) = play_together([play_asking(self.state, players)])
        assert finished is not None  # each process has one game, so it is finished
        return self._ending(finished)

    def document(self, phase: str, **more: Any) -> dict[str, Any]:
        """Return the document of the game: both hands, and every ply so far."""
        return {
            "kind": self.kind,
            "phase": phase,
            "over": phase != "playing",
            "players": [*self.fixture.labels],
            "seat": None,
            "seed": self.seed,
            "rules": describe_rules(STANDARD),
            "removed": to_text(bytes(sorted(self.state.removed))),
            "frames": make_frames(self._looks),
            **more,
        }

    def _player(self, process: BotProcess, seat: Seat, limits: Limits) -> RemotePlayer:
        luck = self.draw.lucks[seat]
        return RemotePlayer(process, 0, seat, luck, limits.clock(), Timing(), self._tell)

    def _tell(self, history: bytes | None) -> None:
        """Publish the position in which a bot must choose next."""
        if history is not None:
            self._look()
            self.news.publish(self.document("playing"))

    def _look(self) -> None:
        if len(self._looks) <= len(self.state.history):
            self._looks.append((view(self.state, 0), view(self.state, 1)))

    def _ending(self, finished: Finished) -> dict[str, Any]:
        self._look()
        result = result_of(finished, *self.fixture[1:])
        record = Record(to_text(self.draw.deal), result.actions)
        winner = None if result.winner is None else self.fixture.pairing[result.winner]
        score = result.points, result.opponent_points
        self.game = Game(record, self.fixture.labels, winner, result.win_type, score, result.fault)
        lines = [*self.game.evidence()] if result.fault else [self.game.ending]
        return self.document("ended", result=lines[0], evidence="\n".join(lines[1:]))


def find_choice(looks: Sequence[View]) -> int | None:
    """Return the ply of a seat's last action that was not forced, None if all were forced.

    `looks` are the views of the seat until now.

    >>> find_choice(look_back(View.from_text("0 5678 xy 5T")))
    0
    """
    plies = [len(look.history) for look in looks[:-1] if len(look.legal) > 1]
    return plies[-1] if plies else None


class PersonGame(OpenGame):
    """A person's game on the page; `following` is the id of the next game."""

    kind = "play"

    def __init__(self, folder: Path, recorded: RecordedGame, records: Records) -> None:
        super().__init__(folder)
        self.recorded = recorded
        self.session = recorded.session
        self.records = records
        self.following: str | None = None
        self._strength = describe_strength(find_strength(self.session.entry.describe()))
        self._awaited: View | None = None
        self._lock = threading.Lock()
        self._answers: SimpleQueue[Action | Quit | TakeBack] = SimpleQueue()

    @property
    def title(self) -> str:
        """Who plays whom."""
        return "{} against {}".format(*self.recorded.fixture.labels)

    @property
    def seen(self) -> View:
        """The person's present view."""
        return view(self.recorded.state, self.recorded.seat)

    def play(self) -> dict[str, Any]:
        """Play the game, and return the final document."""
        session = self.session
        self.news.publish(self.document("bot"))
        with (
            closing(self.recorded),
            bot_process(
                session.entry, session.rules, session.limits, self.folder, self.look_up
            ) as process,
        ):
            finished = self.recorded.play(self, process, self.records, self._tell_of_bot)
        return self._ending(finished)

    def begin(self) -> None:
        """Do nothing: a person needs no start."""

    def end(self) -> None:
        """Do nothing: a person has nothing to close."""

    def choose(self, seen: View, /) -> Action:
        """Return the action that the page sends; a forced action is chosen automatically."""
        if len(seen.legal) == 1:
            return seen.legal[0]
        with self._lock:
            self._awaited = None if self.leaving.is_set() else seen
        self.news.publish(self.document("yours"))
        answer = self._answers.get()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def act(self, ply: int, char: str) -> None:
        """Accept the person's action for a ply.

        Raises InputError if it is not legal there, and if the game does not wait for an action at
        this ply: a second tab may have been faster.
        """
        with self._lock:
            seen = self._asked_at(ply)
            action = CHARS.find(char) if len(char) == 1 else -1
            if action not in seen.legal:
                legal = " ".join(CHARS[one] for one in seen.legal)
                raise InputError(f"action {show(char)}: not legal; legal: {legal}")
            self._awaited = None
        self._answers.put(action)

    def take_back(self, ply: int) -> None:
        """Take back the person's last choice before a ply, and all later actions.

        Raises InputError without such a choice, after too many take-backs, and as `act` does.
        """
        with self._lock:
            back_to = find_choice(look_back(self._asked_at(ply)))
            if back_to is None:
                raise InputError("you have chosen nothing yet that could be taken back")
            if len(self.recorded.taken_back) >= MOST_TAKEN_BACK:
                raise InputError(f"{MOST_TAKEN_BACK} times is as often as one can take back")
            self._awaited = None
        self._answers.put(TakeBack(back_to))

    def _asked_at(self, ply: int) -> View:
        """Return the view in which the person chooses at a ply; the caller holds `_lock`."""
        if self._awaited is None or len(self._awaited.history) != ply:
            raise InputError(f"ply {ply}: the game does not wait for an action there")
        return self._awaited

    def asked(self) -> View:
        """Return the view in which the person must choose now; raises InputError otherwise."""
        with self._lock:
            if self._awaited is None:
                raise InputError("it is not your turn")
            return self._awaited

    def leave(self, reason: Quit | None = None) -> None:
        """End the game soon; it is recorded as it stands or, with Suspend, can be resumed later."""
        super().leave(reason)
        with self._lock:
            self._awaited = None
        self._answers.put(self._reason)

    def document(self, phase: str, **more: Any) -> dict[str, Any]:
        """Return the document of the game, which depends only on the person's View."""
        seen, labels = self.seen, self.recorded.fixture.labels
        looks = look_back(seen)
        opponent = labels[seen.opponent]
        return {
            "kind": self.kind,
            "phase": phase,
            "over": phase not in ("yours", "bot"),
            "players": [*labels],
            "seat": seen.seat,
            "names": self.session.naming,
            "rules": describe_rules(seen.rules),
            "frames": make_frames([(look,) for look in looks]),
            "texts": Board(seen, self.session.naming, opponent).actions,
            "interrupted": len(self.recorded.former),
            "strength": self._strength,
            "back_to": find_choice(looks),
            "taken_back": len(self.recorded.taken_back),
            "line": self.recorded.line,
            "file": str(self.records.path),
            **more,
        }

    def _tell_of_bot(self, _history: bytes | None) -> None:
        """Publish that the bot must choose next."""
        self.news.publish(self.document("bot"))

    def _ending(self, finished: Finished) -> dict[str, Any]:
        label = self.session.entry.label
        lines = [line.text for line in format_result(finished, self.recorded.seat, label)]
        return self.document(
            "ended",
            result=lines[0],
            evidence="\n".join(lines[1:]),
            command=self.session.command,
        )
