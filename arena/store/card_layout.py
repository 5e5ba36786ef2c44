"""Follow every card of a game from hand to row to pile, as one seat or both seats see it.

Every text, board and page that shows cards is made from this layout. The layout is made from views,
so that it cannot contain what a seat must not know.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from engine import CITY, TAKE, VALUES, Action, Kind, Seat, View, cards_of
from engine.state import played

WORDS: dict[str, tuple[str, str, str, str]] = {
    "english": ("Support", "Alliance", "Betrayal", "City"),
    "german": ("Bande", "Bündnis", "Verrat", "Gebäude"),
}
"""The names of support, alliance, betrayal and city."""

_SUITS = {
    0: ("♣", range(3, 8)),
    1: ("♥", range(3, 9)),
    2: ("♠", range(3, 10)),
    3: ("♦", range(3, 11)),
}
_COURT = ("J♣ J♥ J♠ J♦", "Q♥ Q♦", "Jk", "A♣ A♥ A♠", "2♣ 2♥ 2♠ 2♦", "Q♣ Q♠", "K♠ K♥ K♦")

Looks = tuple[View, ...]
"""A position as the view of one seat, or the views of both."""


def card_names(naming: str, kind: Kind) -> list[str]:
    """Return the names of the cards of a kind: a single one, or one for each copy.

    In the standard deck every card has a name of its own.

    >>> card_names("english", 7), card_names("deck", 7)
    (['Betrayal -1'], ['A♣', 'A♥', 'A♠'])
    """
    if naming == "deck":
        if kind in _SUITS:
            suit, ranks = _SUITS[kind]
            return [f"{rank}{suit}" for rank in ranks]
        return _COURT[kind - len(_SUITS)].split()
    support, alliance, betrayal, city = WORDS[naming]
    if kind == CITY:
        return [city]
    if not VALUES[kind]:
        return [f"{support} {kind + 5}"]
    return [f"{alliance if VALUES[kind] > 0 else betrayal} {VALUES[kind]:+}"]


class Card(NamedTuple):
    """One card: its kind, its number among the copies of the kind, and its name."""

    kind: Kind
    number: int
    name: str


class Move(NamedTuple):
    """The effect of an action: the cards that a seat played or took."""

    seat: Seat
    action: Action
    cards: list[Card]

    def describe(self, subject: str, ending: str = "s") -> str:
        """Return the move as a sentence; `ending` is that of its verb.

        >>> Move(0, 5, [Card(5, 0, "Alliance +3")]).describe("you", "")
        'you play Alliance +3'
        """
        names = ", ".join(card.name for card in self.cards)
        if self.action == TAKE:
            return f"{subject} take{ending} {len(self.cards)}: {names}"
        return f"{subject} play{ending} {names}"


class Layout:
    """The cards on a table by place: `row` (oldest first), `hands` by seat, `piles`.

    It has the hands of those seats whose views are given. The copies of a kind are numbered in the
    order in which they are first seen, so that neither a number nor a name reveals anything about
    the deal. With the views of both seats they are numbered as they are dealt. `moves` are the
    actions so far.

    >>> layout = Layout((View.from_text("0 5678 xy 5T"),))
    >>> [move.describe(f"seat {move.seat}") for move in layout.moves]
    ['seat 0 plays Support 5', 'seat 1 takes 3: Betrayal -1, Betrayal -2, Support 5']
    """

    def __init__(self, looks: Looks, naming: str = "english") -> None:
        self.naming = naming
        self.hands: dict[Seat, list[Card]] = {}
        self.piles: tuple[list[Card], list[Card]] = ([], [])
        self.moves: list[Move] = []
        self._seen: Counter[Kind] = Counter()
        if len(looks) > 1:
            self._deal(looks, 0)
        self.row = self.see(looks[0].opening)
        if len(looks) == 1:
            self._deal(looks, 0)
        self.follow(looks)

    def see(self, kinds: Iterable[Kind]) -> list[Card]:
        """Return cards seen for the first time; copies beyond the last name of a kind share it.

        They are not placed anywhere yet.
        """
        cards = []
        for kind in kinds:
            names, number = card_names(self.naming, kind), self._seen[kind]
            self._seen[kind] += 1
            cards.append(Card(kind, number, names[min(number, len(names) - 1)]))
        return cards

    def follow(self, looks: Looks) -> None:
        """Carry out the actions of a later position of the game that are not in `moves` yet."""
        rules, history = looks[0].rules, looks[0].history
        for ply in range(len(self.moves), len(history)):
            self.moves.append(self._move(rules.seat_at(ply), history[ply], rules.take_size))
            number, left = divmod(ply + 1, rules.round_plies)
            if not left and not (looks[0].over and ply + 1 == len(history)):
                self._deal(looks, number)

    def _deal(self, looks: Looks, number: int) -> None:
        """Add the hands of a round, counted from 0: the cards played from them and those left."""
        for look in looks:
            kinds = played(look.history, number, look.seat, look.rules)
            if number == look.round - 1:
                kinds += cards_of(look.hand)
            self.hands[look.seat] = self.see(sorted(kinds))

    def _move(self, seat: Seat, action: Action, take_size: int) -> Move:
        if action == TAKE:
            start = max(0, len(self.row) - take_size)
            moved, self.row = self.row[start:], self.row[:start]
            self.piles[seat].extend(moved)
            return Move(seat, action, moved)
        if seat in self.hands:
            card = next(card for card in self.hands[seat] if card.kind == action)
            self.hands[seat].remove(card)
        else:
            (card,) = self.see([action])
        self.row.append(card)
        return Move(seat, action, [card])


def group(cards: Sequence[Card]) -> Iterator[str]:
    """Yield the names of cards in the order of their kinds, equal names together: "2x City"."""
    for name, same in groupby(card.name for card in sorted(cards, key=lambda card: card.kind)):
        copies = len(list(same))
        yield f"{copies}x {name}" if copies > 1 else name
