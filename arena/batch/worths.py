"""Compute `engine.encoding.worths`, the leads after takes, for many games."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arena.batch.positions import Positions
from arena.batch.tally import find_points
from engine import CITY, KINDS, SUPPORTS, VALUES, Rules
from engine.encoding import CITIES, WORTHS

Leads = npt.NDArray[np.signedinteger[Any]]


def find_worths(games: Positions) -> Leads:
    """Return `engine.encoding.worths` of the seats to act, a row for each game.

    They have 16 bits, or 32 under rules with larger leads.

    >>> from arena.batch.lockstep import Lockstep, random_deals
    >>> games = Lockstep(2)
    >>> games.begin(np.arange(2), random_deals(2, np.random.default_rng(7)))
    >>> find_worths(games).shape
    (2, 25)
    """
    return find_leads(games).T


def find_leads(games: Positions) -> Leads:
    """Return the same leads with a column for each game.

    One more card changes only the sets and the points of its kind, so the leads after a card of
    each kind are the leads without it plus a difference: 0.2 us a game instead of 2.0.
    """
    rules, count = games.rules, games.count
    number = _number(rules)
    both = games.piles.astype(number)
    second = games.to_act.astype(np.bool_)
    own, other = np.where(second, both[::-1], both)
    size = rules.take_size
    before = games.count_newest(slice(None), size - 1).astype(number)
    gaining = np.concatenate([own + before, other + before], axis=-1)
    staying = np.concatenate([other, own], axis=-1)
    bare, after = _with_a_card(gaining, staying, rules)
    leads = np.empty((WORTHS, count), number)
    leads[0] = _lead(own, other, rules)
    leads[1], leads[2] = _with_oldest(games, bare, after)
    leads[3::2], leads[4::2] = after[:, :count], after[:, count:]
    won = own[CITY] >= rules.cities_needed
    np.negative(leads[2::2], out=leads[2::2])
    leads[2::2, won] = CITIES  # the first seat to hold the cities has won, whatever the other takes
    return leads


def _lead(first: Leads, second: Leads, rules: Rules) -> Leads:
    """Return the leads of the owners of the first piles (kind, game) over those of the second."""
    score = find_points(np.stack([first, second]), rules)
    return _by_cities(score[0] - score[1], first[CITY], second[CITY], rules)


def _by_cities(leads: Leads, first: Leads, second: Leads, rules: Rules) -> Leads:
    """Set, in place, the leads of a pile with the cities it takes to win to CITIES points."""
    needed = rules.cities_needed
    leads[np.broadcast_to(second >= needed, leads.shape)] = -CITIES
    leads[np.broadcast_to(first >= needed, leads.shape)] = CITIES
    return leads


def _with_a_card(first: Leads, second: Leads, rules: Rules) -> tuple[Leads, Leads]:
    """Return the leads of the first piles, and those with a card of each kind more (kind, game)."""
    number = first.dtype.type
    score = find_points(np.stack([first, second]), rules)
    bare = score[0] - score[1]
    after = np.empty_like(first)
    supports = first[: len(SUPPORTS)]
    ahead = supports - second[: len(SUPPORTS)]
    values = np.array(rules.majority_values, number)[:, None]
    gained = after[: len(SUPPORTS)]
    np.multiply(values, (ahead == 0) | (ahead == -1), out=gained)
    fewest = supports.min(axis=0)
    is_fewest = supports == fewest
    is_fewest &= is_fewest.sum(axis=0, dtype=np.uint8) == 1
    gained += number(rules.set_bonus) * is_fewest
    after[len(SUPPORTS) :] = np.array(VALUES[len(SUPPORTS) :], number)[:, None]
    after += bare
    cities = first[CITY] + (np.array(KINDS) == CITY)[:, None].astype(number)
    bare = _by_cities(bare, first[CITY], second[CITY], rules)
    return bare, _by_cities(after, cities, second[CITY], rules)


def _with_oldest(games: Positions, bare: Leads, after: Leads) -> Leads:
    """Return the leads (seat, game) of takes that include the oldest card, too."""
    size, count = games.rules.take_size, games.count
    columns = np.arange(count)
    whole = np.flatnonzero(games.length >= size)
    oldest = games.row[games.length[whole] - size, whole]
    leads = bare.reshape(2, count).copy()
    for seat in (0, 1):
        leads[seat, whole] = after[oldest, columns[whole] + seat * count]
    return leads


def _number(rules: Rules) -> type[np.signedinteger[Any]]:
    """Return the integer type that holds the difference of any two piles' points."""
    values = sum(copies * abs(value) for copies, value in zip(rules.copies, VALUES, strict=True))
    sets = abs(rules.set_bonus) * min(rules.copies[: len(SUPPORTS)])
    most = sum(rules.majority_values) + sets + values
    return np.int16 if 2 * most <= np.iinfo(np.int16).max else np.int32
