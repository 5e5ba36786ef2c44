"""Text for cards, actions and deals: one character each, `5 6 7 8 2 3 4 x y z C` and `T`."""

from __future__ import annotations

from engine.cards import CHARS, KINDS, TAKE
from engine.errors import DealError, NotationError
from engine.rules import STANDARD, Rules

_ACTIONS = {char: action for action, char in enumerate(CHARS)}
_CARDS = {char: kind for char, kind in _ACTIONS.items() if kind != TAKE}


def parse_cards(text: str) -> bytes:
    """Return the cards of a text, one kind a byte.

    Raises NotationError for a character that is not a card.

    >>> list(parse_cards("5C"))
    [0, 10]
    """
    return _parse(text, _CARDS, "a card")


def parse_actions(text: str) -> bytes:
    """Return the actions of a text, one a byte.

    Raises NotationError, with the ply, for a character that is not an action.

    >>> list(parse_actions("5CT"))
    [0, 10, 11]
    """
    return _parse(text, _ACTIONS, "an action")


def _parse(text: str, meanings: dict[str, int], noun: str) -> bytes:
    try:
        return bytes([meanings[char] for char in text])
    except KeyError as error:
        (char,) = error.args
        index = text.index(char)
        raise NotationError(
            f"{char!a} at index {index} is not {noun}: use {' '.join(meanings)}",
            index if meanings is _ACTIONS else None,
        ) from None


def parse_deal(text: str, rules: Rules = STANDARD) -> bytes:
    """Return the deal of a text: every card of the rules in the order they are dealt.

    Raises NotationError for an unknown character, DealError for the wrong cards.
    """
    deal = parse_cards(text)
    check_deal(deal, rules)
    return deal


def check_deal(deal: bytes, rules: Rules = STANDARD) -> None:
    """Raise DealError unless these are exactly the cards of the rules."""
    if len(deal) != len(rules.deck):
        raise DealError(f"the deal has {len(deal)} cards, not {len(rules.deck)}")
    for kind in KINDS:
        if deal.count(kind) != rules.copies[kind]:
            raise DealError(
                f"the deal has {deal.count(kind)} of card {CHARS[kind]}, not {rules.copies[kind]}"
            )
