"""The referee's loop: two strategies, one State, every action checked."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from engine.cards import shuffled
from engine.record import Record
from engine.rules import STANDARD, Rules
from engine.scoring import WinType, outcome
from engine.seeds import Step, numbers, stream
from engine.state import Seat, State
from engine.strategy import UNLIMITED, Bot, Clock, Setup, Strategy
from engine.view import view


class Game(NamedTuple):
    """A finished game: `winner` is a seat, or None for a draw; `points` as R12-R15 give."""

    winner: Seat | None
    win_type: WinType
    points: tuple[int, int]
    record: Record


def play(state: State, strategies: Sequence[Strategy]) -> None:
    """Play the state to its end, in place.

    Raises IllegalAction for an action that is not legal, and whatever a strategy raises;
    `state.to_act` is then the seat that did it.
    """
    while not state.over:
        seat = state.to_act
        seen = view(state, seat)
        action = strategies[seat].choose(seen)
        if type(action) is not int or action not in seen.legal:
            action = state.checked(action)
        state.apply(action)


def play_game(bot_0: Bot, bot_1: Bot, *, seed: int, rules: Rules = STANDARD) -> Game:
    """Play one game between two bots, the whole protocol through.

    The same bots and seed give the same game. Raises what `play` raises.

    >>> from bots.uniform import bot
    >>> play_game(bot, bot, seed=7) == play_game(bot, bot, seed=7)
    True
    """
    deal = deal_at(seed, ("deal",), rules)
    state = State(deal, rules)
    play(state, [bot_0(setup(seed, ("deal",), 0, rules)), bot_1(setup(seed, ("deal",), 1, rules))])
    winner, win_type, score = outcome(state.piles, rules)
    return Game(winner, win_type, score, Record.of(deal, state))


def deal_at(seed: int, address: tuple[Step, ...], rules: Rules = STANDARD) -> bytes:
    """Return the deal that lives at an address."""
    return shuffled(rules.deck, numbers(len(rules.deck), seed, *address).__next__)


def setup(
    seed: int,
    deal_address: tuple[Step, ...],
    seat: Seat,
    rules: Rules = STANDARD,
    clock: Clock = UNLIMITED,
) -> Setup:
    """Return the setup of a seat in the game of a deal."""
    return Setup(stream(seed, *luck_address(deal_address, seat)), seat, rules, clock)


def luck_address(deal_address: tuple[Step, ...], seat: Seat) -> tuple[Step, ...]:
    """Return where a strategy's generator lives.

    It is keyed by the seat and not by the bot, so that two versions of a bot meet the same
    luck.
    """
    return ("bot", *deal_address, seat)


def playout(state: State, rng: Random) -> None:
    """Play the state to its end at random, in place, with no views and no checks."""
    random = rng.random
    while not state.over:
        legal = state.legal()
        state.apply(legal[int(random() * len(legal))])
