"""Play one game between two players, each in its lane; a fault is a forfeit.

A game is a generator, which yields a Question whenever a bot in another process has to answer. Thus
many games are played at once, and one message carries many views. Only a game of two bots in this
process that needs no clock is played by the engine's own loop, which takes 7 % less.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, TypeVar

from arena.entries.entry import Entry
from arena.lanes.faults import Fault, Forfeit, forfeit_from
from arena.lanes.limits import MOST_WAITING, Allowed
from arena.lanes.messages import Answer, End, Message
from engine import outcome
from engine.cards import Action, to_text
from engine.play import Draw, play, setup
from engine.state import Seat, State
from engine.strategy import Clock, Spent, Strategy, close
from engine.view import View, view

if TYPE_CHECKING:  # a run without processes starts 8 ms sooner
    from arena.lanes.process import BotProcess

_logger = logging.getLogger("arena")
_warned: set[str] = set()  # labels of bots


class GameResult(NamedTuple):
    """One finished game, as the pairing's first bot sees it.

    `seat` is that bot's seat; `winner` is 0 for it, 1 for its opponent, None for a draw; `win_type`
    is the engine's or "forfeit"; `fault` is the reason of a forfeit; `actions` are in the engine's
    notation.
    """

    pair: int
    seat: Seat
    winner: int | None
    win_type: str
    points: int
    opponent_points: int
    plies: int
    fault: Fault | None
    actions: str

    @property
    def score(self) -> float:
        """The score of the pairing's first bot: 1 for a win, 1/2 for a draw, 0 for a loss."""
        return 0.5 if self.winner is None else 1.0 - self.winner


class Finished(NamedTuple):
    """A finished game: its last position, and the fault that ended it with the guilty seat."""

    state: State
    fault: Fault | None = None
    guilty: Seat | None = None


class Question(NamedTuple):
    """A message to a bot's process, and the time allowed for the answer."""

    process: BotProcess
    message: Message
    allowed: Allowed


class Reply(NamedTuple):
    """The answer to a question, and the time spent on all questions in the same message.

    `share` is this time divided by the number of questions.
    """

    answer: Answer
    spent: Spent
    share: Spent


class Doubt(Exception):
    """An answer may have been late: it came with others in one message."""


T = TypeVar("T")
Asking: TypeAlias = Generator[Question, Reply, T]
"""A generator that yields questions to a bot in another process, and returns a result."""


class Player(Protocol):
    """A player of a seat; every method may raise Forfeit.

    One in this process answers at once, one elsewhere by a generator of questions.
    """

    def begin(self) -> Asking[None] | None:
        """Make the bot's strategy."""

    def choose(self, view: View, /) -> Asking[Action] | Action:
        """Return the player's action, which is legal."""

    def end(self) -> Asking[None] | None:
        """Close the bot's strategy, if there is one."""


def play_asking(state: State, players: Sequence[Player]) -> Asking[Finished]:
    """Play a game to its end, in place; the players are in the order of the seats."""
    finished = Finished(state)
    begun = []
    seat = 0
    try:
        for seat in (0, 1):
            begun.append(players[seat])
            yield from players[seat].begin() or ()
        while not state.over:
            seat = state.to_act
            action = players[seat].choose(view(state, seat))
            state.apply(action if isinstance(action, int) else (yield from action))
    except Forfeit as forfeit:
        finished = Finished(state, forfeit.fault, seat)
    for seat, player in enumerate(begun):
        try:
            yield from player.end() or ()
        except Forfeit as forfeit:  # a second answer to the last message, say
            if finished.fault is None:
                finished = Finished(state, forfeit.fault, seat)
    return finished


def play_together(games: Sequence[Asking[T]]) -> list[T | None]:
    """Play games to their ends concurrently, with one message to a process for many games.

    Only one process works at a time, so that its measured time is its own. None stands for a game
    that has to be played separately: it was in progress when a process with several games failed,
    or an answer in it may have been late.
    """
    finished: list[T | None] = [None] * len(games)
    waiting: dict[int, Question] = {}
    _advance(games, dict.fromkeys(range(len(games))), waiting, finished)
    while waiting:
        replies, failed = _ask(_most_wanted(waiting))
        if failed and len(waiting) > 1:
            break
        for number in replies:
            del waiting[number]
        _advance(games, replies, waiting, finished)
    for game in games:
        game.close()
    return finished


def _most_wanted(waiting: Mapping[int, Question]) -> dict[int, Question]:
    """Return the questions to the process with the most of them; End messages go separately."""
    shares: dict[tuple[BotProcess, bool], dict[int, Question]] = {}
    for number, question in waiting.items():
        key = question.process, isinstance(question.message, End)
        shares.setdefault(key, {})[number] = question
    return max(shares.values(), key=len)


