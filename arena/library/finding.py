"""Find a game of a run by the labels of its bots, the pair and the seat."""

from __future__ import annotations

from arena.errors import InputError, counted
from arena.store.finished import Game
from arena.store.store import Store
from arena.tournament.schedule import Fixture, Pairing
from arena.tournament.tournament import Tournament
from engine import EngineError
from engine.errors import show


def find_game(
    tournament: Tournament, store: Store, bots: tuple[str, str], pair: int, seat: int
) -> Game:
    """Return the game of this pair in which the first of two bots sat in this seat.

    Raises InputError if there is no such game, or if it has not been played yet.
    """
    for label in bots:
        if label not in tournament.by_label:
            known = ", ".join(tournament.labels)
            raise InputError(f"no bot {show(label)} in this run; there are {known}")
    if type(pair) is not int or type(seat) is not int or seat not in (0, 1):
        place = f"pair {show(pair)}, seat {show(seat)}"
        raise InputError(f"{place}: a pair is a number, a seat is 0 or 1")
    numbers = {pairing: number for number, pairing in enumerate(tournament.pairings)}
    pairing = Pairing(*bots)
    if pairing not in numbers:
        pairing, seat = Pairing(*bots[::-1]), 1 - seat
    if pairing not in numbers:
        raise InputError(f"{bots[0]} and {bots[1]} do not play each other in this run")
    fixture = Fixture(pairing, pair, seat)
    if not 0 <= pair < tournament.most_pairs:
        raise InputError(
            f"game {fixture.name}: the run has {counted(tournament.most_pairs, 'pair')}"
        )
    return _read(tournament, store, fixture, numbers[pairing])


def _read(tournament: Tournament, store: Store, fixture: Fixture, number: int) -> Game:
    """Return the game at a place, which must have been played."""
    result = store.game(number, fixture.pair, fixture.seat)
    if result is None:
        raise InputError(f"game {fixture.name}: not played yet")
    game = Game.of(tournament, fixture, result)
    try:
        game.record.replay()
    except EngineError as error:
        raise InputError(f"game {fixture.name}: its record cannot be played: {error}") from None
    return game
