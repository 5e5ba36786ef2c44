"""Plays the last round exactly; another bot plays before it.

For every hand the opponent may hold, an action is worth the result of best play by both
seats with all cards open. The bot plays the action with the best average over these hands. Source:
Ginsberg, "GIB: Imperfect Information in a Computationally Challenging Game", 2001, here
with all worlds; alpha-beta with bounds as in Knuth, Moore, "An Analysis of Alpha-Beta
Pruning", 1975.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from math import comb
from typing import Literal, NamedTuple, TypeAlias

from engine import (
    STANDARD,
    TAKE,
    Action,
    Pack,
    Rules,
    Setup,
    Strategy,
    Thinker,
    Thought,
    View,
    outcome,
)
from engine.cards import BYTE, UNIT, pack_of, size
from engine.scoring import Piles
from engine.state import Legal, plays
from engine.worlds import hands

Inside: TypeAlias = Literal[
    "champion",
    "city_hunter",
    "denier",
    "flat_mc",
    "greedy",
    "ismcts",
    "majority",
    "pimc",
    "timing",
    "uniform",
]

WIN, DRAW, LOSS = 1, 0, -1


class TooLong(Exception):
    """Raised when the solver has examined its number of positions."""


class Position(NamedTuple):
    """A last round with all cards open; the first of each pair belongs to the player to act."""

    hands: tuple[Pack, Pack]
    row: bytes
    piles: Piles
    may_take: tuple[bool, bool]

    def play(self, kind: int, most: int) -> Position:
        """Return the position after playing a card; `most` is how many a take may bring."""
        (mine, theirs), row, piles, (may, might) = self
        row += BYTE[kind]
        if not (may and might):
            row = row[-most:]
        return _new(Position, ((theirs, mine - UNIT[kind]), row, piles[::-1], (might, may)))

    def take(self, most: int) -> Position:
        """Return the position after a take of `most` cards at most."""
        hands, row, (mine, theirs), may_take = self
        piles = (theirs, mine + pack_of(row[-most:]))
        return _new(Position, (hands[::-1], row[:-most][-most:], piles, (may_take[1], False)))


class Solver:
    """Finds the value of positions for the player to act: WIN, DRAW or LOSS.

    Examines at most `positions` positions; raises TooLong after that.
    """

    def __init__(self, rules: Rules, positions: int) -> None:
        self.rules = rules
        self.left = positions
        self.bounds: dict[Position, tuple[int, int]] = {}
        self.ends: dict[Piles, int] = {}

    def value(self, position: Position, low: int = LOSS, high: int = WIN) -> int:
        """Return the value, or a bound on it if it is outside of `low` to `high`."""
        least, most = self.bounds.get(position, (LOSS, WIN))
        if least >= high or least == most:
            return least
        if most <= low:
            return most
        self.left -= 1
        if self.left < 0:
            raise TooLong
        best = self.best(position, max(low, least), min(high, most))
        if best < high:
            most = min(most, best)
        if best > low:
            least = max(least, best)
        self.bounds[position] = (least, most)
        return best

    def best(self, position: Position, low: int, high: int) -> int:
        """Return the value of the best action, the take first."""
        best, most = LOSS, self.rules.take_size
        if position.may_take[0] and position.row:
            best = self.after_take(position, low, high)
        for kind in plays[position.hands[0]]:
            if best >= high:
                break
            best = max(best, -self.value(position.play(kind, most), -high, -max(low, best)))
        return best

    def after_take(self, position: Position, low: int = LOSS, high: int = WIN) -> int:
        """Return the value of a take."""
        after = position.take(self.rules.take_size)
        if after.piles[1] >= self.rules.city_pack or not after.may_take[0]:
            return -self.end(after.piles)
        return -self.value(after, -high, -low)

    def end(self, piles: Piles) -> int:
        """Return the value of two piles at the end, for the first one's owner."""
        known = self.ends.get(piles)
        if known is None:
            winner = outcome(piles, self.rules).winner
            known = self.ends[piles] = DRAW if winner is None else WIN if winner == 0 else LOSS
        return known


