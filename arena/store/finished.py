"""Game: one finished game of a run, with all that is known of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from arena.games.match import GameResult
from arena.lanes.faults import BY_RULE, Fault
from arena.records.naming import Naming
from arena.records.show import format_game
from arena.records.thoughts import Thoughts, to_data
from arena.tournament.schedule import Fixture
from arena.tournament.tournament import Tournament
from engine import Record, breakdown
from engine.cards import to_text
from engine.scoring import Breakdown

_WAYS = {"city": "by City", "points": "on points", "tiebreak": "on the tie-break"}


@dataclass(frozen=True)
class Game:
    """One finished game: its record, who sat where, how it ended, and the fault of a forfeit.

    `seats` are labels; `winner` is one of them, None for a draw; `points` are those of seat 0
    and of seat 1. `thoughts` are what the bots thought of their actions, by ply, where they were
    asked. `str` shows the game ply by ply.

    >>> import arena
    >>> game = arena.play("greedy", "uniform", seed=3)
    >>> game.seats, game.winner, game.win_type, game.points
    (('greedy', 'uniform'), 'greedy', 'points', (19, 11))
    >>> [part.points for part in game.breakdown]
    [19, 11]
    """

    record: Record
    seats: tuple[str, str]
    winner: str | None
    win_type: str
    points: tuple[int, int]
    fault: Fault | None = None
    thoughts: Thoughts | None = field(default=None, hash=False)

    @classmethod
    def of(cls, tournament: Tournament, fixture: Fixture, result: GameResult) -> Game:
        """Return the game that was played at this place of a tournament."""
        deal = to_text(tournament.draw(fixture).deal)
        score = result.points, result.opponent_points
        return cls(
            Record(deal, result.actions, tournament.rules),
            fixture.labels,
            None if result.winner is None else fixture.pairing[result.winner],
            result.win_type,
            score if result.seat == 0 else score[::-1],
            result.fault,
        )

    @property
    def plies(self) -> int:
        """How many actions there were."""
        return len(self.record.actions)

    @property
    def guilty(self) -> str | None:
        """The label of the bot whose fault it was, None if there was no fault."""
        return self.seats[self.winner == self.seats[0]] if self.fault else None

    @property
    def breakdown(self) -> tuple[Breakdown, Breakdown]:
        """What the pile of each seat scores at the end, and from what.

        Raises EngineError for a record that cannot be played.
        """
        return breakdown(self.record.replay().piles, self.record.rules)

    @property
    def ending(self) -> str:
        """Why the game ended, as one sentence."""
        if self.fault is None:
            if self.winner is None:
                return "a draw, {} : {}".format(*self.points)
            own, other = self.points if self.winner == self.seats[0] else self.points[::-1]
            way = _WAYS.get(self.win_type, f"by {self.win_type}")
            return f"{self.winner} wins {way}, {own} : {other}"
        if self.fault.kind == BY_RULE:
            return f"{self.guilty} forfeits: {self.fault.message}"
        kind = f"{self.fault.kind} at ply {self.plies}"
        return f"{self.guilty} forfeits ({kind}): {self.fault.message}"

    def evidence(self) -> Iterator[str]:
        """Yield the lines that describe the game's fault, if there was one."""
        if self.fault is None:
            return
        yield self.ending
        for name, text in (("traceback", self.fault.traceback), ("printed", self.fault.output)):
            if text.strip():
                yield f"{name}:"
                yield from (f"  {line}" for line in text.strip().splitlines())

    def lines(self, names: Naming = "english") -> Iterator[str]:
        """Yield the lines of the game, ply by ply, and why it ended.

        `names` is what the cards are called. Raises EngineError for a record that cannot be played.
        """
        yield from format_game(self.record, names, self.seats)
        yield from self.evidence() if self.fault else [self.ending]

    def to_json(self) -> str:
        """Return the record as one JSON line, with the seats, the result and the thoughts."""
        more: dict[str, Any] = {}
        if self.fault:
            more["fault"] = {"bot": self.guilty, "kind": self.fault.kind, "ply": self.plies}
        if self.thoughts is not None:
            more["thoughts"] = to_data(self.thoughts)
        return self.record.to_json(
            bots=self.seats,
            winner=self.winner,
            win_type=self.win_type,
            points=self.points,
            **more,
        )

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        return "<Game {} - {}: {}>".format(*self.seats, self.ending)

    def _repr_html_(self) -> str | None:
        """Return the replay for a notebook, None for a record that cannot be played.

        It is a page in a frame, under its own policy: it can reach nothing of the notebook.
        """
        from arena.entries.resolve import resolve
        from arena.records.html_page import frame, render_replay
        from arena.store.timelines import game_timeline
        from engine import EngineError

        try:
            timeline = game_timeline(self, by=resolve("champion"))
        except EngineError:
            return None
        return frame(render_replay(timeline), "Replay", "56rem")
