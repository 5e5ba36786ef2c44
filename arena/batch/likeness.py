"""Find which policies a bot plays like, by its moves in recorded games."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arena.batch.beliefs import Floats
from arena.batch.lockstep import Lockstep
from arena.batch.positions import Cards, Indices
from arena.batch.replay import NOTHING, Bools
from arena.batch.rollouts import Policy, pick

_STEPS = 30  # of the fit; later ones change a weight by less than .001


class Seen(NamedTuple):
    """The moves of some bots that were not forced: a row for each.

    `bot` is the number of the bot, `says` (move, policy) whether a policy plays the same action
    with the same hand, and `legal` the number of legal actions.
    """

    bot: Indices
    says: Bools
    legal: Indices


def read_moves(deals: Cards, actions: Cards, bots: Indices, policies: Sequence[Policy]) -> Seen:
    """Return the moves of games and what the policies would play in their place.

    `deals` (game, card) and `actions` (game, ply) are those of games under the published rules,
    with NOTHING after their end; `bots` (game, seat) are the numbers of the bots.
    """
    games = Lockstep(len(deals))
    games.begin(np.arange(len(deals)), deals)
    found: list[tuple[Indices, Bools, Indices]] = []
    for played in np.ascontiguousarray(actions.T):
        legal = games.legal().sum(axis=1)
        some = np.flatnonzero((played != NOTHING) & (legal > 1))
        if len(some):
            at = games.select(some)
            says = np.stack([pick(at, policy) == played[some] for policy in policies], axis=1)
            found.append((bots[some, games.to_act[some]], says, legal[some]))
        games.step(np.where(played == NOTHING, 0, played))
    return Seen(*map(np.concatenate, zip(*found, strict=True)))


def fit_weights(seen: Seen, bot: int) -> Floats:
    """Return with which probabilities a bot plays as each policy; what is left is any action.

    The likeliest ones of its moves, by expectation maximisation, with one move more for each.

    >>> says = np.array([[True, False]] * 8 + [[False, False]] * 2)
    >>> seen = Seen(np.zeros(10, int), says, np.full(10, 4))
    >>> fit_weights(seen, 0).round(2).tolist()
    [0.69, 0.06]
    """
    mine = seen.bot == bot
    likely = np.column_stack([seen.says[mine], 1 / seen.legal[mine]])
    weights = np.full(likely.shape[1], 1 / likely.shape[1])
    for _ in range(_STEPS):
        parts = likely * weights
        parts /= parts.sum(axis=1, keepdims=True)
        weights = (parts.sum(axis=0) + 1 / len(weights)) / (len(parts) + 1)
    fitted: Floats = weights[:-1]
    return fitted
