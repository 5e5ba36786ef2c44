"""Copies: which of its kind every card on the table is, so that each can have its own name.

In a standard deck every card has a name of its own. The copies of a kind are numbered in the
order in which they are first seen, so that a number tells nothing of the deal. Who sees both
hands numbers them as they are dealt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from engine import TAKE, Action, Kind, Seat, View, cards_of

_DIGITS = "0123456789abcdefghijklmnopqrstuv"

Cards = list[tuple[Kind, int]]


class Copies:
    """The cards on the table by place, each with its kind and its number."""

    def __init__(self, views: tuple[View, ...]) -> None:
        self._seen: Counter[Kind] = Counter()
        self._take_size = views[0].rules.take_size
        self.hands: dict[Seat, Cards] = {}
        self.piles: tuple[Cards, Cards] = ([], [])
        if len(views) == 1:
            self.row = self._number(views[0].opening)
            self.deal(views)
        else:
            self.deal(views)
            self.row = self._number(views[0].opening)

    def _number(self, kinds: Iterable[Kind]) -> Cards:
        """Return cards that have not been seen before."""
        cards = []
        for kind in kinds:
            cards.append((kind, self._seen[kind]))
            self._seen[kind] += 1
        return cards

    def deal(self, views: tuple[View, ...]) -> None:
        """Give every seat that is looked through the hand it sees."""
        for view in views:
            self.hands[view.seat] = self._number(cards_of(view.hand))

    def apply(self, seat: Seat, action: Action) -> Cards:
        """Carry out an action, and return the cards that moved."""
        if action == TAKE:
            start = max(0, len(self.row) - self._take_size)
            moved, self.row = self.row[start:], self.row[:start]
            self.piles[seat].extend(moved)
            return moved
        if seat in self.hands:
            card = next(card for card in self.hands[seat] if card[0] == action)
            self.hands[seat].remove(card)
        else:
            (card,) = self._number([action])
        self.row.append(card)
        return [card]

    def data(self) -> dict[str, Any]:
        """Return the numbers of all cards; hands and piles are in the order of the kinds."""
        hands = [self.hands.get(seat) for seat in (0, 1)]
        return {
            "row": to_digits(self.row),
            "hands": [None if hand is None else to_digits(sorted(hand)) for hand in hands],
            "piles": [to_digits(sorted(pile)) for pile in self.piles],
        }


def to_digits(cards: Cards) -> str:
    """Return the numbers of some cards, a character each.

    >>> to_digits([(3, 0), (3, 11)])
    '0b'
    """
    return "".join(_DIGITS[number] for _, number in cards)
