"""Values of actions against a known policy: a seat's best response to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.batch.beliefs import packs_of
from arena.batch.lockstep import Lockstep
from arena.batch.positions import Indices
from arena.batch.rollouts import Policy, Values, own_chances, pick, play_on
from engine import Seat
from engine.encoding import ACTIONS

Weights: TypeAlias = npt.NDArray[np.int64]
_REPLIES: Final = ACTIONS + 1


class _Nodes(NamedTuple):
    """The information sets at one depth of the seat's decisions, with their legal actions.

    `edges` are the preceding actions of the seat that lead here, and `worths` the values of the
    actions (node, action).
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
    """Return the values of a seat's actions over the worlds of one information set.

    The other seat plays by its policy. The seat tries every action, and does so again at its next
    decisions, at which it has seen the other seat's actions, as long as there are at most `most`
    games; from then on it plays by its policy, too. The values are sums over the worlds of whole
    `weights`, times the seat's chance to win, from 0 to WHOLE; those of illegal actions are
    undefined.
    """
    tree: list[_Nodes] = []
    edges, seen = np.zeros((2, games.count), np.int64)
    while games.count:
        nodes, node = _split(games, seat, edges, seen)
        tree.append(nodes)
        which, actions = np.nonzero(nodes.legal[node])
        games, weights = games.select(which), weights[which]
        edges = node[which] * ACTIONS + actions
        games.step(actions)
        seen = _reply(games, seat, policies[1 - seat])
        if games.legal().sum() > most:
            play_on(games, policies)
        _settle(nodes, games, weights, seat, edges, values)
        live = np.flatnonzero(~games.over)
        games, weights, edges, seen = games.select(live), weights[live], edges[live], seen[live]
    return _back(tree)


def _reply(games: Lockstep, seat: Seat, policy: Policy) -> npt.NDArray[np.int64]:
    """Let the other seat act until it is the seat's turn; return its actions as a number."""
    seen = np.zeros(games.count, np.int64)
    while (~games.over & (games.to_act != seat)).any():
        actions = pick(games, policy)
        seen = _REPLIES * seen + actions + 1
        games.step(actions)
    return seen


def _settle(
    nodes: _Nodes, games: Lockstep, weights: Weights, seat: Seat, edges: Indices, values: Values
) -> None:
    """Add the results of finished games to the values of the preceding actions."""
    over = np.flatnonzero(games.over)
    if len(over):
        whole = own_chances(games.select(over), seat, values)
        np.add.at(nodes.worths.reshape(-1), edges[over], weights[over] * whole)


def _split(
    games: Lockstep, seat: Seat, edges: Indices, seen: npt.NDArray[np.int64]
) -> tuple[_Nodes, Indices]:
    """Return the decisions that games have reached, and the number of each game's decision.

    Games are at the same decision if the seat has the same hand and the same history.
    """
    known = np.stack([packs_of(games.hands[seat]), seen, edges])
    order = np.lexsort(known)
    sorted_ = known[:, order]
    is_new = np.ones(games.count, np.bool_)
    is_new[1:] = (sorted_[:, 1:] != sorted_[:, :-1]).any(axis=0)
    node = np.empty(games.count, np.intp)
    node[order] = is_new.cumsum() - 1
    first = order[is_new]
    legal = games.legal()[first] > 0
    return _Nodes(edges[first], legal, np.zeros(legal.shape, np.int64)), node


def _back(tree: Sequence[_Nodes]) -> Weights:
    """Return the values at the root if the best action is played at all later decisions."""
    for before, nodes in zip(tree[-2::-1], tree[:0:-1], strict=True):
        best = np.where(nodes.legal, nodes.worths, -1).max(axis=1)
        np.add.at(before.worths.reshape(-1), nodes.edges, best)
    worths: Weights = tree[0].worths[0]
    return worths
