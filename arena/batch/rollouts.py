"""Play many games on together, by policies; value actions, and split what was played by seats.

The actions of a seat are valued against hands of the opponent, or as the beginning of its best
response to a known policy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.batch.lockstep import Lockstep
from arena.batch.positions import Indices, packs_of
from arena.batch.replay import Bools
from arena.errors import InputError
from engine import Pack, Seat, View
from engine.encoding import ACTIONS

Scores: TypeAlias = npt.NDArray[Any]
Policy: TypeAlias = Callable[[Lockstep], Scores]
"""Returns scores (game, action): the legal action with the highest score is played, the first if
several tie. The method `scores` of a strategy is one."""

Weights: TypeAlias = npt.NDArray[np.int64]
Values: TypeAlias = Callable[[Lockstep], npt.NDArray[np.float64]]
"""Returns the chance of seat 0 to win in games that ended with a round, from 0 to 1."""

WHOLE: Final = 1 << 24
"""A chance of 1 as an integer: sums of integers are the same in any order."""

_MOST_FREE = 0.9  # from this share of games with a choice on, the policy is called for all games


def pick(games: Lockstep, policy: Policy) -> npt.NDArray[np.intp]:
    """Return a policy's action in each game; the policy is called for games with a choice.

    The entries of finished games are undefined.
    """
    masks = games.legal().copy()
    free = np.flatnonzero(masks.sum(axis=1, dtype=np.uint8) > 1)
    actions: npt.NDArray[np.intp] = masks.argmax(axis=1)
    actions[free] = pick_in(games, policy, free, masks)
    return actions


def pick_in(
    games: Lockstep, policy: Policy, some: Indices, masks: npt.NDArray[Any]
) -> npt.NDArray[np.intp]:
    """Return a policy's actions in some of the games, given the masks of all."""
    if len(some) > _MOST_FREE * games.count:
        return best_legal(policy(games), masks)[some]
    if not len(some):
        return some
    return best_legal(policy(games.select(some, to_come=False)), masks[some])


class Pool:
    """The players of many games, of which one is drawn for each game.

    A player has a `name`, and `choose` returns its actions in some of the games, given the masks of
    all, as `pick_in` does.
    """

    def __init__(self, count: int) -> None:
        self.players: list[Any] = []
        self.met: Indices = np.zeros(count, np.intp)

    def change(self, players: Sequence[Any], weights: npt.NDArray[np.float64], live: Bools) -> None:
        """Draw from these players from now on; those of `live` games play these to their ends."""
        kept = np.unique(self.met[live])
        self.met = kept.searchsorted(self.met).clip(0, max(0, len(kept) - 1))
        self._first = len(kept)
        self._shares = weights.cumsum() / weights.sum()
        self.players = [*(self.players[number] for number in kept), *players]
        self._names = np.array([player.name for player in self.players], object)

    def draw(self, games: Indices, luck: np.random.Generator) -> None:
        """Draw the players of games that begin."""
        drawn = self._shares.searchsorted(luck.random(len(games)), side="right")
        self.met[games] = self._first + drawn

    def names(self) -> npt.NDArray[np.object_]:
        """Return the name of each game's player."""
        return self._names.take(self.met)

    def choose(self, games: Lockstep, some: Indices, masks: Any, actions: Indices) -> None:
        """Fill in the actions of the players in some games, given the masks of all."""
        met = self.met[some]
        for number, player in enumerate(self.players):
            own = some[met == number]
            if len(own):
                actions[own] = player.choose(games, own, masks)


