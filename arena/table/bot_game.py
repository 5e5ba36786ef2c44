"""BotGame: a game of two bots that is looked at while it is played, with the referee's eyes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arena.entries.entry import Entry
from arena.games.match import Finished, play_asking, play_together, result_of
from arena.games.players import RemotePlayer
from arena.games.timing import Timing
from arena.lanes.limits import Limits
from arena.lanes.process import BotProcess, bot_process
from arena.records.timeline import describe_rules, make_frames
from arena.store.finished import Game
from arena.table.open_game import OpenGame
from arena.tournament.schedule import Fixture, Pairing
from engine import STANDARD, Record, State, to_text
from engine.state import Seat
from engine.view import View, view


class BotGame(OpenGame):
    """The game of pair 0 between two bots, of which the first one has seat 0."""

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
        """Play the game, and return how it ended."""
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
        assert finished is not None  # no process holds two games
        return self._ending(finished)

    def document(self, phase: str, **more: Any) -> dict[str, Any]:
        """Return what is to be told: both hands, and every ply until now."""
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
        """Tell of the position in which a bot is asked next."""
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
