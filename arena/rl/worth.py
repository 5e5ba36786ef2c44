"""Worth: what takes are worth now and after the next card, as numbers beside the bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from arena.rl.tally import find_points
from engine import CITY, KINDS, Rules, View, pack_of, points
from engine.cards import UNIT
from engine.scoring import Piles

if TYPE_CHECKING:
    from arena.rl.lockstep import Lockstep

WORTHS: Final = 3 + 2 * len(KINDS)
"""The lead now, after this seat's take, after the other's; and both after each card played."""

_CITIES = 50  # points that the cities it takes to win are like


def worths(view: View) -> npt.NDArray[np.int16]:
    """Return the leads of a view's seat in points; three cities are like 50.

    The first is that of the piles, then with the newest cards of the row added to the own pile,
    and to the other. Then for each kind the same two, as if a card of it had been played.

    >>> worths(View.from_text("0 5678C 88"))[:3].tolist()  # 8 points for most 8s
    [0, 8, -8]
    """
    rules = view.rules
    own, other = view.piles[view.seat], view.piles[1 - view.seat]
    window = pack_of(view.row[-rules.take_size :])
    before = pack_of(view.row[1 - rules.take_size :]) if rules.take_size > 1 else 0
    windows = [window, *(before + UNIT[kind] for kind in KINDS)]
    leads = [_lead((own, other), rules)]
    for taken in windows:
        leads += (_lead((own + taken, other), rules), _lead((own, other + taken), rules))
    return np.array(leads, np.int16)


def _lead(piles: Piles, rules: Rules) -> int:
    """Return the points of the first pile above those of the second."""
    if piles[0] >= rules.city_pack or piles[1] >= rules.city_pack:
        return _CITIES if piles[0] >= rules.city_pack else -_CITIES
    first, second = points(piles, rules)
    return first - second


def find_worths(games: Lockstep) -> npt.NDArray[np.int16]:
    """Return the worths of many games for the seats to act, a row for each game."""
    rules, count = games.rules, games.count
    own, other = (_of(games, seat).astype(np.int16) for seat in (0, 1))
    before = _newest(games, rules.take_size - 1)
    added = np.zeros((len(KINDS), 2 + len(KINDS), count), np.int16)
    added[:, 1] = _newest(games, rules.take_size)
    added[:, 2:] = before[:, None]
    added[np.arange(len(KINDS)), 2 + np.arange(len(KINDS))] += 1
    piles = np.empty((2, len(KINDS), 2 * added.shape[1] - 1, count), np.int16)
    piles[0] = own[:, None]
    piles[1] = other[:, None]
    piles[0, :, 1::2] += added[:, 1:]
    piles[1, :, 2::2] += added[:, 1:]
    flat = piles.reshape(2, len(KINDS), -1)
    score = find_points(flat, rules)
    leads = score[0] - score[1]
    won = flat[:, CITY] >= rules.cities_needed
    leads = np.where(won[0], _CITIES, np.where(won[1], -_CITIES, leads))
    return leads.reshape(-1, count).T.astype(np.int16)


def _of(games: Lockstep, other: int) -> npt.NDArray[Any]:
    """Return the piles of the seats to act, or of the other ones."""
    return np.where(games.to_act == other, games.piles[0], games.piles[1])


def _newest(games: Lockstep, most: int) -> npt.NDArray[np.int16]:
    """Return the counts (kind, game) of so many of the newest cards of the rows."""
    found = np.zeros((len(KINDS), games.count), np.int16)
    columns = np.arange(games.count)
    for age in range(1, most + 1):
        kept = columns[games.length >= age]
        found[games.row[games.length[kept] - age, kept], kept] += 1
    return found
