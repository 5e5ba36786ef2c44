"""Board: a game on the terminal as one player sees it, worked out from the View alone."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from arena.records.show import WORDS, Card, grouped, names
from engine import CITY, KINDS, SUPPORTS, TAKE, Action, Kind, Pack, View, breakdown, count
from engine.cards import CHARS, VALUES, cards_of
from engine.state import played

WIDTH = 80
_COLUMN = 12
_LONGEST_LABEL = 11
_ELLIPSIS = "..."
_INDENTED: Any = {"initial_indent": "  ", "subsequent_indent": " " * 6}
_MOST_EVENTS = 6  # lines, so that the board fits 24 rows

Role: TypeAlias = Literal["plain", "head", "take", "wrong"]


class Line(NamedTuple):
    """A line of at most 80 characters, and what it is for."""

    text: str
    role: Role = "plain"


class Board:
    """What a seat sees, with every card named and every action told.

    In the standard deck, cards get their names in the order in which the seat sees them, so
    that nothing of the deal is in a name. `said` has a text for each ply, `row` and `hand`
    the cards.
    """

    def __init__(self, seen: View, naming: str, opponent: str) -> None:
        self.seen = seen
        self.naming = naming
        self.opponent = short(opponent)
        self._unused = {kind: iter(names(naming, kind)) for kind in KINDS}
        self._last: dict[Kind, str] = {}
        self.row = self.named(seen.opening)
        self.hand: list[Card] = []
        self.said: list[str] = []
        self._replay()

    def named(self, kinds: Iterable[Kind]) -> list[Card]:
        """Return cards that have not been seen before, each with a name."""
        cards = []
        for kind in kinds:  # cards past the end of a naming share its last name
            self._last[kind] = next(self._unused[kind], self._last.get(kind, ""))
            cards.append(Card(kind, self._last[kind]))
        return cards

    def _replay(self) -> None:
        seen, plies = self.seen, self.seen.rules.round_plies
        for ply, action in enumerate(seen.history):
            number = ply // plies
            if ply % plies == 0:
                self._deal(number)
            self.said.append(self._carried_out(ply + number & 1 == seen.seat, action))
        if not seen.over and len(seen.history) % plies == 0:
            self._deal(seen.round - 1)

    def _deal(self, number: int) -> None:
        """Name the hand of a round, counted from 0: what was played of it and what is left."""
        seen = self.seen
        kinds = played(seen.history, number, seen.seat, seen.rules)
        if number == seen.round - 1:
            kinds += cards_of(seen.hand)
        self.hand = self.named(sorted(kinds))

    def _carried_out(self, mine: bool, action: Action) -> str:
        who, plays, takes = ("you", "play", "take") if mine else (self.opponent, "plays", "takes")
        if action == TAKE:
            start = self._take_start()
            taken, self.row = self.row[start:], self.row[:start]
            return f"{who} {takes} {len(taken)}: {_together(taken)}"
        if mine:
            card = next(card for card in self.hand if card.kind == action)
            self.hand.remove(card)
        else:
            (card,) = self.named([action])
        self.row.append(card)
        return f"{who} {plays} {card.name}"

    def _take_start(self) -> int:
        return max(0, len(self.row) - self.seen.rules.take_size)

    def lines(self, since: int = 0) -> list[Line]:
        """Return the whole board, beginning with what happened from a ply on."""
        return [
            self._head(),
            *self.events(since)[-_MOST_EVENTS:],
            *self._row(),
            Line(""),
            *self.score(),
            Line(""),
            *listed("your hand", self._keyed()),
        ]

    def _head(self) -> Line:
        seen = self.seen
        mine, theirs = seen.taken[seen.seat], seen.taken[seen.opponent]
        taken = {
            (False, False): "nobody has taken",
            (True, False): f"you have taken, {self.opponent} has not",
            (False, True): f"{self.opponent} has taken, you have not",
            (True, True): "both have taken",
        }[mine, theirs]
        cards = "1 card" if seen.opponent_cards == 1 else f"{seen.opponent_cards} cards"
        number = f"Round {seen.round} of {seen.rules.rounds}"
        return Line(f"{number}: {taken}; {self.opponent} holds {cards}", "head")

    def events(self, since: int) -> list[Line]:
        """Return what happened from a ply on, a line or two for each."""
        plies = self.seen.rules.round_plies
        found = []
        for ply, said in enumerate(self.said[since:], since):
            if ply and ply % plies == 0:
                found.append(Line(f"  round {ply // plies + 1} begins"))
            found += [Line(text) for text in textwrap.wrap(said, WIDTH, **_INDENTED)]
        return found

    def history(self) -> list[Line]:
        """Return all actions so far, round by round."""
        plies = self.seen.rules.round_plies
        found: list[Line] = []
        for start in range(0, len(self.said), plies):
            told = "; ".join(self.said[start : start + plies])
            found += listed(f"round {start // plies + 1}", [told])
        return found or [Line("Nothing has happened yet.")]

    def _row(self) -> list[Line]:
        start = self._take_start()
        older, taken = self.row[:start], self.row[start:]
        if not taken:
            return listed("row", [])
        lines = listed("row", [card.name for card in older]) if older else []
        return lines + listed("take brings", [card.name for card in taken], "take")

    def _keyed(self) -> list[str]:
        """Return the hand by kinds, each with the sign that plays it."""
        kinds = sorted({card.kind for card in self.hand})
        cards = {kind: [card for card in self.hand if card.kind == kind] for kind in kinds}
        return [
            f"[{CHARS[kind]}] {' '.join(grouped(cards[kind]))}{worth(self.naming, kind)}"
            for kind in kinds
        ]

    def score(self) -> list[Line]:
        """Return both piles and what they score, as two tables."""
        seen = self.seen
        support, alliance, betrayal, city = WORDS.get(self.naming, WORDS["english"])
        who = (("you", seen.seat), (self.opponent, seen.opponent))
        heads = [_support_sign(self.naming, kind) for kind in SUPPORTS]
        found = [_cells("pile", heads, f"{alliance:<14} {betrayal:<15} {city}", support)]
        for name, seat in who:
            pile = seen.piles[seat]
            counts = [str(count(pile, kind) or "-") for kind in SUPPORTS]
            deals = f"{_values(pile, 1):<14} {_values(pile, -1):<15}"
            found.append(_cells(name, counts, f"{deals} {self._cities(pile)}"))
        parts = breakdown(seen.piles, seen.rules)
        found.append(f"{'score':<{_COLUMN}}{'majorities':<18}  sets  alliances  betrayals   total")
        for name, seat in who:
            part = parts[seat]
            most = " + ".join(str(value) for value in part.majorities if value) or "0"
            found.append(
                f"{name:<{_COLUMN}}{most:<18}{part.sets:>6}{part.alliances:>11}"
                f"{part.betrayals:>11}{part.points:>8}"
            )
        return [Line(text) for text in found]

    def _cities(self, pile: Pack) -> str:
        return f"{count(pile, CITY)} of {self.seen.rules.cities_needed}"


def short(label: str) -> str:
    """Return a label that fits its column.

    >>> short("ismcts(iterations=400)")
    'ismcts(i...'
    """
    if len(label) <= _LONGEST_LABEL:
        return label
    return label[: _LONGEST_LABEL - len(_ELLIPSIS)] + _ELLIPSIS


def worth(naming: str, kind: Kind) -> str:
    """Return the value of a card in brackets where its name does not tell it.

    >>> worth("deck", 6), worth("english", 6)
    (' (+4)', '')
    """
    return f" ({VALUES[kind]:+})" if naming == "deck" and VALUES[kind] else ""


def listed(head: str, items: Sequence[str], role: Role = "plain") -> list[Line]:
    """Return items in one line or more, none of them broken unless it is as long as a line."""
    texts = [item.replace(" ", "\xa0") if len(item) < WIDTH - _COLUMN else item for item in items]
    wrapped = textwrap.wrap(
        ", ".join(texts) or "-",
        WIDTH,
        initial_indent=f"{head:<{_COLUMN}}",
        subsequent_indent=" " * _COLUMN,
    )
    return [Line(text.replace("\xa0", " "), role) for text in wrapped]


def _together(cards: Sequence[Card]) -> str:
    return ", ".join(card.name for card in cards)


def _support_sign(naming: str, kind: Kind) -> str:
    """Return what a column of supports is called: a value, or a suit."""
    return names(naming, kind)[0][-1]


def _cells(head: str, counts: Sequence[str], rest: str, above: str = "") -> str:
    cells = "".join(f"{text:>3}" for text in counts)
    return f"{head:<{_COLUMN}}{above:<8}{cells}   {rest}".rstrip()


def _values(pile: Pack, sign: int) -> str:
    """Return the alliances (sign 1) or betrayals (sign -1) of a pile: "2x+2 +3"."""
    found = []
    for kind in KINDS:
        copies = count(pile, kind)
        if copies and VALUES[kind] * sign > 0:
            found.append(f"{copies}x{VALUES[kind]:+}" if copies > 1 else f"{VALUES[kind]:+}")
    return " ".join(found) or "-"
