"""Follow the cards of a game, and format its positions for the terminal.

Every text, board and page that shows cards is made from this layout. The layout is made from views,
so that it cannot contain what a seat must not know.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Literal, NamedTuple, TypeAlias

from arena.errors import counted, cut, pad
from engine import (
    CITY,
    KINDS,
    SUPPORTS,
    TAKE,
    VALUES,
    Action,
    Kind,
    Pack,
    Seat,
    View,
    breakdown,
    cards_of,
    count,
)
from engine.cards import CHARS
from engine.scoring import Breakdown
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

    @classmethod
    def named(cls, naming: str, kind: Kind, number: int) -> Card:
        """Return a copy of a kind; copies beyond the last name of the kind share it."""
        names = card_names(naming, kind)
        return cls(kind, number, names[min(number, len(names) - 1)])


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
        """Return cards seen for the first time, which are not placed anywhere yet."""
        cards = []
        for kind in kinds:
            cards.append(Card.named(self.naming, kind, self._seen[kind]))
            self._seen[kind] += 1
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


WIDTH = 80
_COLUMN = 12
_LONGEST_LABEL = 11
_INDENTED: Any = {"initial_indent": "  ", "subsequent_indent": " " * 6}
_MOST_EVENTS = 6  # lines, so that the board fits 24 rows

Role: TypeAlias = Literal["plain", "head", "take", "wrong"]


class Line(NamedTuple):
    """A line of at most 80 characters, and its role."""

    text: str
    role: Role = "plain"


class Board:
    """The game as a seat sees it, with every card named and every action described.

    `layout` has the cards by place, `actions` a text for each ply.
    """

    def __init__(self, view: View, naming: str, opponent: str) -> None:
        self.view = view
        self.naming = naming
        self.opponent = opponent
        self.layout = Layout((view,), naming)
        self.row = self.layout.row
        self.hand = self.layout.hands[view.seat]
        self.actions = [
            move.describe("you", "") if move.seat == view.seat else move.describe(opponent)
            for move in self.layout.moves
        ]

    def _take_start(self) -> int:
        return max(0, len(self.row) - self.view.rules.take_size)

    def lines(self, since: int = 0) -> list[Line]:
        """Return the whole board, beginning with the actions from a ply on."""
        return [
            self._head(),
            *self.events(since)[-_MOST_EVENTS:],
            *self._row_lines(),
            Line(""),
            *self.score(),
            Line(""),
            *format_items("your hand", self._hand_items()),
        ]

    def _head(self) -> Line:
        view = self.view
        mine, theirs = view.taken[view.seat], view.taken[view.opponent]
        taken = {
            (False, False): "nobody has taken",
            (True, False): f"you have taken, {self.opponent} has not",
            (False, True): f"{self.opponent} has taken, you have not",
            (True, True): "both have taken",
        }[mine, theirs]
        cards = counted(view.opponent_cards, "card")
        number = f"Round {view.round} of {view.rules.rounds}"
        return Line(f"{number}: {taken}; {self.opponent} holds {cards}", "head")

    def events(self, since: int) -> list[Line]:
        """Return the actions from a ply on, a line or two for each."""
        plies = self.view.rules.round_plies
        lines = []
        for ply, text in enumerate(self.actions[since:], since):
            if ply and ply % plies == 0:
                lines.append(Line(f"  round {ply // plies + 1} begins"))
            lines += [Line(part) for part in textwrap.wrap(text, WIDTH, **_INDENTED)]
        return lines

    def _row_lines(self) -> list[Line]:
        start = self._take_start()
        older, taken = self.row[:start], self.row[start:]
        if not taken:
            return format_items("row", [])
        lines = format_items("row", [card.name for card in older]) if older else []
        return lines + format_items("take brings", [card.name for card in taken], "take")

    def _hand_items(self) -> list[str]:
        """Return the hand by kinds, each with the character that plays it."""
        kinds = sorted({card.kind for card in self.hand})
        cards = {kind: [card for card in self.hand if card.kind == kind] for kind in kinds}
        return [
            f"[{CHARS[kind]}] {' '.join(group(cards[kind]))}{value_note(self.naming, kind)}"
            for kind in kinds
        ]

    def score(self) -> list[Line]:
        """Return both piles and their points, one below the other."""
        view = self.view
        support, alliance, betrayal, city = WORDS.get(self.naming, WORDS["english"])
        players = (("you", view.seat), (self.opponent, view.opponent))
        heads = [_support_sign(self.naming, kind) for kind in SUPPORTS]
        texts = [_cells("pile", heads, f"{alliance:<14} {betrayal:<15} {city}", support)]
        for name, seat in players:
            pile = view.piles[seat]
            counts = [str(count(pile, kind) or "-") for kind in SUPPORTS]
            deals = f"{_deals(pile, 1):<14} {_deals(pile, -1):<15}"
            texts.append(_cells(name, counts, f"{deals} {self._cities(pile)}"))
        parts = breakdown(view.piles, view.rules)
        texts.append(f"{'score':<{_COLUMN}}{'majorities':<18}  sets  alliances  betrayals   total")
        for name, seat in players:
            part = parts[seat]
            texts.append(
                f"{pad(name, _COLUMN)}{add_majorities(part):<18}{part.sets:>6}{part.alliances:>11}"
                f"{part.betrayals:>11}{part.points:>8}"
            )
        return [Line(text) for text in texts]

    def _cities(self, pile: Pack) -> str:
        return f"{count(pile, CITY)} of {self.view.rules.cities_needed}"


def shorten(label: str) -> str:
    """Return a label cut to its column.

    >>> shorten("ismcts(iterations=400)")
    'ismcts(i...'
    """
    return cut(label, _LONGEST_LABEL)


def add_majorities(part: Breakdown) -> str:
    """Return the points of a pile's majorities as a sum: "5 + 7"."""
    return " + ".join(str(value) for value in part.majorities if value) or "0"


def value_note(naming: str, kind: Kind) -> str:
    """Return the value of a card in brackets, or "" if its name contains the value.

    >>> value_note("deck", 6), value_note("english", 6)
    (' (+4)', '')
    """
    return f" ({VALUES[kind]:+})" if naming == "deck" and VALUES[kind] else ""


def format_items(head: str, items: Iterable[str], role: Role = "plain") -> list[Line]:
    """Return items wrapped into lines; only an item longer than a line is broken."""
    texts = [item.replace(" ", "\xa0") if len(item) < WIDTH - _COLUMN else item for item in items]
    wrapped = textwrap.wrap(
        ", ".join(texts) or "-",
        WIDTH,
        initial_indent=pad(head, _COLUMN),
        subsequent_indent=" " * _COLUMN,
    )
    return [Line(text.replace("\xa0", " "), role) for text in wrapped]


def _support_sign(naming: str, kind: Kind) -> str:
    """Return the heading of a column of supports: a value, or a suit."""
    return card_names(naming, kind)[0][-1]


def _cells(head: str, counts: Sequence[str], rest: str, above: str = "") -> str:
    cells = "".join(f"{text:>3}" for text in counts)
    return f"{pad(head, _COLUMN)}{above:<8}{cells}   {rest}".rstrip()


def _deals(pile: Pack, sign: int) -> str:
    """Return the alliances (sign 1) or betrayals (sign -1) of a pile: "2x+2 +3"."""
    texts = []
    for kind in KINDS:
        copies = count(pile, kind)
        if copies and VALUES[kind] * sign > 0:
            texts.append(f"{copies}x{VALUES[kind]:+}" if copies > 1 else f"{VALUES[kind]:+}")
    return " ".join(texts) or "-"
