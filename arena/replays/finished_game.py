"""Show one finished game of a run: its record, result, fault and timeline."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, Unpack

from arena.entries.entry import Entry
from arena.errors import counted
from arena.lanes.faults import Fault
from arena.replays.board import WIDTH, Layout, add_majorities, group
from arena.replays.curve import find_curve
from arena.replays.timeline import Thoughts, make_timeline, write_thoughts
from arena.statistics.counts import BY_RULE
from arena.tournament.asking import Judged
from arena.tournament.config_keys import Naming
from arena.tournament.match import GameResult
from arena.tournament.schedule import Fixture
from arena.tournament.tournament import Tournament
from engine import Record, Seat, State, breakdown, outcome, points
from engine.cards import to_text
from engine.notation import parse_actions, parse_deal
from engine.scoring import Breakdown
from engine.view import view

PLAYERS = ("seat 0", "seat 1")
"""The default names of the players."""


def _list_items(head: str, items: Iterable[str]) -> list[str]:
    text = f"  {head:<7} {', '.join(items) or '-'}"
    return textwrap.wrap(text, WIDTH, subsequent_indent=" " * 10)


def format_game(record: Record, naming: Naming, players: Sequence[str] = PLAYERS) -> Iterator[str]:
    """Yield the lines of a game; `players` are the names of seat 0 and of seat 1.

    Raises EngineError for a bad record, after the lines of the plies before the mistake.
    """
    state = State(parse_deal(record.deal, record.rules), record.rules)
    actions = parse_actions(record.actions)
    layout = Layout((view(state, 0), view(state, 1)), naming)
    if players != PLAYERS:
        for seat, player in enumerate(players):
            yield from textwrap.wrap(f"seat {seat}: {player}", WIDTH, subsequent_indent="  ")
    yield "the deal"
    yield from _show_position(layout, state)
    number = 0
    for ply, action in enumerate(actions):
        if not state.over and state.round != number:
            number = state.round
            yield f"round {number}, {players[state.to_act]} begins"
        state.apply(state.checked(action))
        layout.follow((view(state, 0), view(state, 1)))
        move = layout.moves[-1]
        text = f"ply {ply}: {move.describe(players[move.seat])}"
        yield from textwrap.wrap(text, WIDTH, subsequent_indent="  ")
        yield from _show_position(layout, state)
    yield from _show_ending(state, players)


def _show_position(layout: Layout, state: State) -> Iterator[str]:
    """Yield the row, hands, piles and score of a position."""
    yield from _list_items("row", [card.name for card in layout.row])
    for seat in (0, 1):
        yield from _list_items(f"hand {seat}", group(layout.hands[seat]))
    for seat in (0, 1):
        yield from _list_items(f"pile {seat}", group(layout.piles[seat]))
    yield from _list_items("score", ["{} : {}".format(*points(state.piles, state.rules))])


def _show_ending(state: State, players: Sequence[str]) -> Iterator[str]:
    winner, win_type, score = outcome(state.piles, state.rules)
    if not state.over:
        plies = len(state.history)
        yield f"unfinished after {counted(plies, 'ply', 'plies')}"
    elif winner is None:
        yield f"a draw, {score[0]} : {score[1]}"
    else:
        yield _say_win(players[winner], win_type, score if winner == 0 else score[::-1])
    for seat, part in enumerate(breakdown(state.piles, state.rules)):
        yield (
            f"  seat {seat}  majorities {add_majorities(part)}, sets {part.sets}, "
            f"alliances {part.alliances}, betrayals {part.betrayals}"
        )


_WAYS = {"city": "by City", "points": "on points", "tiebreak": "on the tie-break"}


def _say_win(winner: str, win_type: str, score: Sequence[int]) -> str:
    way = _WAYS.get(win_type, f"by {win_type}")
    return f"{winner} wins {way}, {score[0]} : {score[1]}"


@dataclass(frozen=True)
class Game:
    """One finished game: its record, the bots in both seats, the result, and a forfeit's fault.

    `seats` are labels; `winner` is one of them, None for a draw; `points` are the points of seat 0
    and of seat 1. `thoughts` are the bots' estimates of their actions by ply, if these were
    requested. `str` shows the game ply by ply.

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
        """Return the game with this result at this place in a tournament."""
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
        """The number of actions."""
        return len(self.record.actions)

    @property
    def guilty(self) -> str | None:
        """The label of the bot that committed a fault, None if there was no fault."""
        return self.seats[self.winner == self.seats[0]] if self.fault else None

    @property
    def breakdown(self) -> tuple[Breakdown, Breakdown]:
        """The final points of each seat's pile, by source.

        Raises EngineError for a record that cannot be played.
        """
        return breakdown(self.record.replay().piles, self.record.rules)

    @property
    def ending(self) -> str:
        """The reason why the game ended, as one sentence, with the winner's points first."""
        if self.fault is None:
            if self.winner is None:
                return "a draw, {} : {}".format(*self.points)
            is_first = self.winner == self.seats[0]
            score = self.points if is_first else self.points[::-1]
            return _say_win(self.winner, self.win_type, score)
        if self.fault.kind == BY_RULE:
            return f"{self.guilty} forfeits: {self.fault.message}"
        kind = f"{self.fault.kind} at ply {self.plies}"
        return f"{self.guilty} forfeits ({kind}): {self.fault.message}"

    def evidence(self) -> Iterator[str]:
        """Yield lines that describe the game's fault, if there was one."""
        if self.fault is None:
            return
        yield self.ending
        for name, text in (("traceback", self.fault.traceback), ("printed", self.fault.output)):
            if text.strip():
                yield f"{name}:"
                yield from (f"  {line}" for line in text.strip().splitlines())

    def lines(self, names: Naming = "english") -> Iterator[str]:
        """Yield the lines of the game, ply by ply, and why it ended.

        `names` is the naming of the cards. Raises EngineError for a record that cannot be replayed.
        """
        yield from format_game(self.record, names, self.seats)
        yield from self.evidence()

    def to_json(self, **more: Any) -> str:
        """Return the record as one JSON line, with the seats, result, fault and thoughts."""
        names = "winner", "win_type", "points"
        more |= {"bots": self.seats} | {name: getattr(self, name) for name in names}
        if self.fault:
            said = {"ply": self.plies, "message": self.fault.message}
            more["fault"] = {"bot": self.guilty, "kind": self.fault.kind, **said}
        if self.thoughts is not None:
            more["thoughts"] = write_thoughts(self.thoughts)
        return self.record.to_json(**more)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        return "<Game {} - {}: {}>".format(*self.seats, self.ending)

    def _repr_html_(self) -> str | None:
        """Return the replay as HTML for a notebook, None for a record that cannot be replayed.

        It is a page in a frame with its own security policy: it cannot access the notebook.
        """
        from arena.entries.resolve import resolve
        from arena.replays.html_page import frame, render_replay
        from engine import EngineError

        try:
            timeline = game_timeline(self, by=resolve("champion"))
        except EngineError:
            return None
        return frame(render_replay(timeline), "Replay", "56rem")


