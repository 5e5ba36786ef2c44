"""Reading: what a person has typed, as an action or a command, or a kind explanation why not."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Literal, TypeAlias

from arena.lanes.faults import printable
from arena.records.naming import NAMINGS
from arena.records.show import card_names
from engine import KINDS, TAKE, VALUES, Action, Kind, View
from engine.cards import CHARS

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
    """What was typed cannot be done; the message says why, and what can be done."""


def read_input(text: str, view: View, naming: str) -> Action | Command:
    """Return the legal action or the command that a text means.

    Raises Mistake.

    >>> view = View.from_text("0 5678C CC")
    >>> read_input("Support 5", view, "english"), read_input("t", view, "english")
    (0, 11)
    >>> read_input("x", view, "english")
    Traceback (most recent call last):
    ...
    arena.table.typed.Mistake: You have no Betrayal -1 in your hand. You can play 5, 6, 7, \
8 or C, or take with T.
    """
    words = unicodedata.normalize("NFC", text).replace("\u2212", "-").casefold().split()
    typed = " ".join(words)
    if typed in _COMMANDS:
        return _COMMANDS[typed]
    if words[:1] == ["play"]:
        typed = " ".join(words[1:])
    action = _meanings(naming).get(typed)
    if action is None:
        raise Mistake(f"{_explain_unknown(typed, words)} {choices(view)}")
    if action not in view.legal:
        raise Mistake(f"{_explain_impossible(action, view, naming)} {choices(view)}")
    return action


def choices(view: View) -> str:
    """Return the sentence that says what can be done now."""
    signs = [CHARS[action] for action in view.legal if action != TAKE]
    either = " or ".join(filter(None, (", ".join(signs[:-1]), *signs[-1:])))
    if not signs:
        return "You can take with T."
    return f"You can play {either}{', or take with T' if TAKE in view.legal else ''}."


def card_name(naming: str, kind: Kind) -> str:
    """Return the name of a kind; in the standard deck, the names of all its cards.

    >>> card_name("german", 10), card_name("deck", 9)
    ('Gebäude', 'Q♣ Q♠')
    """
    return " ".join(card_names(naming, kind))


@cache
def _meanings(naming: str) -> dict[str, Action]:
    """Return the actions by their possible names, in small letters.

    The names of a standard deck count only in that naming: elsewhere 8d could be two cards.
    """
    meanings = {char.casefold(): action for action, char in enumerate(CHARS)} | {"take": TAKE}
    for kind in KINDS:
        if VALUES[kind]:
            meanings[f"{VALUES[kind]:+}"] = kind
        for each in NAMINGS if naming == "deck" else [n for n in NAMINGS if n != "deck"]:
            for name in card_names(each, kind):
                meanings[name.casefold()] = kind
                if name[-1] in _LETTERS:
                    meanings[name[:-1].casefold() + _LETTERS[name[-1]]] = kind
    return meanings


def _explain_unknown(typed: str, words: list[str]) -> str:
    if not typed:
        return "Nothing was typed." if not words else "Play what?"
    shown = printable(typed)
    if len(typed) > _MOST_SHOWN:
        shown = f"{printable(typed[:_MOST_SHOWN])}..."
    if len(words) > 1 and words[0] != "play":
        return f"One action at a time, please: {shown!r} is not the name of a card."
    return f"{shown!r} is neither a card nor a command; ? explains."


def _explain_impossible(action: Action, view: View, naming: str) -> str:
    if action != TAKE:
        return f"You have no {' or '.join(card_names(naming, action))} in your hand."
    if view.taken[view.seat]:
        return "You have already taken in this round."
    return "The row is empty: there is nothing to take."