def _ask(questions: Mapping[int, Question]) -> tuple[dict[int, Reply | Forfeit], bool]:
    """Ask a process several questions at once; return the replies, and whether it failed.

    All together have the time that is allowed for one of them.
    """
    of_one = [*questions.values()]
    allowed = Allowed(*map(min, zip(*(question.allowed for question in of_one), strict=True)))
    process = of_one[0].process
    answers, spent = process.ask([question.message for question in of_one], allowed)
    share = spent if len(of_one) == 1 else Spent(*(part / len(of_one) for part in spent))
    replies: dict[int, Reply | Forfeit] = {
        number: answer if isinstance(answer, Forfeit) else Reply(answer, spent, share)
        for number, answer in zip(questions, answers, strict=False)
    }
    return replies, process.pid is None


def _advance(
    games: Sequence[Asking[T]],
    replies: Mapping[int, Reply | Forfeit | None],
    waiting: dict[int, Question],
    finished: list[T | None],
) -> None:
    """Continue games with their replies, each up to its next question or its end."""
    for number, reply in replies.items():
        game = games[number]
        try:
            if reply is None:
                waiting[number] = next(game)
            elif isinstance(reply, Forfeit):
                # its traceback leads to a frame that holds it, and would keep the game's bots
                waiting[number] = game.throw(reply.with_traceback(None))
            else:
                waiting[number] = game.send(reply)
        except StopIteration as stop:
            finished[number] = stop.value
        except Doubt:
            pass


def result_of(finished: Finished, pair: int, seat: Seat) -> GameResult:
    """Return the result of a game in which the pairing's first bot had this seat."""
    state, fault, guilty = finished
    winning_seat: Seat | None
    win_type: str
    winning_seat, win_type, score = outcome(state.piles, state.rules)
    if guilty is not None:
        winning_seat, win_type = 1 - guilty, "forfeit"
    winner = None if winning_seat is None else int(winning_seat != seat)
    plies, actions = len(state.history), to_text(state.history)
    points, opponent_points = score[seat], score[1 - seat]
    return GameResult(pair, seat, winner, win_type, points, opponent_points, plies, fault, actions)


def blame(entry: Entry, error: BaseException, output: str = "", kind: str = "exception") -> Forfeit:
    """Return the forfeit of a bot in this process for what it has raised, SystemExit too.

    But from a bot of `bots/` comes only an Exception: another one is of a signal to the process
    that plays, and is raised again.
    """
    if entry.is_ours and not isinstance(error, Exception):
        raise error
    return forfeit_from(error, output, kind)


def close_after(entry: Entry, strategy: Strategy) -> None:
    """Close a strategy in this process after its game; log what it raises as a warning."""
    try:
        close(strategy)
    except BaseException as error:
        warn_of_close(entry.label, blame(entry, error).fault.message)


def warn_of_close(label: str, why: str) -> None:
    """Log that a bot failed in `close`, only once per bot in this process."""
    if label not in _warned:
        _warned.add(label)
        _logger.warning("%s failed in close(), after its game: %s", label, why)


class WallClock(Clock):
    """A Clock that reads only the wall clock (0.04 us), not the processor's (0.8 us and more).

    It never charges less than a Clock that reads both.
    """

    __slots__ = ()

    @classmethod
    def like(cls, clock: Clock) -> WallClock:
        """Return a WallClock with the limits of another clock."""
        return cls(clock.decision, clock.game, clock.backstop, clock.game_backstop)

    def start(self, limit: float | None = None) -> None:
        """Begin a decision; `limit` replaces the clock's own."""
        self._limit = self.limit() if limit is None else limit
        self._since = perf_counter()

    def _spent(self) -> Spent:
        assert self._since is not None
        wall = perf_counter() - self._since
        return Spent(wall, wall)


def play_untimed(
    state: State, entries: Sequence[Entry], draw: Draw, clock: WallClock
) -> tuple[Finished, bool]:
    """Play a game to its end, in place; return it, and whether it was certainly in time.

    The entries are in the order of the seats. A game that took long by the wall clock may still
    have been in time.
    """
    clock.start()
    strategies: list[Strategy] = []
    finished = Finished(state)
    try:
        for seat, entry, luck in zip((0, 1), entries, draw.lucks, strict=True):
            strategies.append(entry.create(setup(luck, seat, state.rules, clock)))
        play(state, strategies)
    except BaseException as error:
        guilty = state.to_act if len(strategies) > 1 else len(strategies)
        finished = Finished(state, blame(entries[guilty], error).fault, guilty)
    spent, in_time = clock.stop()
    for entry, strategy in zip(entries, strategies, strict=False):
        close_after(entry, strategy)
    return finished, in_time and spent.wall <= MOST_WAITING
