"""Values of actions against a known policy, and a rival for training that plays by them.

It is a cheaper form of the bot `responder` for many games: hands are drawn and weighted anew at
each decision, and only one decision of its own is searched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.batch.beliefs import Seats, packs_of
from arena.batch.learner import probabilities
from arena.batch.lockstep import Lockstep
from arena.batch.positions import Cards, Indices, hands_by_keys
from arena.batch.rollouts import Policy, Values, best_legal, own_chances, pick, play_on
from engine import TAKE, Seat
from engine.encoding import ACTIONS

_TOGETHER = 64  # games whose worlds fit in the cache


class BestResponse:
    """Plays the action of the highest value against a known stochastic policy.

    Scores of the `policy` divided by `scale` are logits. The weight of a hand is the probability of
    the policy's actions in this round with it. For each decision `hands` hands are drawn. Each
    action is tried in `worlds` worlds, in which hands appear in proportion to their weights, and
    both seats play by the policy to the end of the round. Source: Lisy and Bowling, "Equilibrium
    Approximation Quality of Current No-Limit Poker Bots", 2017.
    """

    def __init__(
        self,
        policy: Policy,
        values: Values,
        scale: float,
        rng: np.random.Generator,
        hands: int = 48,
        worlds: int = 16,
    ) -> None:
        self.policy = policy
        self.values = values
        self.scale = scale
        self.rng = rng
        self.hands = hands
        self.worlds = worlds
        self.begin(np.zeros((0, 0), np.uint8), 0)

    def begin(self, _deals: Cards, seat: Seat, /) -> None:
        """Begin games in which it plays this seat."""
        self.seat = seat
        self._start = Lockstep(0)
        self._actions: list[Indices] = []  # of both seats in this round

    def follow(self, games: Lockstep, actions: Indices, /) -> None:
        """Observe the action that is about to be carried out in each of these games."""
        if _round_begins(games):
            self._start = games.select(np.arange(games.count))
            self._actions = []
        self._actions.append(actions)

    def choose(self, games: Lockstep, /) -> Indices:
        """Return the action that it plays in each of the same games, as they are now."""
        if _round_begins(games):
            self._actions = []
        masks = games.legal() > 0
        actions: Indices = masks.argmax(axis=1)
        free = np.flatnonzero(masks.sum(axis=1) > 1)
        for start in range(0, len(free), _TOGETHER):
            some = free[start : start + _TOGETHER]
            actions[some] = self._best(self._draw(games, some), masks[some])
        self.follow(games, actions)
        return actions

    def _draw(self, games: Lockstep, some: Indices) -> Lockstep:
        """Return worlds of each of these games, drawn by the weights of their hands."""
        seats = Seats(games)
        unseen = seats.unseen[:, some]
        shape = int(unseen.sum(axis=0).max()), len(some) * self.hands
        keys = self.rng.random(shape, np.float32).T.reshape(len(some), self.hands, -1)
        drawn = hands_by_keys(unseen, seats.cards[1, some], keys)
        flat = drawn.reshape(len(drawn), -1)
        chances = self._chances(np.repeat(some, self.hands), flat).reshape(len(some), -1)
        picked = _systematic(chances, self.worlds)
        worlds = games.select(np.repeat(some, self.worlds))
        of_games = np.take_along_axis(drawn, picked[None], axis=2)
        worlds.hands[1 - self.seat] = of_games.reshape(len(drawn), -1)
        worlds.by_round = True
        return worlds

    def _chances(self, games: Indices, hands: Cards) -> npt.NDArray[np.float64]:
        """Return the probability of the policy's actions so far if it holds these hands now."""
        chances, other = np.ones(len(games)), 1 - self.seat
        if not self._actions:
            return chances
        worlds = self._start.select(games)
        made = np.stack(self._actions)[:, games]
        theirs = (np.arange(len(made)) % 2 == 0) == (worlds.to_act[0] == other)
        played = np.zeros_like(hands)
        plies, places = np.nonzero((made != TAKE) & theirs[:, None])
        np.add.at(played, (made[plies, places], places), 1)
        worlds.hands[other] = hands + played
        for actions, is_theirs in zip(made, theirs, strict=True):
            if is_theirs:
                shares = probabilities(self.policy(worlds) / self.scale, worlds.legal() > 0)
                chances *= shares[np.arange(len(games)), actions]
            worlds.step(actions)
        return chances

    def _best(self, worlds: Lockstep, masks: npt.NDArray[np.bool_]) -> Indices:
        """Return the actions that win most in the worlds of each game."""
        count = self.worlds
        rows, actions = np.nonzero(masks)
        tried = worlds.select((rows[:, None] * count + np.arange(count)).ravel())
        tried.step(np.repeat(actions, count))
        play_on(tried, [self.policy, self.policy])
        wins = own_chances(tried, self.seat, self.values).reshape(-1, count).sum(axis=1)
        worths = np.zeros(masks.shape)
        worths[rows, actions] = wins
        return best_legal(worths, masks)


def _round_begins(games: Lockstep) -> bool:
    """Return whether the unfinished games, all at the same ply, are at a round's beginning."""
    return not games.plies[~games.over].any()


def _systematic(weights: npt.NDArray[np.float64], count: int) -> Indices:
    """Return `count` columns for each row, by systematic sampling with these weights."""
    sums = (weights + 1e-12).cumsum(axis=1)
    sums /= sums[:, -1:]
    places = (np.arange(count) + 0.5) / count
    picked: Indices = (sums[:, :, None] < places).sum(axis=1)
    return picked


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
    """Return the decision at the root."""
    legal = games.legal()[:1] > 0
    return _Nodes(np.zeros(1, np.intp), legal, np.zeros(legal.shape, np.int64))


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
    games: Lockstep,
    seat: Seat,
    edges: Indices,
    seen: npt.NDArray[np.int64],
    masks: npt.NDArray[np.bool_],
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
    legal = masks[first]
    return _Nodes(edges[first], legal, np.zeros(legal.shape, np.int64)), node


def _back(tree: Sequence[_Nodes]) -> Weights:
    """Return the values at the root if the best action is played at all later decisions."""
    for before, nodes in zip(tree[-2::-1], tree[:0:-1], strict=True):
        best = np.where(nodes.legal, nodes.worths, -1).max(axis=1)
        np.add.at(before.worths.reshape(-1), nodes.edges, best)
    worths: Weights = tree[0].worths[0]
    return worths
