"""Match: one game between two players, each in its lane; a fault is a forfeit.

Two bots in this process play the engine's own loop. A game with a bot in another process is
a generator: it yields a Question wherever that bot has to answer, so that many games go on
together and one message carries many views.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

from arena.lanes.faults import Fault, Forfeit
from arena.lanes.messages import Answer, Message
from arena.lanes.process import BotProcess
from engine import outcome
from engine.cards import Action, to_text
from engine.play import play
from engine.state import Seat, State
from engine.view import View, view


class GameResult(NamedTuple):
    """One finished game, as the pairing's first bot sees it.

    `seat` is where that bot sat; `winner` is 0 for it, 1 for its opponent, None for a draw;
    `win_type` is the engine's or "forfeit"; `fault` is what the loser of a forfeit did wrong;
    `actions` are in the engine's notation.
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


class Finished(NamedTuple):
    """A game that is over: its last position, and the fault that ended it with its seat."""

    state: State
    fault: Fault | None = None
    guilty: Seat | None = None


class Question(NamedTuple):
    """A message to a bot's process, and the seconds that the bot has for the answer."""

    process: BotProcess
    message: Message
    seconds: float


T = TypeVar("T")
Asking: TypeAlias = Generator[Question, Answer, T]
"""Something that a bot in another process may be asked for."""


class LocalPlayer(Protocol):
    """A player in this process; everything raises Forfeit."""

    def begin(self) -> None:
        """Make the bot's strategy."""

    def choose(self, view: View, /) -> Action:
        """Return the player's action, which is legal."""


class Player(Protocol):
    """A player that may be in another process; everything raises Forfeit."""

    def begin(self) -> Asking[None]:
        """Make the bot's strategy."""

    def choose(self, view: View, /) -> Asking[Action]:
        """Return the player's action, which is legal."""

    def end(self) -> Asking[None]:
        """Say that the game is over."""


class Inline:
    """A local player in a game with one in another process: it asks no question."""

    def __init__(self, player: LocalPlayer) -> None:
        self.player = player

    def begin(self) -> Asking[None]:
        """Make the bot's strategy."""
        self.player.begin()
        return
        yield

    def choose(self, view: View, /) -> Asking[Action]:
        """Return the player's action."""
        return self.player.choose(view)
        yield

    def end(self) -> Asking[None]:
        """Do nothing."""
        return
        yield


def play_local(state: State, players: Sequence[LocalPlayer]) -> Finished:
    """Play a game between two players in this process, in the order of the seats."""
    for seat, player in enumerate(players):
        try:
            player.begin()
        except Forfeit as forfeit:
            return Finished(state, forfeit.fault, seat)
    try:
        play(state, players)
    except Forfeit as forfeit:
        return Finished(state, forfeit.fault, state.to_act)
    return Finished(state)


def play_asking(state: State, players: Sequence[Player]) -> Asking[Finished]:
    """Play a game to its end, in place; the players are in the order of the seats."""
    finished = Finished(state)
    begun = []
    seat = 0
    try:
        for seat in (0, 1):
            begun.append(players[seat])
            yield from players[seat].begin()
        while not state.over:
            seat = state.to_act
            action = yield from players[seat].choose(view(state, seat))
            state.apply(action)
    except Forfeit as forfeit:
        finished = Finished(state, forfeit.fault, seat)
    for seat, player in enumerate(begun):
        try:
            yield from player.end()
        except Forfeit as forfeit:  # a second answer to the last message, say
            if finished.fault is None:
                finished = Finished(state, forfeit.fault, seat)
    return finished


def play_together(games: Sequence[Asking[Finished]]) -> list[Finished | None]:
    """Play games to their ends side by side, asking each process about many at once.

    None stands for a game that was under way when a process failed while it held other
    games too: which of them caused it is unknown, so each has to be played by itself.
    """
    finished: list[Finished | None] = [None] * len(games)
    waiting: dict[int, Question] = {}
    _advance(games, dict.fromkeys(range(len(games))), waiting, finished)
    while waiting:
        answers, failed = _ask(waiting)
        if failed and len(waiting) > 1:
            break
        waiting.clear()
        _advance(games, answers, waiting, finished)
    for game in games:
        game.close()
    return finished


def _ask(waiting: Mapping[int, Question]) -> tuple[dict[int, Answer | Forfeit], bool]:
    """Ask each process all its questions at once; return the answers, and if a process failed."""
    shares: dict[BotProcess, list[int]] = {}
    for number, question in waiting.items():
        shares.setdefault(question.process, []).append(number)
    for process, numbers in shares.items():
        process.send([waiting[number].message for number in numbers])
    answers: dict[int, Answer | Forfeit] = {}
    failed = False
    for process, numbers in shares.items():
        for number in numbers:
            try:
                answers[number] = process.receive(waiting[number].seconds)
            except Forfeit as forfeit:
                answers[number] = forfeit
                if process.pid is None:
                    failed = True
                    break
    return answers, failed


def _advance(
    games: Sequence[Asking[Finished]],
    answers: Mapping[int, Answer | Forfeit | None],
    waiting: dict[int, Question],
    finished: list[Finished | None],
) -> None:
    """Let games go on with their answers, each to its next question or its end."""
    for number, answer in answers.items():
        game = games[number]
        try:
            if answer is None:
                waiting[number] = next(game)
            elif isinstance(answer, Forfeit):
                # its traceback leads to a frame that holds it, and would keep the game's bots
                waiting[number] = game.throw(answer.with_traceback(None))
            else:
                waiting[number] = game.send(answer)
        except StopIteration as stop:
            finished[number] = stop.value


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
