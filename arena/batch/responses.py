"""The best response to a known policy: what each action is worth against it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.batch.beliefs import packs_of
from arena.batch.lockstep import Lockstep
from arena.batch.piles import Indices
from arena.batch.rollouts import Policy, Values, own_chances, pick, play_on
from engine import Seat
from engine.encoding import ACTIONS

Weights: TypeAlias = npt.NDArray[np.int64]
_REPLIES: Final = ACTIONS + 1


class _Nodes(NamedTuple):
    """What the seat knows at one of its decisions, each with the actions that it may play.

    `edges` are the actions of the decisions before that lead here, and `worths` what the actions
    come to (node, action).
    """

    edges: Indices
    legal: npt.NDArray[np.bool_]
    worths: Weights


def respond(
    games: Lockstep,
    weights: Weights,
    seat: Seat,
    policies: Sequence[Policy],
    values: Values,
    most: int,
) -> Weights:
    """Return what the actions of a seat are worth in worlds that it cannot tell apart.

    The other seat plays by its policy. The seat itself tries every action, and at its next decision
    again, where it has seen what the other one played, as long as these are at most so many games;
    from then on it plays by its policy, too. The numbers are sums over the worlds of whole
    `weights`, times the chance of the seat to win, from 0 to WHOLE; of actions that are not legal
    they mean nothing.
    """
    tree = [_first(games)]
    node = np.zeros(games.count, np.intp)
    masks = games.legal() > 0
    while True:
        which, actions = np.nonzero(masks)
        games, weights = games.select(which), weights[which]
        edges = node[which] * ACTIONS + actions
        games.step(actions)
        seen = _reply(games, seat, policies[1 - seat])
        masks = games.legal() > 0
        if masks.sum() > most:
            play_on(games, policies)
        _settle(tree[-1], games, weights, seat, edges, values)
        live = np.flatnonzero(~games.over)
        if not len(live):
            return _back(tree)
        games, weights, masks = games.select(live), weights[live], masks[live]
        nodes, node = _split(games, seat, edges[live], seen[live], masks)
        tree.append(nodes)


def _first(games: Lockstep) -> _Nodes:
    """Return the decision that is asked about."""
    legal = games.legal()[:1] > 0
    return _Nodes(np.zeros(1, np.intp), legal, np.zeros(legal.shape, np.int64))


def _reply(games: Lockstep, seat: Seat, policy: Policy) -> npt.NDArray[np.int64]:
    """Let the other seat act until it is the seat's turn; return what it did, as a number."""
    seen = np.zeros(games.count, np.int64)
    while (~games.over & (games.to_act != seat)).any():
        actions = pick(games, policy)
        seen = _REPLIES * seen + actions + 1
        games.step(actions)
    return seen


def _settle(
    nodes: _Nodes, games: Lockstep, weights: Weights, seat: Seat, edges: Indices, values: Values
) -> None:
    """Add what games that are over came to, to the worths of the actions before."""
    over = np.flatnonzero(games.over)
    if len(over):
        whole = own_chances(games.select(over), seat, values)
        np.add.at(nodes.worths.reshape(-1), edges[over], weights[over] * whole)


def _split(
    games: Lockstep,
    seat: Seat,
    edges: Indices,
    seen: npt.NDArray[np.int64],
    masks: npt.NDArray[np.bool_],
) -> tuple[_Nodes, Indices]:
    """Return the decisions that games have come to, and the number of each game's own.

    Games are at one decision where the seat has done and seen the same, and holds the same cards.
    """
    known = np.stack([packs_of(games.hands[seat]), seen, edges])
    order = np.lexsort(known)
    sorted_ = known[:, order]
    is_new = np.ones(games.count, np.bool_)
    is_new[1:] = (sorted_[:, 1:] != sorted_[:, :-1]).any(axis=0)
    node = np.empty(games.count, np.intp)
    node[order] = is_new.cumsum() - 1
    first = order[is_new]
    legal = masks[first]
    return _Nodes(edges[first], legal, np.zeros(legal.shape, np.int64)), node


def _back(tree: Sequence[_Nodes]) -> Weights:
    """Return the worths of the first decision, where the best action is played at the others."""
    for before, nodes in zip(tree[-2::-1], tree[:0:-1], strict=True):
        best = np.where(nodes.legal, nodes.worths, -1).max(axis=1)
        np.add.at(before.worths.reshape(-1), nodes.edges, best)
    worths: Weights = tree[0].worths[0]
    return worths