class Shown(TypedDict, total=False):
    """Options of a timeline: the view shown, the estimating bot, and judged decisions.

    `by` is the bot that estimates the chances to win; a position without its estimate has no
    chance. The other keys are arguments of `make_timeline`.
    """

    title: str
    seat: Seat | None
    by: Entry | None
    judged: Sequence[Judged] | None
    judge: str


def game_timeline(game: Game, **shown: Unpack[Shown]) -> dict[str, Any]:
    """Return the timeline of a game, in full or as one seat saw it.

    Raises InputError for a bot that does not estimate chances, and EngineError for a record that
    cannot be replayed.
    """
    seat = shown.get("seat")
    return make_timeline(
        game.record,
        players=game.seats,
        **find_shown(game.record, shown),
        thoughts=game.thoughts,
        winner=game.seats.index(game.winner) if game.fault and game.winner else None,
        ending=game.ending if seat is None else _known_ending(game),
        evidence="\n".join([*game.evidence()][1:]),
    )


def find_shown(record: Record, shown: Shown) -> dict[str, Any]:
    """Return the options of a timeline, with the curve in the views of the seats shown."""
    found: dict[str, Any] = {name: value for name, value in shown.items() if name != "by"}
    if by := shown.get("by"):
        seat = shown.get("seat")
        curve = find_curve(record, by, (0, 1) if seat is None else (seat,))
        found |= {"chances": curve.chances, "beliefs": curve.beliefs, "off": curve.off}
    return found


def _known_ending(game: Game) -> str:
    """Describe how a game ended without a fault's message, which may reveal hidden cards."""
    if game.fault is None:
        return game.ending
    if game.fault.kind == BY_RULE:
        return f"{game.guilty} forfeits"
    return f"{game.guilty} forfeits at ply {game.plies}"