def best_legal(scores: Scores, masks: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Return the legal actions with the highest scores, the first if several tie."""
    best: npt.NDArray[np.intp] = np.where(masks, scores, -np.inf).argmax(axis=1)
    return best


def play_on(games: Lockstep, policies: Sequence[Policy]) -> None:
    """Play games until all are over, with a policy for each seat."""
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
    """Return the value of each legal action of a view against each hand (action, hand).

    After the action the round is played to its end by the policies of the seats. The values are the
    chances of the view's seat to win, from 0 to WHOLE. Raises InputError for a hand that the
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
        seen = (ACTIONS + 1) * seen + actions + 1
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


class Trajectory(NamedTuple):
    """The decisions of one seat in one game of a column: `steps` are their rows.

    `result` is the seat's reward, 1, 0 or -1, and 0 if the game is not `finished`.

    >>> played = by_seat([[0], [1], [0]], [[0], [0], [1]], [[False], [False], [True]])
    >>> one = next(played.split())
    >>> one.game, one.seat, one.steps.tolist(), one.result, one.finished
    (0, 0, [0, 2], 1.0, True)
    """

    game: int
    seat: Seat
    steps: npt.NDArray[np.intp]
    result: float
    finished: bool


class Trajectories(NamedTuple):
    """The rewards of decisions for the seats that made them, in arrays (step, game).

    `rewards` are given at a seat's last action of a game, which `last` marks; `returns` have the
    same number at all its decisions of that game. `following` is the step of the seat's next
    decision in that game, or -1. `finished` is False if the arrays stop before the game's end: then
    its result is unknown, and the return is 0.

    >>> played = by_seat([[0], [1], [0]], [[0], [0], [1]], [[False], [False], [True]])
    >>> played.returns.ravel().tolist(), played.following.ravel().tolist()
    ([1.0, -1.0, 1.0], [2, -1, -1])
    """

    seats: npt.NDArray[np.intp]
    rewards: npt.NDArray[np.float64]
    returns: npt.NDArray[np.float64]
    last: npt.NDArray[np.bool_]
    finished: npt.NDArray[np.bool_]
    following: npt.NDArray[np.intp]

    def split(self) -> Iterator[Trajectory]:
        """Yield the decisions of each seat in each game, in the order of their first steps."""
        numbers = np.full(self.seats.shape, -1, np.intp)
        count = 0
        for step, row in enumerate(numbers):
            first = np.flatnonzero((self.seats[step] >= 0) & (row < 0))
            row[first] = np.arange(count, count + len(first))
            count += len(first)
            goes_on = np.flatnonzero(self.following[step] >= 0)
            numbers[self.following[step, goes_on], goes_on] = row[goes_on]
        places = numbers.reshape(-1).argsort(kind="stable")
        places = places[np.count_nonzero(numbers < 0) :]
        ends = np.bincount(numbers[numbers >= 0], minlength=count).cumsum()
        for some in np.split(places, ends[:-1]) if count else ():
            steps, games = np.unravel_index(some, numbers.shape)
            end = steps[-1], games[0]
            result, finished = float(self.returns[end]), bool(self.finished[end])
            yield Trajectory(int(games[0]), int(self.seats[end]), steps, result, finished)


def by_seat(seats: Any, rewards: Any, over: Any) -> Trajectories:
    """Return the trajectories of decisions; the arrays are (step, game).

    `seats` are the seats that acted, or -1 if the game had been over before the step. `rewards` are
    their rewards, and `over` says which games ended with the action. All three are what the vector
    environment returns: `infos["seat"]` before a step, `rewards` and `terminated` after it. There
    the final reward is that of the seat that acted last; here the last action of the other seat
    gets the opposite reward, too. A seat without an action in a game has no trajectory for it.
    Raises InputError for inconsistent arrays.

    >>> played = by_seat([[0], [1], [0]], [[0], [0], [1]], [[False], [False], [True]])
    >>> played.rewards.ravel().tolist()
    [0.0, -1.0, 1.0]
    >>> [(one.seat, one.steps.tolist(), one.result) for one in played.split()]
    [(0, [0, 2], 1.0), (1, [1], -1.0)]
    """
    seats, rewards, over = np.asarray(seats, np.intp), np.asarray(rewards), np.asarray(over, bool)
    if seats.ndim != 2 or not seats.shape == rewards.shape == over.shape:
        shapes = ", ".join(str(array.shape) for array in (seats, rewards, over))
        wanted = "expected three of one shape (step, game)"
        raise InputError(f"trajectories: arrays of the shapes {shapes}, {wanted}")
    numbers, flags = np.zeros((2, *seats.shape)), np.zeros((2, *seats.shape), np.bool_)
    following = np.full(seats.shape, -1, np.intp)
    made = Trajectories(seats, numbers[0], numbers[1], flags[0], flags[1], following)
    _fill(made, rewards, over & (seats >= 0))
    return made


def _fill(made: Trajectories, rewards: npt.NDArray[Any], over: Bools) -> None:
    """Fill in the arrays, from the last step to the first."""
    seats, columns = made.seats, np.arange(made.seats.shape[1])
    results = np.zeros((2, len(columns)))
    following = np.full((2, len(columns)), -1, np.intp)
    finished = np.zeros(len(columns), np.bool_)
    for step in range(len(seats) - 1, -1, -1):
        ended = columns[over[step]]
        results[seats[step, ended], ended] = rewards[step, ended]
        results[1 - seats[step, ended], ended] = -rewards[step, ended]
        following[:, ended] = -1
        finished[ended] = True
        acting = columns[seats[step] >= 0]
        seat = seats[step, acting]
        made.finished[step, acting] = finished[acting]
        made.returns[step, acting] = results[seat, acting]
        made.following[step, acting] = following[seat, acting]
        following[seat, acting] = step
    np.copyto(made.last, made.finished & (made.following < 0))
    np.copyto(made.rewards, made.returns, where=made.last)
