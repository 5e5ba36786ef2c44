"""How near open cards come to hidden hands in the last round, by exact solutions of small endings.

`python -m bench.last_round SEED ENDINGS LEFT` takes endings with this many plies left from games of
`apprentice` against itself. In an ending every deal of the cards that not both seats see is equally
likely. It is solved as a game with hidden hands, by linear programming. An action is worth what
best play after it wins against the optimal play of the other seat, which is the best also after
mistakes: it is optimal against a seat that plays every action with a probability of 1 % at least.
The loss of an action is the worth of the best one less its own, in points of 100.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from math import comb
from random import Random
from statistics import fmean, stdev
from typing import Any, Final, NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack, vstack

from arena.addons.rl.exact import Exact, Plan, _matrix
from arena.batch.last_round import expect_choices
from bots import apprentice
from engine import STANDARD, Action, Seat, State, View, pack_of, size
from engine.play import setup
from engine.state import random_deal
from engine.view import view
from engine.worlds import choices

ENDINGS: Final = 80
LEFT: Final = 6
_MISTAKES: Final = 0.01
_Z95: Final = 1.96


class Ending(Exact):
    """The rest of a game with hidden hands, as it is after what both seats have seen."""

    def __init__(self, state: State) -> None:
        self.rules = state.rules
        self.decisions = ([], [])
        self._most = 1 << 20
        self._sizes = [1, 1]
        self._numbers, self._ends, self._optimal = {}, {}, None
        hidden = self.rules.pack - sum(state.piles) - pack_of(state.row)
        for first, ways in choices(hidden, size(state.hands[0])):
            for second, more in choices(hidden - first, size(state.hands[1])):
                dealt = state.copy()
                dealt.hands = [first, second]
                self._walk(dealt, float(ways * more), (0, 0))
        ends = [(*last, worth) for last, worth in self._ends.items()]
        self.payoffs = _matrix(ends, (self._sizes[0], self._sizes[1]))

    def _walk(self, state: State, chance: float, last: tuple[int, int]) -> None:
        """Stop where both seats have taken, because the piles are final."""
        if all(state.taken) and not state.over:
            state = state.copy()
            state.over = True
        super()._walk(state, chance, last)

    def worths(self, seen: View) -> dict[Action, float]:
        """Return the chance to win after each first action against optimal play, from 0 to 1."""
        seat = seen.seat
        plan = self.respond_to_mistakes(1 - seat)
        worths = self.payoffs @ plan if seat == 0 else -(plan @ self.payoffs)
        for decision in reversed(self.decisions[seat]):
            after = worths[decision.sequences()]
            if decision.seen == seen:
                odds = self._deals(seen)
                return dict(zip(seen.legal, (0.5 + after / odds / 2).tolist(), strict=True))
            worths[decision.parent] += after.max()
        raise KeyError(seen)

    def respond_to_mistakes(self, seat: Seat) -> Plan:
        """Return the plan that is optimal for a seat if the other one plays no action too rarely.

        It is the linear program of `Exact`, in which the other seat's plan has a lower bound for
        each sequence: a share of the sequence before it.
        """
        payoffs = self.payoffs if seat == 0 else -self.payoffs.T
        own, theirs = self._constraints(seat), self._constraints(1 - seat)
        bounds = eye_array(theirs.shape[1], format="lil")
        bounds[0, 0] = 0.0  # the empty sequence is played
        for decision in self.decisions[1 - seat]:
            for number in decision.sequences():
                bounds[number, decision.parent] -= _MISTAKES
        plans, worths, rare = own.shape[1], theirs.shape[0], theirs.shape[1]
        goal = np.zeros(plans + worths + rare)
        goal[plans] = -1.0
        start = np.zeros(own.shape[0] + rare)
        start[0] = 1.0
        none = csr_array((own.shape[0], worths + rare))
        done: Any = linprog(
            goal,
            A_eq=vstack([hstack([own, none]), hstack([-payoffs.T, theirs.T, bounds.T])]),
            b_eq=start,
            bounds=[(0, None)] * plans + [(None, None)] * worths + [(0, None)] * rare,
        )
        assert done.success, done.message
        plan: Plan = done.x[:plans]
        return plan

    def _deals(self, seen: View) -> float:
        """Return the number of deals of both hands with the hand of this view."""
        ways = dict(choices(seen.unseen + seen.hand, size(seen.hand)))[seen.hand]
        return float(ways * comb(size(seen.unseen), seen.opponent_cards))


class Found(NamedTuple):
    """The losses at a decision, in points of 100.

    They are the exact ones of the open-hand choice and of `apprentice`, the latter's by open cards,
    and the mean distance of the two over all actions.
    """

    chosen: float
    played: float
    judged: float
    apart: float


def endings(seed: int, left: int) -> Iterator[State]:
    """Yield positions with a choice, one of a game, in which not both seats have taken."""
    rng = Random(seed)
    player = apprentice.bot(setup(seed, 0))
    while True:
        state = State(random_deal(rng), STANDARD)
        while not state.over and len(state.history) < STANDARD.game_plies - left:
            state.apply(player.choose(view(state, state.to_act)))
        if not state.over and not all(state.taken) and len(state.legal()) > 1:
            yield state


def measure(state: State) -> Found:
    """Return the losses at the first decision of an ending."""
    seen = view(state, state.to_act)
    exact = _find_losses(Ending(state).worths(seen))
    judged = _find_losses(expect_choices(seen))
    played = apprentice.bot(setup(0, seen.seat)).choose(seen)
    best = [exact[action] for action in seen.legal if not judged[action]]
    apart = [abs(exact[action] - judged[action]) for action in seen.legal]
    return Found(fmean(best), exact[played], judged[played], fmean(apart))


def _find_losses(worths: dict[Action, float]) -> dict[Action, float]:
    best = max(worths.values())
    return {action: 100 * (best - worth) for action, worth in worths.items()}


def write(name: str, losses: Sequence[float]) -> str:
    """Return a line with the mean and its 95 % interval."""
    error = _Z95 * stdev(losses) / len(losses) ** 0.5
    return f"{name:<44} {fmean(losses):6.2f} +- {error:.2f}"


def main(seed: int = 1, count: int = ENDINGS, left: int = LEFT) -> None:
    """Print the means over the endings."""
    found = [measure(state) for state in islice(endings(seed, left), count)]
    chosen, played, judged, apart = zip(*found, strict=True)
    print(f"{count} endings of {left} plies, seed {seed}; points of 100:")
    print(write("lost by open-hand play", chosen))
    print(write("lost by apprentice", played))
    print(write("the same, judged by open cards", judged))
    print(
        write("judged less exact", [one - other for one, other in zip(judged, played, strict=True)])
    )
    print(write("distance of both, mean of all actions", apart))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
