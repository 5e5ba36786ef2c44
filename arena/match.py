"""Match: play the two games of a pair, and turn every fault into a forfeit."""

from __future__ import annotations

import traceback
from typing import Literal, NamedTuple

from arena.load import Entry
from arena.schedule import Pairing
from engine import IllegalAction, Rules, Strategy, outcome
from engine.play import deal_at, play, setup
from engine.scoring import WinType
from engine.state import Seat, State

_MOST_MESSAGE = 200
_MOST_LINES = 20
_MOST_TEXT = 4000


class GameResult(NamedTuple):
    """One finished game, seen from the pairing's first bot.

    `seat` is where that bot sat; `winner` is 0 for it, 1 for its opponent, None for a draw;
    `win_type` is the engine's or "forfeit"; `fault` is empty or the kind of fault.
    """

    pair: int
    seat: Seat
    winner: int | None
    win_type: str
    points: int
    opponent_points: int
    plies: int
    fault: str = ""


class Fault(NamedTuple):
    """What a bot did wrong: the seat, the kind, the ply, and the evidence."""

    seat: Seat
    kind: str
    ply: int
    message: str
    traceback: str


def play_pair(
    seed: int, rules: Rules, pairing: Pairing, players: tuple[Entry, Entry], pair: int
) -> list[tuple[GameResult, Fault | None]]:
    """Play one deal twice, seats swapped, and return both results with their faults."""
    address = pairing.deal_address(pair)
    deal = deal_at(seed, address, rules)
    games = []
    for seat in (0, 1):
        seated = players if seat == 0 else players[::-1]
        state = State(deal, rules)
        setups = [setup(seed, address, who, rules) for who in (0, 1)]
        strategies: list[Strategy] = []
        fault = None
        try:
            for entry, given in zip(seated, setups, strict=True):
                strategies.append(entry.strategy(given))
            play(state, strategies)
        except BaseException as error:  # a bot may raise anything, SystemExit too
            guilty = len(strategies) if len(strategies) < 2 else state.to_act
            fault = _fault(error, guilty, state)
        games.append((_result(state, pair, seat, fault), fault))
    return games


def _fault(error: BaseException, guilty: Seat, state: State) -> Fault:
    kind = "illegal" if type(error) is IllegalAction else "exception"
    try:
        text = "".join(traceback.format_exception(error)[-_MOST_LINES:])
        last = traceback.format_exception_only(error)[-1]
        message = str(error) if kind == "illegal" else last
    except BaseException:  # the exception is the bot's own class, and may fail in its turn
        text = message = "an exception that cannot be printed"
    message = " ".join(_printable(message[:_MOST_MESSAGE]).split())
    return Fault(guilty, kind, len(state.history), message, _printable(text[-_MOST_TEXT:]))


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() or char == "\n" else "?" for char in text)


def _result(state: State, pair: int, seat: Seat, fault: Fault | None) -> GameResult:
    winning_seat: Seat | None
    win_type: WinType | Literal["forfeit"]
    winning_seat, win_type, score = outcome(state.piles, state.rules)
    if fault is not None:
        winning_seat, win_type = 1 - fault.seat, "forfeit"
    winner = None if winning_seat is None else int(winning_seat != seat)
    return GameResult(
        pair,
        seat,
        winner,
        win_type,
        score[seat],
        score[1 - seat],
        len(state.history),
        fault.kind if fault else "",
    )
