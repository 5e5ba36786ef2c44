"""Show one finished game of a run: its record, result, fault and timeline."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from arena.entries.entry import Entry
from arena.errors import counted, escape, shorten
from arena.games.match import GameResult
from arena.lanes.faults import BY_RULE, Fault
from arena.records.decisive import find_beliefs, mean_chances
from arena.records.judge import parse_players, parse_record
from arena.records.naming import Naming
from arena.records.show import PLAYERS, format_game
from arena.records.timeline import Thoughts, make_timeline, parse_thoughts, write_thoughts
from arena.tournament.schedule import Fixture
from arena.tournament.tournament import Tournament
from engine import Record, Seat, breakdown, outcome, points
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
    (('greedy', 'uniform'), 'greedy', 'points', (22, 7))
    >>> [part.points for part in game.breakdown]
    [22, 7]
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
            more["thoughts"] = write_thoughts(self.thoughts)
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
        from engine import EngineError

        try:
            timeline = game_timeline(self, by=resolve("champion"))
        except EngineError:
            return None
        return frame(render_replay(timeline), "Replay", "56rem")


def game_timeline(
    game: Game, *, title: str = "", seat: Seat | None = None, by: Entry | None = None
) -> dict[str, Any]:
    """Return the timeline of a game, or what one seat knew of it.

    `by` is the bot that says what the chances to win were; positions that it does not value
    have none. Raises InputError for a bot that cannot say it, and EngineError for a record
    that cannot be played.
    """
    beliefs = _ask(game.record, seat, by)
    return make_timeline(
        game.record,
        players=game.seats,
        seat=seat,
        chances=mean_chances(beliefs) if beliefs else None,
        beliefs=beliefs,
        thoughts=game.thoughts,
        winner=game.seats.index(game.winner) if game.fault and game.winner else None,
        ending=game.ending if seat is None else _known_ending(game),
        evidence="\n".join([*game.evidence()][1:]),
        title=title,
    )


def line_timeline(
    line: bytes, *, title: str = "", seat: Seat | None = None, by: Entry | None = None
) -> dict[str, Any]:
    """Return the timeline of a line of a file of records, as `game_timeline` does.

    The names, the fault and the thoughts that stand beside the record are shown where they
    can be. Raises RecordError, too, for a line that has no record.
    """
    record = parse_record(line)
    names = parse_players(line)
    players = (names[0], names[1]) if names[0] != names[1] else PLAYERS
    game = _read_game(line, record, players)
    if game is not None:
        return game_timeline(game, title=title, seat=seat, by=by)
    beliefs = _ask(record, seat, by)
    plies = len(record.actions)
    return make_timeline(
        record,
        players=players,
        seat=seat,
        chances=mean_chances(beliefs) if beliefs else None,
        beliefs=beliefs,
        thoughts=parse_thoughts(line, record),
        ending=f"unfinished after {counted(plies, 'ply', 'plies')}",
        title=title,
    )


def _ask(record: Record, seat: Seat | None, by: Entry | None) -> list[list[float | None]] | None:
    """Return the chances by what each seat that is shown knew."""
    return find_beliefs(record, by, (0, 1) if seat is None else (seat,)) if by else None


def read_line(line: bytes) -> Game | None:
    """Return the finished game of a line of a file of records, None for one that goes on.

    Raises EngineError for a line without a record, or one that cannot be played.
    """
    record, names = parse_record(line), parse_players(line)
    return _read_game(line, record, (names[0], names[1]) if names[0] != names[1] else PLAYERS)


def _read_game(line: bytes, record: Record, players: tuple[str, str]) -> Game | None:
    """Return the game of a line if it is finished: played to its end, or forfeited."""
    state = record.replay()
    thoughts = parse_thoughts(line, record)
    if state.over:
        winner, win_type, score = outcome(state.piles, state.rules)
        label = None if winner is None else players[winner]
        return Game(record, players, label, win_type, score, None, thoughts)
    fault = json.loads(line).get("fault")
    if not isinstance(fault, dict) or fault.get("bot") not in players:
        return None
    winner = 1 - players.index(fault["bot"])
    said = Fault(_text(fault.get("kind")), _text(fault.get("message")))
    score = points(state.piles, state.rules)
    return Game(record, players, players[winner], "forfeit", score, said, thoughts)


def _text(value: object) -> str:
    """Return a text of a record as one line."""
    return shorten(escape(value)) if isinstance(value, str) else ""


def _known_ending(game: Game) -> str:
    """Return how a game ended without what a fault says, which may be what was hidden."""
    if game.fault is None:
        return game.ending
    if game.fault.kind == BY_RULE:
        return f"{game.guilty} forfeits"
    return f"{game.guilty} forfeits at ply {game.plies}"
