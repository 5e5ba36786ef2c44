"""Match: play games between two bots, each in its lane; a fault is a forfeit.

A game is a generator. It yields a Question wherever a bot in another process has to answer,
so that many games go on together and one message carries many views; a bot in this
process is called on the spot.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

from arena.lanes.faults import Fault, Forfeit
from arena.lanes.process import Answer, BotProcess
from engine import outcome
from engine.cards import Action, to_text
from engine.state import Seat, State
from engine.view import View, view


class GameResult(NamedTuple):
    """One finished game, seen from the pairing's first bot.

    `seat` is where that bot sat; `winner` is 0 for it, 1 for its opponent, None for a draw;
    `win_type` is the engine's or "forfeit"; `fault` is empty or the kind of fault; `actions`
    are in the engine's notation.
    """

    pair: int
    seat: Seat
    winner: int | None
    win_type: str
    points: int
    opponent_points: int
    plies: int
    fault: str
    actions: str


class Question(NamedTuple):
    """A message to a bot's process, and the seconds it has for the answer."""

    process: BotProcess
    message: bytes
    seconds: float


class Finished(NamedTuple):
    """A game that is over: its last position, and the fault that ended it, if one did."""

    state: State
    fault: Fault | None


T = TypeVar("T")
Play: TypeAlias = Generator[Question, Answer, T]


class Player(Protocol):
    """A bot at one seat of one game, whatever its lane; everything raises Forfeit."""

    def begin(self) -> Play[None]:
        """Make the bot's strategy."""

    def choose(self, seen: View) -> Play[Action]:
        """Return the bot's action."""

    def end(self) -> Play[None]:
        """Take leave: the game is over."""


def game(state: State, players: Sequence[Player]) -> Play[Finished]:
    """Play a game to its end, in place; the players are in the order of the seats."""
    guilty, fault = 0, None
    begun = []
    try:
        for guilty in (0, 1):
            begun.append(players[guilty])
            yield from players[guilty].begin()
        while not state.over:
            guilty = state.to_act
            action = yield from players[guilty].choose(view(state, guilty))
            state.apply(action)
    except Forfeit as forfeit:
        fault = forfeit.of(guilty, len(state.history))
    for seat, player in enumerate(begun):
        try:
            yield from player.end()
        except Forfeit as forfeit:  # a second answer to the last message, say
            fault = fault or forfeit.of(seat, len(state.history))
    return Finished(state, fault)


def play_together(games: Sequence[Play[Finished]]) -> list[Finished | None]:
    """Play the games to their ends side by side, asking each process about many at once.

    None stands for a game that was under way when a process failed with other games in it,
    too: nobody can say which of them was to blame, and each has to be played alone.
    """
    finished: list[Finished | None] = [None] * len(games)
    waiting: dict[int, Question] = {}
    _advance(games, dict.fromkeys(range(len(games))), waiting, finished)
    while waiting:
        answers, failed = _answers(waiting)
        if failed and len(waiting) > 1:
            break
        waiting.clear()
        _advance(games, answers, waiting, finished)
    for play in games:
        play.close()
    return finished


def _answers(waiting: dict[int, Question]) -> tuple[dict[int, Answer | Forfeit], bool]:
    """Ask each process all its questions at once; return the answers, and if one failed."""
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
    games: Sequence[Play[Finished]],
    answers: Mapping[int, Answer | Forfeit | None],
    waiting: dict[int, Question],
    finished: list[Finished | None],
) -> None:
    """Let games go on with their answers, each to its next question or its end."""
    for number, answer in answers.items():
        play = games[number]
        try:
            if answer is None:
                waiting[number] = next(play)
            elif isinstance(answer, Forfeit):
                waiting[number] = play.throw(answer)
            else:
                waiting[number] = play.send(answer)
        except StopIteration as stop:
            finished[number] = stop.value


def result(finished: Finished, pair: int, seat: Seat) -> GameResult:
    """Return the result of a game in which the pairing's first bot had this seat."""
    state, fault = finished
    winning_seat: Seat | None
    win_type: str
    winning_seat, win_type, score = outcome(state.piles, state.rules)
    if fault is not None:
        winning_seat, win_type = 1 - fault.seat, "forfeit"
    winner = None if winning_seat is None else int(winning_seat != seat)
    kind = fault.kind if fault else ""
    plies, actions = len(state.history), to_text(state.history)
    points, theirs = score[seat], score[1 - seat]
    return GameResult(pair, seat, winner, win_type, points, theirs, plies, kind, actions)
