"""Answer: what a person has typed, understood as an action or a command, or told kindly why not."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Literal, TypeAlias

from arena.lanes.faults import printable
from arena.records.show import NAMINGS, names
from engine import KINDS, TAKE, Action, Kind, View
from engine.cards import CHARS, VALUES

Command: TypeAlias = Literal["help", "board", "history", "quit"]

_COMMANDS: dict[str, Command] = {
    "?": "help",
    "help": "help",
    "board": "board",
    "history": "history",
    "quit": "quit",
    "q": "quit",
    "exit": "quit",
}
_LETTERS = {"♣": "c", "♥": "h", "♠": "s", "♦": "d"}
_MOST_SHOWN = 30


class Mistake(Exception):
    """What was typed cannot be done; the message says why, and what can."""


def understood(text: str, seen: View, naming: str) -> Action | Command:
    """Return the legal action or the command that a text means.

    Raises Mistake.

    >>> from engine.view import View
    >>> seen = View.from_text("0 5678C CC")
    >>> understood("Support 5", seen, "english"), understood("t", seen, "english")
    (0, 11)
    >>> understood("x", seen, "english")
    Traceback (most recent call last):
    ...
    arena.person.answer.Mistake: You have no Betrayal -1 in your hand. You can play 5, 6, 7, \
8 or C, or take with T.
    """
    words = unicodedata.normalize("NFC", text).replace("\u2212", "-").casefold().split()
    said = " ".join(words)
    if said in _COMMANDS:
        return _COMMANDS[said]
    if words[:1] == ["play"]:
        said = " ".join(words[1:])
    action = _meanings(naming).get(said)
    if action is None:
        raise Mistake(f"{_not_understood(said, words)} {choices(seen)}")
    if action not in seen.legal:
        raise Mistake(f"{_not_possible(action, seen, naming)} {choices(seen)}")
    return action


def choices(seen: View) -> str:
    """Return the sentence that says what can be done now."""
    signs = [CHARS[action] for action in seen.legal if action != TAKE]
    listed = " or ".join(filter(None, (", ".join(signs[:-1]), *signs[-1:])))
    if not signs:
        return "You can take with T."
    return f"You can play {listed}{', or take with T' if TAKE in seen.legal else ''}."


def card_name(naming: str, kind: Kind) -> str:
    """Return what a kind is called; in the standard deck, where every card is one, all names.

    >>> card_name("german", 10), card_name("deck", 9)
    ('Gebäude', 'Q♣ Q♠')
    """
    return " ".join(names(naming, kind))


@cache
def _meanings(naming: str) -> dict[str, Action]:
    """Return the actions by what they can be called, in small letters.

    A standard deck's cards are known there alone: elsewhere 8d could be two cards.
    """
    found = {char.casefold(): action for action, char in enumerate(CHARS)} | {"take": TAKE}
    for kind in KINDS:
        if VALUES[kind]:
            found[f"{VALUES[kind]:+}"] = kind
        for each in NAMINGS if naming == "deck" else [n for n in NAMINGS if n != "deck"]:
            for name in names(each, kind):
                found[name.casefold()] = kind
                if name[-1] in _LETTERS:
                    found[name[:-1].casefold() + _LETTERS[name[-1]]] = kind
    return found


def _not_understood(said: str, words: list[str]) -> str:
    if not said:
        return "Nothing was typed." if not words else "Play what?"
    shown = printable(said) if len(said) <= _MOST_SHOWN else f"{printable(said[:_MOST_SHOWN])}..."
    if len(words) > 1 and words[0] != "play":
        return f"One action at a time, please: {shown!r} is not the name of a card."
    return f"{shown!r} is neither a card nor a command; ? explains."


def _not_possible(action: Action, seen: View, naming: str) -> str:
    if action != TAKE:
        return f"You have no {' or '.join(names(naming, action))} in your hand."
    if seen.taken[seen.seat]:
        return "You have already taken in this round."
    return "The row is empty: there is nothing to take."
