"""PersonGame: a game of a person at the page, who is sent what a View holds, and no more."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from arena.errors import InputError
from arena.games.match import Finished
from arena.lanes.process import bot_process
from arena.records.board import Board
from arena.records.ending import format_result
from arena.records.timeline import describe_rules, look_back, make_frames
from arena.table.open_game import OpenGame
from arena.table.player import Quit
from arena.table.sitting import Records, Sitting
from engine import Action, View
from engine.cards import CHARS
from engine.errors import show
from engine.view import view


class PersonGame(OpenGame):
    """A sitting at the page; `following` is the id of the next one."""

    kind = "play"

    def __init__(self, folder: Path, sitting: Sitting, records: Records) -> None:
        super().__init__(folder)
        self.sitting = sitting
        self.session = sitting.session
        self.records = records
        self.following: str | None = None
        self._awaited: View | None = None
        self._lock = threading.Lock()
        self._answers: SimpleQueue[Action | None] = SimpleQueue()

    @property
    def title(self) -> str:
        """Who plays whom."""
        return "{} against {}".format(*self.sitting.fixture.labels)

    @property
    def seen(self) -> View:
        """What the person knows now."""
        return view(self.sitting.state, self.sitting.seat)

    def play(self) -> dict[str, Any]:
        """Play the game, and return how it ended."""
        session = self.session
        self.news.publish(self.document("bot"))
        with (
            closing(self.sitting),
            bot_process(
                session.entry, session.rules, session.limits, self.folder, self.look_up
            ) as process,
        ):
            finished = self.sitting.play(self, process, self.records, self._tell_of_bot)
        return self._ending(finished)

    def begin(self) -> None:
        """Do nothing: the person is there."""

    def choose(self, seen: View, /) -> Action:
        """Return the action that the page sends; a forced one is not asked for."""
        if len(seen.legal) == 1:
            return seen.legal[0]
        with self._lock:
            self._awaited = None if self.leaving.is_set() else seen
        self.news.publish(self.document("yours"))
        action = self._answers.get()
        if action is None:
            raise Quit
        return action

    def act(self, ply: int, char: str) -> None:
        """Take the person's action for a ply.

        Raises InputError for what is not legal there, and if the game waits for no action at
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

    def asked(self) -> View:
        """Return the view with which the person is asked now; raises InputError if not."""
        with self._lock:
            if self._awaited is None:
                raise InputError("it is not your turn")
            return self._awaited

    def leave(self) -> None:
        """End the game soon; it is recorded as it stands."""
        super().leave()
        with self._lock:
            self._awaited = None
        self._answers.put(None)

    def document(self, phase: str, **more: Any) -> dict[str, Any]:
        """Return what is to be told: what follows from the person's View."""
        seen, labels = self.seen, self.sitting.fixture.labels
        opponent = labels[seen.opponent]
        return {
            "kind": self.kind,
            "phase": phase,
            "over": phase not in ("yours", "bot"),
            "players": [*labels],
            "seat": seen.seat,
            "names": self.session.naming,
            "rules": describe_rules(seen.rules),
            "frames": make_frames([(one,) for one in look_back(seen)]),
            "texts": Board(seen, self.session.naming, opponent).actions,
            "interrupted": len(self.sitting.former),
            "line": self.sitting.line,
            "file": str(self.records.path),
            **more,
        }

    def recorded_line(self) -> int:
        """Return where the game is recorded; raises InputError as long as it goes on."""
        line = self.sitting.line
        if self.news.latest.get("phase") != "ended" or line is None:
            raise InputError("the game has not been played to its end")
        return line

    def _tell_of_bot(self, _history: bytes | None) -> None:
        """Tell that the bot is asked next."""
        self.news.publish(self.document("bot"))

    def _ending(self, finished: Finished) -> dict[str, Any]:
        label = self.session.entry.label
        lines = [line.text for line in format_result(finished, self.sitting.seat, label)]
        return self.document(
            "ended",
            result=lines[0],
            evidence="\n".join(lines[1:]),
            command=self.session.command,
        )
