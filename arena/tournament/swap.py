"""Play a game again with one taken card exchanged for one that was out of the game.

Until the take nothing changes: the bots get the same views and give the same answers. From then on
the taker's pile has the other card, and the history that the bots see shows it as dealt, played and
taken in place of the first one. The game with the swap is legal: it is a game on the deal with
these two cards exchanged. The cards still to be dealt stay the same.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from engine.cards import TAKE, Action, Kind
from engine.rules import Rules
from engine.state import Seat, State


class Taken(NamedTuple):
    """A card that a seat took at a ply: its kind, and its index in the deal.

    `played` is the ply at which it was played, None for a card of the opening row.
    """

    ply: int
    seat: Seat
    kind: Kind
    dealt: int
    played: int | None


class Swap(NamedTuple):
    """An exchange of a taken card of one `kind` for an `other` one, in the pile of this seat.

    `before` are the actions up to and including the take; `after` are the same ones in the game on
    `deal`, in which the two cards are exchanged.
    """

    seat: Seat
    kind: Kind
    other: Kind
    before: bytes
    deal: bytes
    after: bytes

    @property
    def changes_nothing(self) -> bool:
        """Whether both cards are of one kind: the game stays the same."""
        return self.kind == self.other


def find_taken(deal: bytes, actions: bytes, rules: Rules) -> list[Taken]:
    """Return the cards that were taken in a game, in the order in which they left the row.

    Raises IllegalAction or AfterEnd for invalid actions.

    >>> from engine.notation import parse_actions, parse_deal
    >>> deal = parse_deal("555556666667777777888888882222334xxxyyyyzzCCC")
    >>> for taken in find_taken(deal, parse_actions("56T"), Rules()):
    ...     print(taken)
    Taken(ply=2, seat=0, kind=1, dealt=10, played=None)
    Taken(ply=2, seat=0, kind=2, dealt=11, played=None)
    Taken(ply=2, seat=0, kind=0, dealt=0, played=0)
    Taken(ply=2, seat=0, kind=1, dealt=5, played=1)
    """
    state = State(deal, rules)
    start = 2 * rules.hand_size
    row: list[tuple[Kind, int, int | None]] = [
        (deal[place], place, None) for place in range(start, start + rules.opening_row)
    ]
    found: list[Taken] = []
    for ply, action in enumerate(actions):
        seat = state.to_act
        if action == TAKE:
            taken = row[-rules.take_size :]
            del row[-rules.take_size :]
            found += [Taken(ply, seat, *card) for card in taken]
        else:
            row.append((action, _place_in_deal(deal, rules, state.round, seat, action), ply))
        state.apply(state.checked(action))
    return found


def _place_in_deal(deal: bytes, rules: Rules, number: int, seat: Seat, kind: Kind) -> int:
    """Return the index in the deal of a card of this kind in a seat's hand of a round."""
    size = rules.hand_size
    start = seat * size
    if number > 1:
        start += 2 * size * (number - 1) + rules.opening_row
    return deal.index(kind, start, start + size)


def make_swap(deal: bytes, actions: bytes, taken: Taken, out: int) -> Swap:
    """Return the swap of a taken card with the one at the index `out` of the deal."""
    other = deal[out]
    swapped = bytearray(deal)
    swapped[taken.dealt], swapped[out] = other, taken.kind
    before = actions[: taken.ply + 1]
    after = bytearray(before)
    if taken.played is not None:
        after[taken.played] = other
    return Swap(taken.seat, taken.kind, other, before, bytes(swapped), bytes(after))


def draw_swaps(deal: bytes, actions: bytes, rules: Rules, rng: Random, most: int) -> list[Swap]:
    """Draw up to `most` swaps of different cards of a game.

    Taken cards are drawn uniformly, and so are the cards removed before the game (R2) that replace
    them. Nobody sees a removed card, so it could as well have been in any other place. The rules
    must remove some cards.
    """
    removed = range(len(deal) - rules.removed, len(deal))
    cards = [(rng.random(), taken) for taken in find_taken(deal, actions, rules)]
    return [
        make_swap(deal, actions, taken, removed[int(rng.random() * len(removed))])
        for _, taken in sorted(cards)[:most]
    ]


class SwappedState(State):
    """A game whose cards are exchanged after a given take.

    If an action up to the take differs from the recorded one, nothing is exchanged.
    """

    __slots__ = ("swap",)

    def __init__(self, deal: bytes, rules: Rules, swap: Swap) -> None:
        """Begin the game on its original deal."""
        super().__init__(deal, rules)
        self.swap = swap

    def apply(self, action: Action) -> None:
        """Carry out a legal action; after the take, exchange the cards."""
        super().apply(action)
        if self.history == self.swap.before:
            self._exchange()

    def follow(self, actions: bytes) -> None:
        """Apply the actions of a record of the game with the swap."""
        done = len(self.swap.after)
        if actions[:done] == self.swap.after:
            self._exchange()
            actions = actions[done:]
        super().follow(actions)

    def _exchange(self) -> None:
        """Take over the position of the game on the other deal."""
        other = State(self.swap.deal, self.rules)
        other.follow(self.swap.after)
        for name in State.__slots__:
            setattr(self, name, getattr(other, name))


def begin(deal: bytes, rules: Rules, swap: Swap | None = None) -> State:
    """Return a State at the beginning of a game; with `swap`, it will exchange the cards."""
    return SwappedState(deal, rules, swap) if swap else State(deal, rules)