class Exact:
    """Finds the best actions of a last round with at most `unseen` unseen cards.

    `positions` bounds the work of a decision, so that it ends under rules with long rounds too.
    `values` are those of the actions of the last view, from 0 to 1; they are empty if it was not
    solved.
    """

    def __init__(self, rules: Rules, unseen: int = 8, positions: int = 20_000) -> None:
        self.rules = rules
        self.unseen = unseen
        self.positions = positions
        self.values: dict[Action, float] = {}

    def best(self, view: View) -> Legal:
        """Return the actions that are best on average; all legal ones if the view is not solved."""
        self.values = {}
        if len(view.legal) == 1 or view.taken == (True, True):
            return view.legal
        if view.round < self.rules.rounds or size(view.unseen) > self.unseen:
            return view.legal
        try:
            worth = self.worth(view)
        except TooLong:
            return view.legal
        top, most = max(worth.values()), 2 * comb(size(view.unseen), view.opponent_cards)
        self.values = {action: 0.5 + each / most for action, each in worth.items()}
        return tuple([action for action in view.legal if worth[action] == top])

    def worth(self, view: View) -> dict[Action, int]:
        """Return the sum of each action's values over all deals of the opponent's hand."""
        solver = Solver(self.rules, self.positions)
        worth = dict.fromkeys(view.legal, 0)
        piles = view.piles if view.seat == 0 else view.piles[::-1]
        may_take = (not view.taken[view.seat], not view.taken[view.opponent])
        for theirs, ways in hands(view):
            position = Position((view.hand, theirs), view.row, piles, may_take)
            solver.bounds.clear()
            for action in view.legal:
                if action == TAKE:
                    worth[action] += ways * solver.after_take(position)
                else:
                    after = position.play(action, self.rules.take_size)
                    worth[action] -= ways * solver.value(after)
        return worth

    def thoughts(self) -> list[Thought]:
        """Return the values of the last view as thoughts (`engine.Thinker`)."""
        return [Thought(action, value) for action, value in self.values.items()]


class OpenHand(Exact):
    """Finds the same values of any last round under the published rules, with numpy, in some ms.

    Under other rules it is `Exact`, and with no `positions` it solves nothing.
    """

    def best(self, view: View) -> Legal:
        """Return the actions that are best on average, as `Exact` does."""
        is_settled = len(view.legal) == 1 or view.taken == (True, True)
        is_late = view.round == self.rules.rounds and not is_settled
        if not (is_late and self.positions and self.rules == STANDARD):
            return super().best(view)
        from arena.batch.last_round import expect_choices

        self.values = expect_choices(view)
        top = max(self.values.values())
        return tuple([action for action in view.legal if self.values[action] == top])


class Endgame:
    """Wraps another bot of this folder: `inside` plays until the last round can be solved.

    That is with at most `unseen` unseen cards, if a decision takes at most `positions` positions.
    Of equally good actions it plays the one that the bot inside would play, or else the first.
    """

    def __init__(
        self, setup: Setup, inside: Inside = "timing", unseen: int = 8, positions: int = 20_000
    ) -> None:
        self.exact = Exact(setup.rules, unseen, positions)
        self.inside: Strategy = import_module(f"bots.{inside}").bot(setup)
        self.asked_inside = False

    def choose(self, view: View, /) -> Action:
        """Return the best action; of equally good ones, that of the bot inside."""
        best = self.exact.best(view)
        self.asked_inside = len(best) > 1
        if len(best) == 1:
            return best[0]
        wanted = self.inside.choose(view)
        return wanted if wanted in best else best[0]

    def thoughts(self) -> Iterable[Thought]:
        """Return the exact values of the last choice, or the thoughts of the bot inside."""
        if not self.exact.values and self.asked_inside and isinstance(self.inside, Thinker):
            return self.inside.thoughts()
        return self.exact.thoughts()


_new = tuple.__new__
bot = Endgame
