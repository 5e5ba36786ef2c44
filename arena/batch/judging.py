"""Judge decisions of many recorded games by rollouts of sampled worlds to the round's end.

A decision is judged by the information of its seat. Hands of the opponent are drawn from the seat's
unseen cards; in each of these worlds every legal action is tried, and the rest of the round is
played by a policy. A world does not include the cards of later rounds. The last round is not played
by the policy, but solved with open cards (`arena.batch.last_round`).

The loss of an action is the value of the best action minus its own. The largest of several noisy
estimates is biased upwards, so the best action is chosen by one half of the worlds and valued by
the other half; then the halves are exchanged, and the mean is taken. An action chosen as well as
one half of the worlds chooses has a mean loss of 0. Source: van Hasselt, "Double Q-learning", 2010.

A mistake has a name by rules of the game, and a strategy can be cured of those with one name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from random import Random
from typing import Final, NamedTuple

import numpy as np

from arena.batch.beliefs import Seats
from arena.batch.last_round import solve_actions, solve_open
from arena.batch.lockstep import Lockstep
from arena.batch.positions import Cards, Indices, hands_by_keys, packs_of
from arena.batch.replay import NOTHING, Bools, Ints
from arena.batch.rollouts import WHOLE, Policy, Values, action_values, own_chances, play_on
from engine import (
    CITY,
    KINDS,
    SUPPORTS,
    TAKE,
    VALUES,
    Action,
    Setup,
    Strategy,
    View,
    count,
    pack_of,
    sample_hand,
)
from engine.cards import BITS
from engine.encoding import ACTIONS
from engine.scoring import net_deals
from engine.strategy import close

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


_VALUES = (*VALUES, 0)  # a take has none


class _Choice(NamedTuple):
    """A view, the action and a better one, and what the opponent can take after each."""

    seen: View
    action: Action
    better: Action
    given: bytes
    instead: bytes

    def leaves(self, cities: int) -> bool:
        """Whether so many cities can be taken, and fewer after the better action."""
        return self.given.count(CITY) >= max(1, cities, self.instead.count(CITY) + 1)

    def lead(self) -> int:
        """How many more cards of the kind played the opponent can have."""
        piles, seat = self.seen.piles, self.seen.seat
        theirs = self.given.count(self.action) + count(piles[1 - seat], self.action)
        return theirs - count(piles[seat], self.action)


_RULES: Final[Mapping[str, Callable[[_Choice], bool]]] = {
    "took betrayals": lambda one: (
        one.action == TAKE
        and one.better != CITY
        and net_deals(pack_of(_newest(one.seen, one.seen.row))) < 0
    ),
    "took one card early": lambda one: (
        one.action == TAKE and len(one.seen.row) == one.seen.rules.take_size - 1
    ),
    "took too early": lambda one: one.action == TAKE,
    "left a win by City in reach": lambda one: one.leaves(
        one.seen.rules.cities_needed - count(one.seen.piles[one.seen.opponent], CITY)
    ),
    "left two cities in reach": lambda one: one.leaves(2),
    "took too late": lambda one: one.better == TAKE,
    "laid a betrayal too early": lambda one: _VALUES[one.action] < 0 <= _VALUES[one.better],
    "kept a city too long": lambda one: one.better == CITY,
    "gave a city": lambda one: bool(one.given) and one.action == CITY,
    "kept a betrayal too long": lambda one: (
        bool(one.given) and _VALUES[one.better] < 0 <= _VALUES[one.action]
    ),
    "gave the card for a majority": lambda one: (
        bool(one.given) and one.action in SUPPORTS and one.lead() == 1
    ),
    "gave an alliance": lambda one: bool(one.given) and _VALUES[one.action] > 0,
    "laid the wrong card": lambda _: True,
}
MISTAKES: Final = (*_RULES,)
"""What `name_mistake` may return: the first that fits; the last one stands for all else."""


def name_mistake(seen: View, action: Action, better: Action) -> str:
    """Return what was wrong with an action, given a better one.

    >>> seen = View.from_text("0 5678C xy")
    >>> name_mistake(seen, TAKE, 0), name_mistake(seen, CITY, 0), name_mistake(seen, 0, TAKE)
    ('took betrayals', 'gave a city', 'took too late')
    """
    given, instead = (
        b"" if one == TAKE or seen.taken[seen.opponent] else _newest(seen, seen.row + bytes([one]))
        for one in (action, better)
    )
    choice = _Choice(seen, action, better, given, instead)
    return next(mistake for mistake, fits in _RULES.items() if fits(choice))


def _newest(seen: View, row: bytes) -> bytes:
    """Return the cards of a row that a take brings (R6)."""
    return row[-seen.rules.take_size :]


_WORLDS: Final = 50
_CERTAIN: Final = 2  # standard errors


class Cured:
    """Plays as another strategy, but where that makes one kind of mistake the judge's best action.

    The judge tries each action in 50 worlds: the round is played on by a policy in both seats, and
    its end has one of `values`. The last round is solved with open cards. An action is a mistake if
    its loss is more than two standard errors, of the worlds and, by round, of the judge. Only under
    the published rules.
    """

    def __init__(
        self,
        setup: Setup,
        own: Strategy,
        mistake: str,
        policy: Policy,
        values: Values,
        errors: Sequence[float],
    ) -> None:
        self.own = own
        self.mistake = mistake
        self.policies = policy, policy
        self.values = values
        self.errors = errors
        self.rng = Random(copy(setup.rng).getrandbits(64))  # the own one draws as without a cure

    def choose(self, view: View, /) -> Action:
        """Return the own action, or the judge's where it is this kind of mistake."""
        action = self.own.choose(view)
        if not any(self.is_meant(view, action, other) for other in view.legal):
            return action
        better = self.judge(view, action)
        return better if self.is_meant(view, action, better) else action

    def is_meant(self, view: View, action: Action, better: Action) -> bool:
        """Whether an action is this kind of mistake if another one is better."""
        both_legal = action != better and action in view.legal
        return both_legal and name_mistake(view, action, better) == self.mistake

    def judge(self, view: View, action: Action) -> Action:
        """Return the action with the highest chance to win where it is surely better."""
        hands = [sample_hand(view, self.rng) for _ in range(_WORLDS)]
        if view.round == view.rules.rounds:
            worths = solve_actions(Lockstep.from_view(view, hands))
            chances = worths[[*view.legal]] / 2
        else:
            chances = action_values(view, hands, self.policies, self.values) / WHOLE
        best = int(chances.sum(axis=1).argmax())
        gains = chances[best] - chances[view.legal.index(action)]
        error = math.hypot(gains.std() / math.sqrt(_WORLDS - 1), self.errors[view.round - 1])
        return view.legal[best] if gains.mean() > _CERTAIN * error else action

    def close(self) -> None:
        """Close the own strategy."""
        close(self.own)
