"""Read a person's moves at a terminal, show the board, and explain the rules."""

from __future__ import annotations

import os
import select
import textwrap
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Any, Literal, NamedTuple, TextIO, TypeAlias

import click

from arena.errors import counted, escape
from arena.store.board import (
    WIDTH,
    Board,
    Line,
    Role,
    card_names,
    format_items,
    shorten,
    value_note,
)
from arena.tournament.keys import NAMINGS
from engine import KINDS, STANDARD, SUPPORTS, TAKE, VALUES, Action, Kind, Rules, View, to_text
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


_STYLES: dict[Role, dict[str, Any]] = {
    "head": {"bold": True},
    "take": {"fg": "cyan"},
    "wrong": {"fg": "yellow"},
}

_CLEAR_LINE = "\r\x1b[K"
_GLANCE = 0.5  # seconds between two checks for a signal

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


class InputEnded(Exception):
    """The input has ended."""


class Terminal:
    """Writes lines and reads one at a prompt; in color if the output is a real terminal.

    Input that does not come from a terminal is echoed, so that the output of a scripted session
    is readable.
    """

    def __init__(self, source: TextIO, out: TextIO) -> None:
        self.source = source
        self.out = out
        self._is_terminal = out.isatty()
        self._is_colored = self._is_terminal and not os.environ.get("NO_COLOR")
        self._echoes = not source.isatty()
        self._waits = False

    def say(self, lines: Iterable[Line | str]) -> None:
        """Write lines."""
        self._clear_wait()
        for line in lines:
            text, role = line if isinstance(line, Line) else Line(line)
            style = _STYLES.get(role) if self._is_colored else None
            styled = click.style(text, **style) if style else text
            self.out.write(f"{styled}\n")
        self.out.flush()

    def ask(self, prompt: str) -> str:
        """Return the line typed after the prompt, without the line break.

        Raises InputEnded at the end of the input.
        """
        self._clear_wait()
        self.out.write(prompt)
        self.out.flush()
        self._wait_for_line()
        line = self.source.readline()
        if self._echoes or not line:
            self.out.write(f"{escape(line.rstrip())}\n")
        if not line:
            raise InputEnded
        return line.strip()

    def _wait_for_line(self) -> None:
        """Wait at a terminal until a line can be read, so that Ctrl-C works at any moment.

        A signal that arrives just before a blocking read would not interrupt it.
        """
        while not self._echoes and not select.select([self.source], [], [], _GLANCE)[0]:
            pass

    def wait(self, text: str) -> None:
        """Show a text on a real terminal while waiting, until the next line is written."""
        if self._is_terminal:
            self.out.write(text)
            self.out.flush()
            self._waits = True

    def _clear_wait(self) -> None:
        if self._waits:
            self.out.write(_CLEAR_LINE)
            self._waits = False


class Mistake(Exception):
    """The typed text is not possible here; the message explains why, and what is possible."""


def read_input(text: str, view: View, naming: str) -> Action | Command:
    """Return the legal action or the command that a text names; raises Mistake.

    >>> view = View.from_text("0 5678C CC")
    >>> read_input("Support 5", view, "english"), read_input("t", view, "english")
    (0, 11)
    >>> read_input("x", view, "english")
    Traceback (most recent call last):
    ...
    arena.addons.table.player.Mistake: You have no Betrayal -1 in your hand. You can play 5, 6, 7, \
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
    """Return a sentence with the legal actions."""
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
    """Return the actions by all their accepted names, in lower case.

    The names of a standard deck are accepted only in that naming: elsewhere 8d is ambiguous.
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
    shown = typed if len(typed) <= _MOST_SHOWN else f"{typed[:_MOST_SHOWN]}..."
    if len(words) > 1 and words[0] != "play":
        return f"One action at a time, please: {shown!r} is not the name of a card."
    return f"{shown!r} is neither a card nor a command; ? explains."


def _explain_impossible(action: Action, view: View, naming: str) -> str:
    if action != TAKE:
        return f"You have no {' or '.join(card_names(naming, action))} in your hand."
    if view.taken[view.seat]:
        return "You have already taken in this round."
    return "The row is empty: there is nothing to take."


class Quit(Exception):
    """The person wants to stop."""


class Suspend(Quit):
    """The game stops here, and can be resumed another time."""


class PersonPlayer:
    """A person at a terminal, without time limit; after a mistake, the prompt is repeated.

    `seen_plies` is the ply up to which the person has seen the game. Raises Quit, and InputEnded
    at the end of the input.
    """

    def __init__(self, terminal: Terminal, opponent: str, naming: str) -> None:
        self.terminal = terminal
        self.opponent = shorten(opponent)
        self.naming = naming
        self.seen_plies = 0

    def begin(self) -> None:
        """Do nothing: a person needs no start."""

    def end(self) -> None:
        """Do nothing: a person has nothing to close."""

    def choose(self, view: View, /) -> Action:
        """Return the person's action; a forced action is chosen automatically."""
        board = Board(view, self.naming, self.opponent)
        if len(view.legal) > 1:
            action = self._ask(board)
        else:
            action = view.legal[0]
            self.terminal.say(["", *board.events(self.seen_plies), _explain_forced(board)])
        self.seen_plies = len(view.history)
        self.terminal.wait(f"{self.opponent} is thinking ...")
        return action

    def _ask(self, board: Board) -> Action:
        view = board.view
        self.terminal.say(["", *board.lines(self.seen_plies)])
        prompt = question = f"{choices(view).removesuffix('.')}; ? for help > "
        while True:
            try:
                read = read_input(self.terminal.ask(question), view, self.naming)
            except Mistake as mistake:
                lines = textwrap.wrap(str(mistake), WIDTH)
                self.terminal.say(Line(line, "wrong") for line in lines)
                question = "Your turn > "
                continue
            if isinstance(read, int):
                return read
            self._obey(read, board)
            question = prompt

    def _obey(self, command: Command, board: Board) -> None:
        if command == "quit":
            raise Quit
        replies = {
            "help": lambda: help_lines(self.naming, board.view.rules),
            "board": board.lines,
            "history": board.history,
        }
        self.terminal.say(replies[command]())


def _explain_forced(board: Board) -> str:
    """Return the line that names the person's forced action."""
    if not board.hand:
        return "Your hand is empty, so you take."
    return f"Nothing else is possible, so you play {board.hand[0].name}."


def help_lines(naming: str, rules: Rules = STANDARD) -> list[Line]:
    """Return one screen of help: the symbols of cards, the commands, and the rules in short."""
    signs = [f"{CHARS[kind]} {card_name(naming, kind)}{value_note(naming, kind)}" for kind in KINDS]
    texts = [
        "Type a card's sign or its name to play it to the end of the row, T to take.",
        "Commands: board shows the table again, history all actions so far, quit ends the game.",
        *(part.text for part in explain(rules)),
    ]
    paragraphs = [[Line(text) for text in textwrap.wrap(part, WIDTH)] for part in texts]
    paragraphs.insert(1, format_items("  the signs", signs))
    return [line for paragraph in paragraphs for line in paragraph]
