"""Cycles: bots of which each beats the next one, beyond doubt, and the last one the first.

Where there are any, no ratings can be in the order of who beats whom, and rankings that allow
for cycles are shown beside the Elo.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.statistics.alpha_rank import alpha_rank
from arena.statistics.distributions import expit, logit, normal_below
from arena.statistics.field import Field
from arena.statistics.model import Floats, Numbers
from arena.statistics.nash import nash_average

Beats: TypeAlias = npt.NDArray[np.bool_]

LEVEL = 0.05
RANKING_COLUMNS = ["bot", "elo", "nash", "alpha_rank", "cycle"]


def find_beats(field: Field) -> Beats:
    """Return which bot (row) beats which one (column) beyond doubt.

    The chance that any of them is wrong is 5 % at most. Source: Holm 1979.
    """
    model = field.fit.model
    beyond = model.total - model.pairs  # what the first bot has scored above one half
    spread = model.squares - 2 * model.total + model.pairs
    chances = 2 * normal_below(-np.abs(beyond) / np.sqrt(spread))
    order = np.argsort(chances, kind="stable")
    bounds = LEVEL / np.arange(len(order), 0, -1)
    doubtful = np.flatnonzero(chances[order] > bounds)
    sure = order[: doubtful[0] if len(doubtful) else len(order)]
    beats = np.zeros((model.bots, model.bots), dtype=bool)
    wins = beyond[sure] > 0
    beats[model.first[sure[wins]], model.second[sure[wins]]] = True
    beats[model.second[sure[~wins]], model.first[sure[~wins]]] = True
    return beats


def number_cycles(beats: Beats) -> Numbers:
    """Return the number of the cycles, from 1, that each bot is in; 0 for a bot in none.

    Two bots have the same number if each beats the other one through a chain of wins. Cycles
    are numbered in the order of their first bots. Source: Warshall 1962.

    >>> beats = np.zeros((4, 4), dtype=bool)
    >>> beats[0, 1] = beats[1, 2] = beats[2, 3] = beats[3, 1] = True
    >>> number_cycles(beats).tolist()
    [0, 1, 1, 1]
    """
    reaches = beats.copy()
    for bot in range(len(beats)):
        reaches[reaches[:, bot]] |= reaches[bot]
    both = reaches & reaches.T
    cyclic = both.any(axis=1)
    numbers = np.zeros(len(beats), dtype=int)
    firsts = [int(row.argmax()) for row in both[cyclic]]
    numbers[cyclic] = np.unique(firsts, return_inverse=True)[1] + 1
    return numbers


def shortest_cycle(beats: Beats, start: int) -> list[int]:
    """Return a shortest cycle through a bot that is in one: it, whom it beats, and so on."""
    before = {start: start}
    waiting = deque([start])
    while not beats[bot := waiting.popleft(), start]:
        for beaten in np.flatnonzero(beats[bot]).tolist():
            if beaten not in before:
                before[beaten] = bot
                waiting.append(beaten)
    cycle = [bot]
    while cycle[-1] != start:
        cycle.append(before[cycle[-1]])
    return cycle[::-1]


def make_rankings(field: Field, labels: Sequence[str]) -> pd.DataFrame:
    """Return Elo, Nash average and alpha-rank of the bots of every group with a cycle.

    There are no rows without a cycle. `cycle` is the number of the cycles a bot is in, empty
    for none. Rows have the order of `labels`. Sources: nash_average, alpha_rank.
    """
    if not field.labels:
        return pd.DataFrame(columns=RANKING_COLUMNS)
    cycles = number_cycles(find_beats(field))
    groups = field.fit.groups
    rows = []
    for group in np.unique(groups[cycles > 0]):
        bots = np.flatnonzero(groups == group)
        payoffs = make_payoffs(field)[np.ix_(bots, bots)]
        shares = nash_average(payoffs), alpha_rank(expit(payoffs))
        rows += [*zip(bots.tolist(), *(share.tolist() for share in shares), strict=True)]
    ratings = field.ratings()
    table = pd.DataFrame(
        [
            (label, ratings[label].elo, nash, alpha, int(cycles[bot]) or None)
            for bot, nash, alpha in rows
            for label in [field.labels[bot]]
        ],
        columns=RANKING_COLUMNS,
    )
    table = table.astype({"cycle": "Int64"}).round({"elo": 1, "nash": 4, "alpha_rank": 4})
    places = {label: place for place, label in enumerate(labels)}
    return table.sort_values("bot", key=lambda bots: bots.map(places), ignore_index=True)


def make_payoffs(field: Field) -> Floats:
    """Return by how much each bot (row) leads each other one, in log odds.

    It is what they have scored, with the credit of the fit; two bots that did not meet have
    the gap of their ratings.
    """
    model, strengths = field.fit.model, field.fit.strengths
    payoffs = strengths[:, None] - strengths[None, :]
    leads = logit(model.total / (2 * model.pairs))
    payoffs[model.first, model.second] = leads
    payoffs[model.second, model.first] = -leads
    return np.asarray(payoffs)


def describe_cycle(field: Field) -> list[str]:
    """Return a cycle as labels, the first one again at the end; none where there is none."""
    beats = find_beats(field)
    cyclic = np.flatnonzero(number_cycles(beats)).tolist()
    if not cyclic:
        return []
    cycle = shortest_cycle(beats, cyclic[0])
    return [field.labels[bot] for bot in [*cycle, cycle[0]]]
