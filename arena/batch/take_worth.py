"""Say what takes are worth now and after the next card, for many games at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arena.batch.tally import find_points
from engine import CITY, KINDS, SUPPORTS, VALUES, Rules
from engine.encoding import CITIES

if TYPE_CHECKING:
    from arena.batch.lockstep import Lockstep


def find_worths(games: Lockstep) -> npt.NDArray[np.signedinteger[Any]]:
    """Return `engine.encoding.worths` of the seats to act, a row for each game.

    They are numbers of 16 bits, or of 32 under rules whose leads need them.
    """
    rules, count = games.rules, games.count
    number = _number(rules)
    own, other = (_of(games, seat).astype(number) for seat in (0, 1))
    before = games.count_newest(slice(None), rules.take_size - 1)
    added = np.zeros((len(KINDS), 2 + len(KINDS), count), number)
    added[:, 1] = games.count_newest(slice(None), rules.take_size)
    added[:, 2:] = before[:, None]
    added[np.arange(len(KINDS)), 2 + np.arange(len(KINDS))] += 1
    piles = np.empty((2, len(KINDS), 2 * added.shape[1] - 1, count), number)
    piles[0] = own[:, None]
    piles[1] = other[:, None]
    piles[0, :, 1::2] += added[:, 1:]
    piles[1, :, 2::2] += added[:, 1:]
    flat = piles.reshape(2, len(KINDS), -1)
    score = find_points(flat, rules)
    leads = score[0] - score[1]
    won = flat[:, CITY] >= rules.cities_needed
    worths: npt.NDArray[Any] = np.select(won, [CITIES, -CITIES], leads)
    return worths.reshape(-1, count).T.astype(number)


def _number(rules: Rules) -> type[np.signedinteger[Any]]:
    """Return the type of numbers that holds the difference of any two piles' points."""
    values = sum(copies * abs(value) for copies, value in zip(rules.copies, VALUES, strict=True))
    sets = abs(rules.set_bonus) * min(rules.copies[: len(SUPPORTS)])
    most = sum(rules.majority_values) + sets + values
    return np.int16 if 2 * most <= np.iinfo(np.int16).max else np.int32


def _of(games: Lockstep, other: int) -> npt.NDArray[Any]:
    """Return the piles of the seats to act, or of the other ones."""
    piles: npt.NDArray[Any] = np.where(games.to_act == other, games.piles[0], games.piles[1])
    return piles
