"""A small game as arrays: what all algorithms read, and by what all of them are measured.

A policy is a pair of arrays, one a seat, with the probability of each sequence's last action at its
decision. Whatever made it, it is measured by `arena.addons.rl.exact`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from arena.addons.rl.exact import Exact, Policy
from arena.batch.lockstep import Encoding, Lockstep, mask, random_deals
from arena.statistics.distributions import Floats
from engine import CITY, KINDS, Action, Rules, Seat, View, counts
from engine.encoding import ACTIONS

Shares: TypeAlias = tuple[Floats, Floats]


class Game:
    """A variant of one round with its decisions by depth, and with sampled play.

    `levels[seat]` has for each depth the parent sequences of its decisions, and their own sequences
    in rows that are filled up with the number of sequences.
    """

    def __init__(self, rules: Rules) -> None:
        assert rules.rounds == 1, "a key has one hand"
        assert not rules.copies[CITY], "all games have one length"
        self.exact = Exact(rules)
        self.rules = rules
        self._base = max(rules.copies) + 1
        self.sizes: tuple[int, int] = self.exact.payoffs.shape
        self.payoffs = (self.exact.payoffs, self.exact.payoffs.T.tocsr())
        self.levels = [self._find_levels(seat) for seat in (0, 1)]
        self.views = self.exact.views()
        self.masks = np.array([mask(seen) for seen in self.views], np.bool_)
        bits = np.array([*map(Encoding(rules).information_state, self.views)])
        self.features = bits[:, bits.min(axis=0) < bits.max(axis=0)].astype(np.float32)
        keys = np.array([self._key(seen) for seen in self.views])
        self._order = keys.argsort()
        self._keys = keys[self._order]

    def _find_levels(self, seat: Seat) -> list[tuple[Any, Any]]:
        decisions = self.exact.decisions[seat]
        depths = {0: 0}
        found: list[tuple[list[int], list[list[int]]]] = []
        widest = max(len(decision.seen.legal) for decision in decisions)
        for decision in decisions:
            own = [*decision.sequences()]
            depth = depths[decision.parent]
            depths |= dict.fromkeys(own, depth + 1)
            if depth == len(found):
                found.append(([], []))
            found[depth][0].append(decision.parent)
            found[depth][1].append(own + [self.sizes[seat]] * (widest - len(own)))
        return [(np.array(parents), np.array(rows)) for parents, rows in found]

    def uniform(self) -> Shares:
        """Return the policy that plays every legal action equally often."""
        return self.from_policy(lambda seen: dict.fromkeys(seen.legal, 1 / len(seen.legal)))

    def from_policy(self, policy: Policy) -> Shares:
        """Return the array form of a policy that is a function of views."""
        shares = np.ones(self.sizes[0]), np.ones(self.sizes[1])
        for seat in (0, 1):
            for decision in self.exact.decisions[seat]:
                odds = policy(decision.seen)
                shares[seat][decision.sequences()] = [odds.get(a, 0) for a in decision.seen.legal]
        return shares

    def from_rows(self, rows: Floats) -> Shares:
        """Return the array form of a row of probabilities by action for each of `views`."""
        table = dict(zip(self.views, rows, strict=True))
        return self.from_policy(lambda seen: dict(enumerate(table[seen].tolist())))

    def rows(self, shares: Shares) -> Floats:
        """Return a row of probabilities by action for each of `views`."""
        rows = np.zeros((len(self.views), ACTIONS))
        rows[self.masks] = np.concatenate([shares[0][1:], shares[1][1:]])
        return rows

    def measure(self, shares: Shares) -> tuple[float, float]:
        """Return the exact exploitability of a policy, and of its likeliest actions."""
        rows = self.rows(shares)
        best = np.where(self.masks, rows, -1).argmax(axis=1)
        return self._lose(dict(zip(self.views, map(_odds, rows), strict=True))), self._lose(
            dict(zip(self.views, ({action: 1.0} for action in best.tolist()), strict=True))
        )

    def _lose(self, table: Mapping[View, Mapping[Action, float]]) -> float:
        return self.exact.exploitability(table.__getitem__)

    def plan(self, seat: Seat, shares: Floats) -> Floats:
        """Return the realisation plan: the product of the seat's own probabilities."""
        plan = np.append(shares, 0.0)
        for parents, rows in self.levels[seat]:
            plan[rows] *= plan[parents][:, None]
            plan[-1] = 0.0
        return plan[:-1]

    def behave(self, seat: Seat, plan: Floats) -> Floats:
        """Return the probabilities at each decision of a plan, equal ones where it never comes."""
        shares = np.append(np.maximum(plan, 0.0), 0.0)
        shares[0] = 1.0
        for _, rows in self.levels[seat]:
            share_out(shares, rows, self.sizes[seat])
        return shares[:-1]

    def gains(self, seat: Seat, other: Floats) -> Floats:
        """Return what a seat's sequences win, times all other probabilities, against a plan."""
        gains = self.payoffs[0] @ other if seat == 0 else -(self.payoffs[1] @ other)
        return np.asarray(gains)

    def back_up(self, seat: Seat, gains: Floats, value: Callable[[Any, Any], Any]) -> Floats:
        """Return the worth of each sequence; `value` tells that of decisions of one depth.

        It is called with the worths of their actions, a row each, and the numbers of these; a place
        without an action is worth -inf.
        """
        worth = np.append(gains, -np.inf)
        for parents, rows in reversed(self.levels[seat]):
            worth[:-1] += np.bincount(parents, value(worth[rows], rows), self.sizes[seat])
        return worth[:-1]

    def respond(self, seat: Seat, other: Floats, rng: np.random.Generator | None = None) -> Floats:
        """Return the pure plan that wins most against a plan; `rng` decides between equals."""
        best = np.zeros(self.sizes[seat] + 1)
        best[0] = 1.0

        def value(worth: Any, rows: Any) -> Any:
            luck = 1e-9 * rng.random(rows.shape) if rng else 0.0
            places = (worth + luck).round(12).argmax(axis=1)
            chosen = np.arange(len(rows)), places
            best[rows[chosen]] = 1.0
            return worth[chosen]

        self.back_up(seat, self.gains(seat, other), value)
        return self.plan(seat, best[:-1])

    def _key(self, seen: View) -> int:
        """Return the number of a view: its first hand, the opening row and all actions."""
        own = [a for ply, a in enumerate(seen.history) if self.rules.seat_at(ply) == seen.seat]
        held = np.array(counts(seen.hand)) + np.bincount(own, minlength=ACTIONS)[: len(KINDS)]
        key = int(self._number(held[:, None], np.array([[*seen.opening]]))[0])
        for action in seen.history:
            key = key * (ACTIONS + 1) + action + 1
        assert key < 1 << 63
        return key

    def _number(self, held: Any, opening: Any) -> Any:
        """Return a number for each hand (kind, game) and opening row (game, place)."""
        key = np.zeros(held.shape[1], np.int64)
        for count in held[np.array(self.rules.copies) > 0]:
            key = key * self._base + count
        for place in opening.T:
            key = key * len(KINDS) + place
        return key

    def play(
        self, count: int, rng: np.random.Generator, choose: Callable[[Any, Any, Lockstep], Any]
    ) -> Any:
        """Play games by `choose(decisions, seats, games)`; return the results for seat 0: 1 to -1.

        `decisions` are places in `views`; the function returns an action for each game.
        """
        games = Lockstep(count, self.rules)
        deals = random_deals(count, rng, self.rules)
        games.begin(np.arange(count), deals)
        first = 2 * self.rules.hand_size
        opening = deals[:, first : first + self.rules.opening_row].astype(np.int64)
        keys = np.array([self._number(games.hands[seat], opening) for seat in (0, 1)])
        for _ in range(self.rules.game_plies):
            seats = games.to_act.copy()
            places = np.searchsorted(self._keys, keys[seats, np.arange(count)])
            actions = choose(self._order[places], seats, games)
            games.step(actions)
            keys = keys * (ACTIONS + 1) + actions + 1
        return 2 * games.results() - 1


def share_out(shares: Floats, rows: Any, size: int) -> None:
    """Scale the numbers of each row to a sum of 1, in place; where all are 0, equally."""
    parts = shares[rows]
    sums = parts.sum(axis=1, keepdims=True)
    legal = rows < size
    equal = legal / legal.sum(axis=1, keepdims=True)
    shares[rows] = np.where(sums > 0, parts / np.where(sums > 0, sums, 1), equal)
    shares[size] = 0.0


def _odds(row: Any) -> dict[Action, float]:
    return dict(enumerate(row.tolist()))
