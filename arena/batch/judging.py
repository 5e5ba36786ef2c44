"""Judge decisions of many recorded games by rollouts of sampled worlds to the round's end.

A decision is judged by the information of its seat. Hands of the opponent are drawn from the seat's
unseen cards; in each of these worlds every legal action is tried, and the rest of the round is
played by a policy. A world does not include the cards of later rounds. The last round is not played
by the policy, but solved with open cards (`arena.batch.last_round`).

The loss of an action is the value of the best action minus its own. The largest of several noisy
estimates is biased upwards, so the best action is chosen by one half of the worlds and valued by
the other half; then the halves are exchanged, and the mean is taken. An action chosen as well as
one half of the worlds chooses has a mean loss of 0. Source: van Hasselt, "Double Q-learning", 2010.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from arena.batch.beliefs import Seats, packs_of
from arena.batch.last_round import solve_open
from arena.batch.lockstep import Lockstep
from arena.batch.positions import Cards, Indices, hands_by_keys
from arena.batch.replay import NOTHING, Bools, Ints
from arena.batch.rollouts import WHOLE, Policy, Values, own_chances, play_on
from engine import KINDS
from engine.cards import BITS
from engine.encoding import ACTIONS

ILLEGAL: Final = -1
"""The entry for the chance of an illegal action."""

_TOGETHER = 1 << 12  # worlds that are played together
_KINDS = np.arange(len(KINDS))


class Decisions(NamedTuple):
    """The decisions at one ply, one in each row of the arrays.

    `chances` (decision, action) are the mean chances to win, ILLEGAL for illegal actions; `loss` is
    the loss of the action played, which may be below 0 by chance, and `error` its standard error.
    They are whole numbers, in units of 1 / WHOLE.
    """

    game: Indices
    ply: int
    action: Indices
    chances: Ints
    loss: Ints
    error: Ints


def judge(
    deals: Cards,
    actions: Cards,
    wanted: Bools,
    lucks: Sequence[np.random.Generator],
    worlds: int,
    policy: Policy,
    values: Values,
    beat: Callable[[], object] = lambda: None,
) -> Iterator[Decisions]:
    """Yield the decisions of games ply by ply; forced moves are left out.

    `deals` (game, card) and `actions` (game, ply) are those of games under the published rules that
    were played to their end, with NOTHING after it; `wanted` (game, ply) says which decisions are
    judged. Each game has a generator of its own in `lucks`, so that its result does not depend on
    the other games, and draws the same amount at every ply, so that a draw does not depend on the
    other hand. An unfinished game must be judged separately. `worlds` is even and at least 4.
    `beat` is called regularly.
    """
    games = Lockstep(len(deals))
    games.begin(np.arange(len(deals)), deals)
    for ply, played in enumerate(np.ascontiguousarray(actions.T)):
        rows = np.flatnonzero(played != NOTHING)
        if not len(rows):
            return
        masks = games.legal() > 0
        hands = draw_hands(games, rows, [lucks[row] for row in rows.tolist()], worlds)
        some = np.flatnonzero(wanted[rows, ply] & (masks[rows].sum(axis=1) > 1))
        if len(some):
            at, of = games.select(rows[some]), masks[rows[some]]
            found = find_chances(at, of, hands[:, some], policy, values, beat)
            action = played[rows[some]].astype(np.intp)
            yield Decisions(rows[some], ply, action, *weigh(found, of, action))
        games.step(np.where(played == NOTHING, 0, played))


def draw_hands(
    games: Lockstep, rows: Indices, lucks: Sequence[np.random.Generator], worlds: int
) -> Cards:
    """Return hands of the opponents of the seats to act (kind, row, world), each equally likely.

    Only information of the seat is used: of the opponent's hand, its size.
    """
    seats = Seats(games)
    keys = np.empty((len(rows), worlds, len(games.rules.deck)))
    for of_row, luck in zip(keys, lucks, strict=True):
        luck.random(out=of_row)
    return hands_by_keys(seats.unseen[:, rows], seats.cards[1, rows], keys)


def find_chances(
    games: Lockstep,
    masks: Bools,
    hands: Cards,
    policy: Policy,
    values: Values,
    beat: Callable[[], object] = lambda: None,
) -> Ints:
    """Return the chances to win of the seats to act (game, action, world), as whole numbers.

    The opponents have these `hands` (kind, game, world); all legal actions (game, action) are tried
    in the same worlds. All games are at the same ply. Entries of illegal actions are undefined.
    """
    distinct, place = _find_distinct(hands)
    owner, held = distinct // hands.shape[2], hands.reshape(len(KINDS), -1)[:, distinct]
    found = np.zeros((len(distinct), ACTIONS), np.int64)
    world, action = np.nonzero(masks[owner])
    for start in range(0, len(world), _TOGETHER):
        beat()
        some, tried = world[start : start + _TOGETHER], action[start : start + _TOGETHER]
        found[some, tried] = _try(games, owner[some], held[:, some], tried, policy, values)
    return found[place].swapaxes(1, 2)


def _find_distinct(hands: Cards) -> tuple[Indices, Indices]:
    """Return the indices of the distinct hands (kind, game, world) of each game.

    The second array has for each world (game, world) the position of its hand among these.
    """
    count, worlds = hands.shape[1:]
    packs = packs_of(hands.reshape(len(KINDS), -1)).reshape(count, worlds)
    keys = packs + (np.arange(count, dtype=np.int64)[:, None] << BITS * len(KINDS))
    _, distinct, place = np.unique(keys, return_index=True, return_inverse=True)
    return distinct, place.reshape(count, worlds)


def _try(
    games: Lockstep, rows: Indices, hands: Cards, actions: Indices, policy: Policy, values: Values
) -> Ints:
    """Return the chances to win of the seats to act after these actions, world by world."""
    worlds = games.select(rows)
    worlds.by_round = True
    worlds.dealt[:] = 0  # later deals are not known
    seats = worlds.to_act.copy()
    worlds.hands[1 - seats, :, np.arange(len(rows))] = hands.T
    worlds.step(actions)
    if games.round[0] + 1 == games.rules.rounds:
        chances = solve_open(worlds)
        return np.where(seats == 0, chances, WHOLE - chances)
    play_on(worlds, (policy, policy))
    return own_chances(worlds, seats, values)


def weigh(chances: Ints, masks: Bools, played: Indices) -> tuple[Ints, Ints, Ints]:
    """Return mean chances, and the loss of the action played with its standard error.

    `chances` are (decision, action, world).

    >>> chances = np.array([[[8, 8, 8, 8], [0, 0, 16, 16], [9, 9, 9, 9]]])
    >>> masks = np.array([[True, True, False]])
    >>> [array.tolist() for array in weigh(chances, masks, np.array([0]))]
    [[[8, 8, -1]], [-4], [0]]
    """
    decisions, half = np.arange(len(played)), chances.shape[2] // 2
    halves = chances[..., :half], chances[..., half:]
    losses, squares = [], []
    for one, other in (halves, halves[::-1]):
        best = np.where(masks, one.sum(axis=2), ILLEGAL).argmax(axis=1)
        differences = other[decisions, best] - other[decisions, played]
        losses.append(differences.sum(axis=1))
        squares.append(differences.var(axis=1, ddof=1) / half)
    loss = np.rint(sum(losses) / (2 * half)).astype(np.int64)
    error = np.rint(np.sqrt(sum(squares)) / 2).astype(np.int64)
    means = np.rint(chances.mean(axis=2)).astype(np.int64)
    return np.where(masks, means, ILLEGAL), loss, error
