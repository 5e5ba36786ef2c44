"""The referee's loop: two strategies, one State, every action checked."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from engine.cards import BYTE, TAKE, UNIT, pack_of, shuffled
from engine.record import Record
from engine.rules import STANDARD, Rules
from engine.scoring import WinType, outcome
from engine.seeds import address, generator, noise
from engine.state import Seat, State, checked, end_round, plays, plays_or_take
from engine.strategy import UNLIMITED, Bot, Clock, Setup, Strategy, close
from engine.view import View, view

_LUCK = 16  # bytes


class Game(NamedTuple):
    """A finished game: `winner` is a seat, or None for a draw; `points` as R12-R15 give.

    >>> from bots.uniform import bot
    >>> game = play_game(bot, bot, seed=7)
    >>> game.winner, game.win_type, game.points
    (1, 'tiebreak', (13, 13))
    >>> outcome(game.record.replay().piles).winner == game.winner
    True
    """

    winner: Seat | None
    win_type: WinType
    points: tuple[int, int]
    record: Record


def play(state: State, strategies: Sequence[Strategy]) -> None:
    """Play the state to its end, in place.

    Raises IllegalAction for an action that is not legal, and whatever a strategy raises;
    `state.to_act` is then the seat of that strategy.
    """
    while type(state) is State and not state.over:
        _play_round(state, strategies)
    while not state.over:  # a subclass, whose `apply` may do more
        seat = state.to_act
        seen = view(state, seat)
        action = strategies[seat].choose(seen)
        if type(action) is not int or action not in seen.legal:
            action = state.checked(action)
        state.apply(action)


def _play_round(state: State, strategies: Sequence[Strategy]) -> None:
    """Play to the end of the round as `State.apply` does, in local variables.

    With the view written out, too, that is 1.13 times as fast; of two names the second is of the
    other seat.
    """
    rules, opening, start = state.rules, state.opening, -state.rules.take_size
    seat, row, piles, taken = state.to_act, state.row, state.piles, state.taken
    history = state.history
    hand, held = state.hands[seat], state.hands[1 - seat]
    took, has_taken = taken[seat], taken[1 - seat]
    mover, rival = strategies[seat], strategies[1 - seat]
    try:
        while (hand or held or not (took and has_taken)) and not state.over:
            legal = plays[hand] if took or not row else plays_or_take[hand]
            seen = (seat, legal, hand, row, piles, taken, history, opening, rules)
            action = mover.choose(_new(View, seen))
            if type(action) is not int or action not in legal:
                action = checked(action, legal, len(history))
            byte = BYTE[action]
            history += byte
            if action != TAKE:
                row += byte
                hand -= UNIT[action]
            else:
                took, taken = True, (has_taken, True) if seat else (True, has_taken)
                pile = piles[seat] + pack_of(row[start:])
                piles = (piles[0], pile) if seat else (pile, piles[1])
                row = row[:start]
                state.over = pile >= rules.city_pack
            seat = 1 - seat
            hand, held = held, hand
            took, has_taken = has_taken, took
            mover, rival = rival, mover
    finally:
        state.to_act, state.row, state.piles, state.taken = seat, row, piles, taken
        state.history = history
        state.hands = [held, hand] if seat else [hand, held]
    end_round(state)


def play_game(bot_0: Bot, bot_1: Bot, *, seed: int, rules: Rules = STANDARD) -> Game:
    """Play one whole game between two bots.

    The same bots and seed give the same game. Raises what `play` raises.

    >>> from bots.uniform import bot
    >>> play_game(bot, bot, seed=7) == play_game(bot, bot, seed=7)
    True
    """
    deal, lucks = draw(address(seed, "deal"), rules)
    state = State(deal, rules)
    strategies: list[Strategy] = []
    try:
        for seat, bot in enumerate((bot_0, bot_1)):
            strategies.append(bot(setup(lucks[seat], seat, rules)))
        play(state, strategies)
    finally:
        for strategy in reversed(strategies):
            _close(strategy)
    winner, win_type, score = outcome(state.piles, rules)
    return Game(winner, win_type, score, Record.of(deal, state))


def _close(strategy: Strategy) -> None:
    try:
        close(strategy)
    except Exception as error:
        warnings.warn(f"a strategy's close() raised {error!r}", RuntimeWarning, stacklevel=2)


class Draw(NamedTuple):
    """The random input of one game: the deal, and for each seat the seed of its generator.

    A seed has 128 bits. It belongs to the seat and not to the bot, so that two versions of a bot
    play with the same random numbers.
    """

    deal: bytes
    lucks: tuple[int, int]


def draw(where: bytes, rules: Rules = STANDARD) -> Draw:
    """Return the draw of an address (engine.seeds): three parts of its sequence of bytes."""
    drawn = noise(where, 2 * _LUCK + 8 * len(rules.deck))
    lucks = int.from_bytes(drawn[:_LUCK]), int.from_bytes(drawn[_LUCK : 2 * _LUCK])
    return Draw(shuffled(rules.deck, drawn[2 * _LUCK :]), lucks)


def setup(luck: int, seat: Seat, rules: Rules = STANDARD, clock: Clock = UNLIMITED) -> Setup:
    """Return the setup of a strategy whose generator has this seed."""
    return Setup(generator(luck), seat, rules, clock)


def playout(state: State, rng: Random) -> None:
    """Play the state to its end at random, in place, with no views and no checks.

    >>> state = State.from_text("555556666667777777888888882222334xxxyyyyzzCCC")
    >>> playout(state, Random(7))
    >>> state.over, outcome(state.piles).winner
    (True, 1)
    """
    random = rng.random
    while not state.over:
        legal = state.legal()
        state.apply(legal[int(random() * len(legal))])


_new = tuple.__new__
