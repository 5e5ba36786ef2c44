"""Show: a game record as text for a person, ply by ply."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby

from arena.errors import counted
from arena.records.naming import Naming
from engine import CITY, KINDS, TAKE, VALUES, Kind, Record, State, breakdown, outcome, points
from engine.notation import parse_actions, parse_deal

_WIDTH = 80
PLAYERS = ("seat 0", "seat 1")
"""What the players are called where their names are not known."""

WORDS: dict[str, tuple[str, str, str, str]] = {
    "english": ("Support", "Alliance", "Betrayal", "City"),
    "german": ("Bande", "Bündnis", "Verrat", "Gebäude"),
}
"""What support, alliance, betrayal and city are called."""

_SUITS = {
    0: ("♣", range(3, 8)),
    1: ("♥", range(3, 9)),
    2: ("♠", range(3, 10)),
    3: ("♦", range(3, 11)),
}
_COURT = ("J♣ J♥ J♠ J♦", "Q♥ Q♦", "Jk", "A♣ A♥ A♠", "2♣ 2♥ 2♠ 2♦", "Q♣ Q♠", "K♠ K♥ K♦")


def card_names(naming: str, kind: Kind) -> list[str]:
    """Return the names of the cards of a kind: one if all are alike, else the first dealt first.

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


class Card:
    """One card: its kind and its name."""

    __slots__ = ("kind", "name")

    def __init__(self, kind: Kind, name: str) -> None:
        self.kind = kind
        self.name = name


class Layout:
    """A State with a name for every card, as the cards lie on a table, and for both players."""

    def __init__(
        self, deal: bytes, state: State, naming: str, players: Sequence[str] = PLAYERS
    ) -> None:
        rest = {kind: iter(card_names(naming, kind)) for kind in KINDS}
        last: dict[Kind, str] = {}
        cards = []
        for kind in deal:  # cards past the end of a naming share its last name
            last[kind] = next(rest[kind], last.get(kind, ""))
            cards.append(Card(kind, last[kind]))
        size, opening = state.rules.hand_size, state.rules.opening_row
        self.state = state
        self.players = players
        self.row = cards[2 * size : 2 * size + opening]
        self.deck = cards[: 2 * size] + cards[2 * size + opening :]
        self.piles: tuple[list[Card], list[Card]] = ([], [])
        self.deal()

    def deal(self) -> None:
        """Give both seats their next hand."""
        size = self.state.rules.hand_size
        self.hands = self.deck[:size], self.deck[size : 2 * size]
        self.deck = self.deck[2 * size :]

    def apply(self, action: int) -> str:
        """Carry out an action, and return a sentence about it; raises IllegalAction."""
        state = self.state
        seat, number = state.to_act, state.round
        state.apply(state.checked(action))
        if action == TAKE:
            start = max(0, len(self.row) - state.rules.take_size)
            taken, self.row = self.row[start:], self.row[:start]
            self.piles[seat].extend(taken)
            text = (
                f"{self.players[seat]} takes {len(taken)}: {', '.join(card.name for card in taken)}"
            )
        else:
            card = next(card for card in self.hands[seat] if card.kind == action)
            self.hands[seat].remove(card)
            self.row.append(card)
            text = f"{self.players[seat]} plays {card.name}"
        if state.round != number:
            self.deal()
        return text

    def lines(self) -> Iterator[str]:
        """Yield the row, hands, piles and score as they are."""
        yield from _format_items("row", [card.name for card in self.row])
        for seat in (0, 1):
            yield from _format_items(f"hand {seat}", group(self.hands[seat]))
        for seat in (0, 1):
            yield from _format_items(f"pile {seat}", group(self.piles[seat]))
        score = points(self.state.piles, self.state.rules)
        yield from _format_items("score", [f"{score[0]} : {score[1]}"])


def group(cards: Sequence[Card]) -> list[str]:
    """Return names in kind order, cards of one name together: "2x City"."""
    texts = []
    for name, same in groupby(card.name for card in sorted(cards, key=lambda card: card.kind)):
        copies = len(list(same))
        texts.append(f"{copies}x {name}" if copies > 1 else name)
    return texts


def _format_items(head: str, items: Sequence[str]) -> list[str]:
    text = f"  {head:<7} {', '.join(items) or '-'}"
    return textwrap.wrap(text, _WIDTH, subsequent_indent=" " * 10)


def format_game(record: Record, naming: Naming, players: Sequence[str] = PLAYERS) -> Iterator[str]:
    """Yield the lines of a game; `players` are the names of seat 0 and of seat 1.

    Raises EngineError for a bad record, after the lines of the plies before the mistake.
    """
    deal = parse_deal(record.deal, record.rules)
    actions = parse_actions(record.actions)
    state = State(deal, record.rules)
    layout = Layout(deal, state, naming, players)
    if players != PLAYERS:
        for seat, player in enumerate(players):
            yield from textwrap.wrap(f"seat {seat}: {player}", _WIDTH, subsequent_indent="  ")
    yield "the deal"
    yield from layout.lines()
    number = 0
    for ply, action in enumerate(actions):
        if not state.over and state.round != number:
            number = state.round
            yield f"round {number}, {players[state.to_act]} begins"
        yield from textwrap.wrap(
            f"ply {ply}: {layout.apply(action)}", _WIDTH, subsequent_indent="  "
        )
        yield from layout.lines()
    yield from _ending(state, players)


def _ending(state: State, players: Sequence[str]) -> Iterator[str]:
    winner, win_type, score = outcome(state.piles, state.rules)
    if not state.over:
        plies = len(state.history)
        yield f"unfinished after {counted(plies, 'ply', 'plies')}"
    elif winner is None:
        yield f"a draw, {score[0]} : {score[1]}"
    else:
        yield f"{players[winner]} wins by {win_type}, {score[0]} : {score[1]}"
    for seat, part in enumerate(breakdown(state.piles, state.rules)):
        majorities = " + ".join(str(value) for value in part.majorities if value) or "0"
        yield (
            f"  seat {seat}  majorities {majorities}, sets {part.sets}, "
            f"alliances {part.alliances}, betrayals {part.betrayals}"
        )
