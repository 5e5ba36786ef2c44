"""Write the rules, and the position that a seat knows, in plain words, as for a language model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from engine.cards import CITY, VALUES, Action, Kind, Pack, counts, newest, to_text
from engine.rules import STANDARD, Rules, first_seat
from engine.scoring import Breakdown, breakdown
from engine.state import Legal, Seat

Known: TypeAlias = tuple[
    Seat, Legal, Pack, bytes, tuple[Pack, Pack], tuple[bool, bool], bytes, bytes, Rules
]
"""The fields of a View, in its order."""

NAMES: Final = (*"5678", *(f"{value:+}" for value in VALUES if value), "City", "take")
"""The names of the actions in these texts, by action; the first eleven are those of the kinds."""

MOST: Final = 2000
"""The most characters of a described view, whatever the position and the rules."""

_LEGEND = "Of these characters 2 3 4 are +2 +3 +4, x y z are -1 -2 -3, C is City, T is take."
_YES = ("no", "yes")


def describe(known: Known, number: int, to_act: Seat | None, held: int, unseen: Pack) -> str:
    """Return a position as sentences, in at most `MOST` characters.

    `number` is the round, `held` the number of the opponent's cards. Where names would take too
    long, as in a long game under other rules, the row and the actions are in the notation.
    """
    seat, legal, hand, row, piles, taken, history, opening, rules = known
    mine, theirs = breakdown(piles, rules)[:: -1 if seat else 1]
    head = [
        _tell_turn(seat, number, to_act, rules),
        *_tell_changes(rules),
        f"Your hand: {_tell_pack(hand)}.",
        f"The opponent's hand: {held} hidden cards.",
    ]
    middle = [
        f"Your pile: {_tell_pack(piles[seat])}. {_tell_points(mine)}",
        f"The opponent's pile: {_tell_pack(piles[1 - seat])}. {_tell_points(theirs)}",
        f"Taken in this round: you {_YES[taken[seat]]}, the opponent {_YES[taken[1 - seat]]}.",
        f"Unseen, held by the opponent, still to come or removed: {_tell_pack(unseen)}.",
    ]
    for of_row, *actions in (_spell(known), _shorten(row, opening, history)):
        text = "\n".join([*head, of_row, *middle, *actions, f"Legal actions: {_join(legal)}."])
        if len(text) <= MOST:
            break
    return text


def _tell_turn(seat: Seat, number: int, to_act: Seat | None, rules: Rules) -> str:
    turn = {None: "The game is over", seat: "It is your turn"}.get(to_act, "It is not your turn")
    began = _tell_first(number - 1, seat)
    return f"You are seat {seat}. Round {number} of {rules.rounds}, {began} first. {turn}."


def _tell_first(number: int, seat: Seat) -> str:
    """Return the player that begins a round, counted from 0."""
    return "you" if first_seat(number) == seat else "the opponent"


def _tell_changes(rules: Rules) -> list[str]:
    changes = rules.changes()
    return [f"Changed rules: {json.dumps(changes, separators=(',', ':'))}."] if changes else []


def _tell_pack(pack: Pack) -> str:
    """Return the cards of a pack, as in "2 of 5, 1 of City"."""
    return _tell_counts(counts(pack), range(CITY + 1))


def _tell_counts(copies: Sequence[int], kinds: Iterable[Kind]) -> str:
    return (
        ", ".join([f"{copies[kind]} of {NAMES[kind]}" for kind in kinds if copies[kind]]) or "none"
    )


def _tell_points(part: Breakdown) -> str:
    return (
        f"{part.points} points now: majorities {sum(part.majorities)}, sets {part.sets}, "
        f"alliances {part.alliances}, betrayals {part.betrayals}."
    )


def _join(actions: Iterable[Action]) -> str:
    return ", ".join([NAMES[action] for action in actions]) or "none"


def _spell(known: Known) -> list[str]:
    """Return the row, and the actions round by round, by their names."""
    seat, row, history, opening, rules = known[0], known[3], *known[6:]
    size = rules.round_plies
    return [
        f"The row, oldest first: {_join(row)}.\n"
        f"A take would bring: {_tell_pack(newest(row, rules.take_size))}.",
        f"The row at the beginning: {_join(opening)}.",
        *(
            f"Round {n // size + 1}, {_tell_first(n // size, seat)} first: "
            f"{_join(history[n : n + size])}."
            for n in range(0, len(history), size)
        ),
    ]


def _shorten(row: bytes, opening: bytes, history: bytes) -> list[str]:
    """Return the row and the actions, one character each.

    They have 682 characters at most, as a deck has 341 cards: a card is in the row, and in the
    first row or among the actions; a take removes a card from the row.
    """
    return [
        f"The row, oldest first: {to_text(row)}. {_LEGEND}",
        f"The row at the beginning: {to_text(opening)}.",
        f"The actions, in turn: {to_text(history)}.",
    ]


def rules_text(rules: Rules = STANDARD) -> str:
    """Return the rules on a page: a line for each number of the rule book, under these rules.

    >>> print(rules_text().splitlines()[2])
    R2. 3 cards leave the game unseen. 2 cards lie face up and are the first row.
    """
    return "\n".join([_TITLE, *(f"R{n}. {text}" for n, text in enumerate(_tell_rules(rules), 1))])


_TITLE = "District Noir, a card game for two players, seat 0 and seat 1."


def _tell_rules(rules: Rules) -> list[str]:
    """Return the text of each rule, R1 to R18."""
    return [*_tell_play(rules), *_tell_ending(rules)]


def _tell_play(rules: Rules) -> list[str]:
    copies, size = rules.copies, rules.hand_size
    kinds = {"Supports": range(4), "Alliances": range(4, 7), "Betrayals": range(7, 10)}
    parts = [f"{name}: {_tell_counts(copies, of)}." for name, of in kinds.items()]
    return [
        f"The deck has {len(rules.deck)} cards. {' '.join(parts)} Cities: {copies[CITY]} of City.",
        f"{rules.removed} cards leave the game unseen. "
        f"{rules.opening_row} cards lie face up and are the first row.",
        "Seat 0 begins the first round, seat 1 the second, and so on in turn.",
        "The players act in turn. An action is to play a card to the end of the row, or to take.",
        "Any card of the hand may be played.",
        f"A take puts the newest {rules.take_size} cards of the row, at its end, on your pile; a "
        "shorter row is taken whole. An empty row cannot be taken.",
        "Each player takes exactly once in each round.",
        "With an empty hand the player must take.",
        "Both piles lie open until the end of the game.",
        f"There are {rules.rounds} rounds, and in each of them both get {size} new cards. A round "
        f"ends after {size + 1} actions of each player. The row stays for the next round.",
    ]


def _tell_ending(rules: Rules) -> list[str]:
    values = zip(rules.majority_values, NAMES, strict=False)
    majorities = ", ".join([f"{value} for {name}" for value, name in values])
    last = "more cities win; if these are equal, too, it is a draw."
    return [
        f"A player with {rules.cities_needed} cities in the pile wins at once, also in the middle "
        "of a round.",
        f"Otherwise points decide. More cards of a support than the opponent's score {majorities}; "
        "equal counts score nothing.",
        f"Each complete set of the four supports 5, 6, 7 and 8 in a pile scores {rules.set_bonus}.",
        "Each alliance adds its value, and each betrayal subtracts it.",
        "Cities score nothing.",
        "The higher total wins.",
        "With equal totals more 8s win, then more 7s, then more 6s, then more 5s.",
        f"After that {last if rules.tiebreak == 'cities' else 'it is a draw.'}",
    ]


RULES_TEXT: Final = rules_text()
"""The rules as published, on a page."""
