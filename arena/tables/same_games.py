"""Find games that several lists have: each counts once.

Games of runs are the same by seed and pair, and records by their deal (`listed_games`). Here are
the others: a run and its own export, or a file or table that was copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Final

import numpy as np
import pandas as pd

from arena.errors import counted
from arena.statistics.intervals import Bools
from arena.store.listed_games import UNKNOWN, GameList

_ENOUGH: Final = 12
"""Games that two lists have in common, after which it is no chance that none differs."""

_TWO: Final = ["bot", "opponent", "seat"]
_END: Final = ["result", "win_type", "margin"]


def find_same(games: pd.DataFrame, lists: Sequence[GameList], notes: list[str]) -> Bools:
    """Return which of the games an earlier list has, too; the notes name both lists.

    `games` are those of all lists, joined.
    """
    again = np.zeros(len(games), bool)
    numbers = games["list"].to_numpy()
    for one, other in combinations(range(len(lists)), 2):
        first, second = games[numbers == one], games[(numbers == other) & ~again]
        same = _find_in(first, second, [lists[one], lists[other]])
        if len(same):
            again[same] = True
            names = f"{lists[other].name}: {counted(len(same), 'game')} of {lists[one].name}"
            notes.append(f"{names} there again: counted once")
    return again


def _find_in(first: pd.DataFrame, second: pd.DataFrame, lists: Sequence[GameList]) -> Any:
    """Return the places of the games of a list that an earlier list has."""
    dealt = [games[games["cards"] != ""] for games in (first, second)]
    if not any(games.empty for games in dealt) and lists[0].source != lists[1].source:
        return _match(dealt, ["cards", *_TWO, *_END])
    if all(one.source != one.name for one in lists):  # known by seed and pair, or by the deal
        return []
    numbered = [
        games[(games["pair"] != "") & (games["seat"] != UNKNOWN)] for games in (first, second)
    ]
    met = _match(numbered, ["pair", *_TWO])
    if len(met) >= _ENOUGH:
        same = _match(numbered, ["pair", *_TWO, *_END])
        return same if len(same) == len(met) else []
    columns = ["pair", *_TWO, *_END]
    if len(second) >= _ENOUGH and _rows(first, columns) == _rows(second, columns):
        return second.index
    return []


def _match(both: Sequence[pd.DataFrame], columns: list[str]) -> Any:
    """Return the places of the second games whose columns are those of a first game."""
    known, asked = (
        pd.MultiIndex.from_frame(games[columns].fillna({"margin": np.inf})) for games in both
    )
    return both[1].index[asked.isin(known)]


def _rows(games: pd.DataFrame, columns: list[str]) -> list[list[Any]]:
    """Return the rows of games as lists that can be compared."""
    rows: list[list[Any]] = games[columns].fillna({"margin": np.inf}).to_numpy().tolist()
    return rows
