"""Play many games on together, each seat by a policy, and ask what they come to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.batch.lockstep import Lockstep
from engine import Pack, View

Scores: TypeAlias = npt.NDArray[Any]
Policy: TypeAlias = Callable[[Lockstep], Scores]
"""Returns scores (game, action): of the legal actions the one with the highest is played, the first
among equals. A strategy's method `scores` is one."""

Values: TypeAlias = Callable[[Lockstep], npt.NDArray[np.float64]]
"""Returns the chance of seat 0 to win in games that ended with a round, from 0 to 1."""

WHOLE: Final = 1 << 24
"""What a chance of 1 is as a whole number: sums of them are the same in any order."""

_MOST_FREE = 0.9  # share of games with a choice, from which on it is asked for all


def pick(games: Lockstep, policy: Policy) -> npt.NDArray[np.intp]:
    """Return the action that a policy plays in each game; it is asked where it has a choice.

    In a game that is over the number means nothing.
    """
    masks = games.legal().copy()
    free = np.flatnonzero(masks.sum(axis=1, dtype=np.uint8) > 1)
    actions: npt.NDArray[np.intp] = masks.argmax(axis=1)
    if len(free) > _MOST_FREE * games.count:
        return best_legal(policy(games), masks)
    if len(free):
        actions[free] = best_legal(policy(games.select(free)), masks[free])
    return actions


def best_legal(scores: Scores, masks: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Return the legal actions with the highest scores, the first among equals."""
    best: npt.NDArray[np.intp] = np.where(masks, scores, -np.inf).argmax(axis=1)
    return best


def play_on(games: Lockstep, policies: Sequence[Policy]) -> None:
    """Play games until all are over, the seats by these two policies."""
    while not games.over.all():
        live = ~games.over
        seats = games.to_act[live]
        if (seats == seats[0]).all():
            actions = pick(games, policies[seats[0]])
        else:
            actions = np.zeros(games.count, np.intp)
            for seat in (0, 1):
                some = np.flatnonzero(live & (games.to_act == seat))
                actions[some] = pick(games.select(some), policies[seat])
        games.step(actions)


def action_values(
    view: View, hands: Sequence[Pack], policies: Sequence[Policy], values: Values
) -> npt.NDArray[np.int64]:
    """Return what each legal action of a view is worth against each hand (action, hand).

    After the action the round is played to its end by the policies of the seats. The numbers are
    the chances of the view's seat to win, from 0 to WHOLE. Raises InputError for a hand that the
    opponent cannot hold.
    """
    count = len(hands)
    games = Lockstep.from_view(view, hands).select(np.tile(np.arange(count), len(view.legal)))
    games.step(np.repeat(np.array(view.legal, np.intp), count))
    play_on(games, policies)
    return own_chances(games, view.seat, values).reshape(-1, count)


def own_chances(games: Lockstep, seats: Any, values: Values) -> npt.NDArray[np.int64]:
    """Return the chances of these seats to win in games that are over, from 0 to WHOLE."""
    chances = values(games)
    own = np.where(np.equal(seats, 0), chances, 1 - chances)
    whole: npt.NDArray[np.int64] = np.rint(WHOLE * own).astype(np.int64)
    return whole
