"""Marks: what a worker is doing, in memory that its parent can read after its death."""

from __future__ import annotations

from typing import Any, NamedTuple

_BEAT, _PAIRING, _PAIR, _SEAT, _STAGE, _WHO, _PLY = range(7)
_NUMBERS = 7
_BYTES = 8

IDLE, IMPORTING, THINKING = range(3)
NOBODY = -1


class Seen(NamedTuple):
    """What a worker was doing: the game, who was at work and on what, the actions so far.

    `beat` changes whenever anything does. `who` is the seat in the game of the last bot that
    was called, NOBODY before there was one; `stage` is IDLE after it has answered.
    """

    beat: int
    pairing: int
    pair: int
    seat: int
    stage: int
    who: int
    history: bytes

    @property
    def place(self) -> tuple[int, ...]:
        """The same for the same decision of the same game."""
        return (self.pairing, self.pair, self.seat, self.stage, self.who, len(self.history))


class Marks:
    """Numbers and a history in shared memory; `memory` is of `length(game_plies)` bytes."""

    def __init__(self, memory: Any) -> None:
        view = memoryview(memory).cast("B")
        self._numbers = view[: _NUMBERS * _BYTES].cast("q")
        self._history = view[_NUMBERS * _BYTES :]

    @staticmethod
    def length(game_plies: int) -> int:
        """Return how many bytes the marks of a worker take."""
        return _NUMBERS * _BYTES + game_plies

    def clear(self) -> None:
        """Nothing has been done, by nobody."""
        for index in range(_NUMBERS):
            self._numbers[index] = 0
        self._numbers[_PAIR] = self._numbers[_WHO] = NOBODY

    def beat(self) -> None:
        """Show that the worker is alive."""
        self._numbers[_BEAT] += 1

    def game(self, pairing: int, pair: int, seat: int) -> None:
        """A game is played in which the pairing's first bot has this seat."""
        numbers = self._numbers
        numbers[_PAIRING], numbers[_PAIR], numbers[_SEAT] = pairing, pair, seat
        numbers[_BEAT] += 1

    def at_work(self, game: tuple[int, int, int], who: int, stage: int, history: bytes) -> None:
        """A bot is called in a game."""
        numbers = self._numbers
        self._history[: len(history)] = history
        numbers[_PLY] = len(history)
        numbers[_WHO] = who
        numbers[_STAGE] = stage
        self.game(*game)

    def idle(self) -> None:
        """The bot has answered."""
        self._numbers[_STAGE] = IDLE
        self._numbers[_BEAT] += 1

    def read(self) -> Seen:
        """Return what is marked."""
        beat, pairing, pair, seat, stage, who, ply = self._numbers
        return Seen(beat, pairing, pair, seat, stage, who, bytes(self._history[:ply]))
