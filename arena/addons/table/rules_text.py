"""Explain the rules in short, for the help of the terminal and the page beside the board."""

from __future__ import annotations

from typing import Any, NamedTuple

from arena.errors import counted
from engine import KINDS, STANDARD, SUPPORTS, VALUES, Kind, Rules, to_text
from engine.cards import CHARS


class Part(NamedTuple):
    """A paragraph about one topic; `cards` are the cards that it explains."""

    title: str
    text: str
    cards: str = ""


def explain(rules: Rules = STANDARD) -> list[Part]:
    """Return a short text of the rules, with the numbers of this variant.

    >>> [part.title for part in explain()]
    ['The aim', 'A round', 'A take', 'Cities', 'Points', 'Equal points', 'Out of the game']
    """
    rounds = "the one round" if rules.rounds == 1 else f"each of the {rules.rounds} rounds"
    values = ", ".join(map(str, rules.majority_values))
    return [
        Part(
            "The aim",
            "Both players collect cards from one row, each into a pile of their own. The row and "
            "both piles lie open, and nobody sees the other's hand.",
        ),
        Part(
            "A round",
            f"In {rounds} the players act in turn: each plays {counted(rules.hand_size, 'card')} "
            "to the end of the row and takes once, at any time, at the latest with an empty hand; "
            "the player who did not begin this round begins the next.",
        ),
        Part(
            "A take",
            f"A take brings the last {rules.take_size} cards of the row, or all if there are "
            "fewer, into one's pile; the rest stays.",
        ),
        Part(
            "Cities",
            f"The player who holds {counted(rules.cities_needed, 'city', 'cities')} wins at once.",
            "C" * min(rules.cities_needed, rules.copies[CHARS.index("C")]),
        ),
        Part(
            "Points",
            f"Otherwise the points after the last round decide: {values} points for more cards of "
            f"the supports 5, 6, 7, 8 than the other; {rules.set_bonus} for every set of the four; "
            "alliances add their value, betrayals subtract it; cities score nothing.",
            to_text(bytes(SUPPORTS)),
        ),
        Part(
            "Equal points",
            "With equal points more 8s win, then 7s, 6s, 5s"
            f"{', cities' if rules.tiebreak == 'cities' else ''}.",
        ),
        Part(
            "Out of the game",
            f"{counted(rules.removed, 'card')} {'is' if rules.removed == 1 else 'are'} out of the "
            "game, and nobody knows which.",
        ),
    ]


def list_cards(rules: Rules = STANDARD) -> list[dict[str, Any]]:
    """Return each kind as data: its character, its number of cards, and their worth.

    >>> [card["worth"] for card in list_cards() if card["char"] in "84C"]
    ['8 points for having more of them than the other', '+4 points each', '3 of them win at once']
    """
    return [
        {"char": CHARS[kind], "copies": rules.copies[kind], "worth": _worth(kind, rules)}
        for kind in KINDS
        if rules.copies[kind]
    ]


def _worth(kind: Kind, rules: Rules) -> str:
    if kind in SUPPORTS:
        points = counted(rules.majority_values[SUPPORTS.index(kind)], "point")
        return f"{points} for having more of them than the other"
    if VALUES[kind]:
        points = "point" if abs(VALUES[kind]) == 1 else "points"
        return f"{VALUES[kind]:+} {points} each".replace("-", "\N{MINUS SIGN}")
    return f"{rules.cities_needed} of them win at once"
