"""Split the decisions of many games into those of each seat, with their rewards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from arena.errors import InputError
from engine import Seat


class Trajectory(NamedTuple):
    """The decisions of one seat in one game of a column: `steps` are their rows.

    `result` is the seat's reward, 1, 0 or -1, and 0 if the game is not `finished`.

    >>> played = by_seat([[0], [1], [0]], [[0], [0], [1]], [[False], [False], [True]])
    >>> one = next(played.split())
    >>> one.game, one.seat, one.steps.tolist(), one.result, one.finished
    (0, 0, [0, 2], 1.0, True)
    """

    game: int
    seat: Seat
    steps: npt.NDArray[np.intp]
    result: float
    finished: bool


class Trajectories(NamedTuple):
    """The rewards of decisions for the seats that made them, in arrays (step, game).

    `rewards` are given at a seat's last action of a game, which `last` marks; `returns` have the
    same number at all its decisions of that game. `following` is the step of the seat's next
    decision in that game, or -1. `finished` is False if the arrays stop before the game's end: then
    its result is unknown, and the return is 0.

    >>> played = by_seat([[0], [1], [0]], [[0], [0], [1]], [[False], [False], [True]])
    >>> played.returns.ravel().tolist(), played.following.ravel().tolist()
    ([1.0, -1.0, 1.0], [2, -1, -1])
    """

    seats: npt.NDArray[np.intp]
    rewards: npt.NDArray[np.float64]
    returns: npt.NDArray[np.float64]
    last: npt.NDArray[np.bool_]
    finished: npt.NDArray[np.bool_]
    following: npt.NDArray[np.intp]

    def split(self) -> Iterator[Trajectory]:
        """Yield the decisions of each seat in each game, in the order of their first steps."""
        numbers = np.full(self.seats.shape, -1, np.intp)
        count = 0
        for step, row in enumerate(numbers):
            first = np.flatnonzero((self.seats[step] >= 0) & (row < 0))
            row[first] = np.arange(count, count + len(first))
            count += len(first)
            goes_on = np.flatnonzero(self.following[step] >= 0)
            numbers[self.following[step, goes_on], goes_on] = row[goes_on]
        places = numbers.reshape(-1).argsort(kind="stable")
        places = places[np.count_nonzero(numbers < 0) :]
        ends = np.bincount(numbers[numbers >= 0], minlength=count).cumsum()
        for some in np.split(places, ends[:-1]) if count else ():
            steps, games = np.unravel_index(some, numbers.shape)
            end = steps[-1], games[0]
            result, finished = float(self.returns[end]), bool(self.finished[end])
            yield Trajectory(int(games[0]), int(self.seats[end]), steps, result, finished)


def by_seat(seats: Any, rewards: Any, over: Any) -> Trajectories:
    """Return the trajectories of decisions; the arrays are (step, game).

    `seats` are the seats that acted, or -1 if the game had been over before the step. `rewards` are
    their rewards, and `over` says which games ended with the action. All three are what the vector
    environment returns: `infos["seat"]` before a step, `rewards` and `terminated` after it. There
    the final reward is that of the seat that acted last; here the last action of the other seat
    gets the opposite reward, too. A seat without an action in a game has no trajectory for it.
    Raises InputError for inconsistent arrays.

    >>> played = by_seat([[0], [1], [0]], [[0], [0], [1]], [[False], [False], [True]])
    >>> played.rewards.ravel().tolist()
    [0.0, -1.0, 1.0]
    >>> [(one.seat, one.steps.tolist(), one.result) for one in played.split()]
    [(0, [0, 2], 1.0), (1, [1], -1.0)]
    """
    seats, rewards, over = np.asarray(seats, np.intp), np.asarray(rewards), np.asarray(over, bool)
    if seats.ndim != 2 or not seats.shape == rewards.shape == over.shape:
        shapes = ", ".join(str(array.shape) for array in (seats, rewards, over))
        wanted = "expected three of one shape (step, game)"
        raise InputError(f"trajectories: arrays of the shapes {shapes}, {wanted}")
    shape = seats.shape
    made = Trajectories(
        seats,
        np.zeros(shape),
        np.zeros(shape),
        np.zeros(shape, np.bool_),
        np.zeros(shape, np.bool_),
        np.full(shape, -1, np.intp),
    )
    _fill(made, rewards, over & (seats >= 0))
    return made


def _fill(made: Trajectories, rewards: npt.NDArray[Any], over: npt.NDArray[np.bool_]) -> None:
    """Fill in the arrays, from the last step to the first."""
    seats = made.seats
    columns = np.arange(seats.shape[1])
    results = np.zeros((2, len(columns)))
    following = np.full((2, len(columns)), -1, np.intp)
    finished = np.zeros(len(columns), np.bool_)
    for step in range(len(seats) - 1, -1, -1):
        ended = columns[over[step]]
        results[seats[step, ended], ended] = rewards[step, ended]
        results[1 - seats[step, ended], ended] = -rewards[step, ended]
        following[:, ended] = -1
        finished[ended] = True
        acting = columns[seats[step] >= 0]
        seat = seats[step, acting]
        made.finished[step, acting] = finished[acting]
        made.returns[step, acting] = results[seat, acting]
        made.following[step, acting] = following[seat, acting]
        following[seat, acting] = step
    np.copyto(made.last, made.finished & (made.following < 0))
    np.copyto(made.rewards, made.returns, where=made.last)
