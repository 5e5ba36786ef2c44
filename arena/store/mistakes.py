"""Say in words what was wrong with a decision, by rules about the position and a better action."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from arena.tournament.judged import Judged, is_sure
from engine import CITY, STANDARD, SUPPORTS, TAKE, VALUES, Action, State, View, count, pack_of
from engine.notation import parse_actions, parse_deal
from engine.scoring import net_deals
from engine.view import view

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
        one.action == TAKE and net_deals(pack_of(_newest(one.seen, one.seen.row))) < 0
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


DISPUTED: Final = "the judges disagree"
"""Stands for a mistake where the second judge is not sure that another action was better."""


def describe_decision(deal: str, actions: str, one: Judged) -> str:
    """Return what was wrong with a decision that the second judge has judged, or DISPUTED."""
    if one.best == one.action or not is_sure(one.loss, one.error):
        return DISPUTED
    state = State(parse_deal(deal, STANDARD), STANDARD)
    state.follow(parse_actions(actions[: one.ply]))
    return name_mistake(view(state, state.to_act), one.action, one.best)
