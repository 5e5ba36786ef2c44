"""Play games of a person at a terminal: show the board, and read what is typed."""

from __future__ import annotations

import os
import select
import textwrap
import unicodedata
from collections.abc import Iterable
from typing import Any, Final, TextIO

import click

from arena.addons.table.table_games import LIMITS, Match, Person, Quit, Records, Session
from arena.errors import escape, quote
from arena.lanes.process import BotProcess, bot_process
from arena.lanes.temp_and_cache_folders import BOT, scratch_folder
from arena.processes import adopt_orphans, exit_on_termination
from arena.replays import board as boards
from arena.replays.board import WIDTH, Board, Line, Role, card_names, format_items, group, shorten
from arena.replays.finished_game import Game
from engine import KINDS, TAKE, Action, Rules, Seat, State, View, rules_text
from engine.cards import CHARS, cards_of
from engine.view import view

_STYLES: Final[dict[Role, dict[str, Any]]] = {
    "head": {"bold": True},
    "take": {"fg": "cyan"},
    "wrong": {"fg": "yellow"},
}
_GLANCE: Final = 0.5  # seconds between two checks for a signal
_HELP: Final = ("?", "help")
_QUIT: Final = ("quit", "q", "exit")
_SUITS: Final = str.maketrans("♣♥♠♦\u2212", "chsd-")


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
        self._is_colored = out.isatty() and not os.environ.get("NO_COLOR")
        self._echoes = not source.isatty()

    def say(self, lines: Iterable[Line | str]) -> None:
        """Write lines."""
        for line in lines:
            text, role = line if isinstance(line, Line) else Line(line)
            style = _STYLES.get(role, {}) if self._is_colored else {}
            self.out.write(f"{click.style(text, **style) if style else text}\n")
        self.out.flush()

    def ask(self, prompt: str) -> str:
        """Return the line typed after the prompt; raises InputEnded at the end of the input.

        At a terminal it waits until a line is there: a signal that arrives just before a blocking
        read would not interrupt it.
        """
        self.out.write(prompt)
        self.out.flush()
        while not self._echoes and not select.select([self.source], [], [], _GLANCE)[0]:
            pass
        line = self.source.readline()
        if self._echoes or not line:
            self.say([escape(line.rstrip())])
        if not line:
            raise InputEnded
        return line


def read_action(text: str, view: View, naming: str) -> Action | None:
    """Return the legal action that a text names, None if it names none.

    A card is named by its character or by its name in the naming, in either case; of a suit the
    first letter is enough.

    >>> view = View.from_text("0 5678C CC")
    >>> [read_action(text, view, "english") for text in ("Support 5", "c", "t", "x")]
    [0, 10, 11, None]
    """
    wanted = _simplify(text)
    for action in view.legal:
        names = ["t", "take"] if action == TAKE else [CHARS[action], *card_names(naming, action)]
        if wanted in map(_simplify, names):
            return action
    return None


def _simplify(text: str) -> str:
    words = unicodedata.normalize("NFC", text).casefold().translate(_SUITS).split()
    return " ".join(words)


def choices(view: View) -> str:
    """Return a sentence with the legal actions.

    >>> choices(View.from_text("0 5678C CC"))
    'You can play 5, 6, 7, 8 or C, or take with T'
    """
    signs = [CHARS[action] for action in view.legal if action != TAKE]
    either = " or ".join(filter(None, (", ".join(signs[:-1]), *signs[-1:])))
    return f"You can play {either}{', or take with T' if TAKE in view.legal else ''}"


class PersonPlayer(Person):
    """A person at a terminal, without time limit; after a mistake, the prompt is repeated.

    `seen_plies` is the ply up to which the person has seen the game. Raises Quit, and InputEnded
    at the end of the input.
    """

    def __init__(self, terminal: Terminal, opponent: str, naming: str) -> None:
        self.terminal = terminal
        self.opponent = shorten(opponent)
        self.naming = naming
        self.seen_plies = 0

    def choose(self, view: View, /) -> Action:
        """Return the person's action; a forced action is chosen automatically."""
        board = Board(view, self.naming, self.opponent)
        since, self.seen_plies = self.seen_plies, len(view.history)
        if len(view.legal) > 1:
            self.terminal.say(["", *board.lines(since)])
            return self._ask(view)
        what = f"play {board.hand[0].name}" if board.hand else "take"
        self.terminal.say(["", *board.events(since), f"Nothing else is possible, so you {what}."])
        return view.legal[0]

    def _ask(self, view: View) -> Action:
        question = f"{choices(view)}; ? for help > "
        while True:
            typed = self.terminal.ask(question)
            word = _simplify(typed)
            if word in _QUIT:
                raise Quit
            if word in _HELP:
                self.terminal.say(help_lines(self.naming, view.rules))
                continue
            action = read_action(typed, view, self.naming)
            if action is not None:
                return action
            said = f"{escape(typed.strip())[:WIDTH]!r} is not possible now; ? explains."
            self.terminal.say(Line(line, "wrong") for line in textwrap.wrap(said, WIDTH))


def help_lines(naming: str, rules: Rules) -> list[Line]:
    """Return the help: the signs of the cards, the commands, and the rules."""
    signs = [
        f"{CHARS[kind]} {' '.join(card_names(naming, kind))}{boards.value_note(naming, kind)}"
        for kind in KINDS
    ]
    told = ["Type a card's sign or its name to play it, T to take, quit to leave the game."]
    told += rules_text(rules).splitlines()
    texts = [Line(line) for text in told for line in textwrap.wrap(text, WIDTH)]
    return [*format_items("the signs", signs), *texts]


def play_session(session: Session, records: Records, terminal: Terminal) -> bool:
    """Play the games of a session, each recorded; return False if the input ended too early.

    A game that is left early, even by an exception, is recorded as it stands.
    """
    ended_well = True
    adopt_orphans()
    with (
        exit_on_termination(),
        scratch_folder() as folder,
        bot_process(session.entry, session.rules, LIMITS, folder / BOT) as process,
    ):
        try:
            for number in range(session.games):
                _play(session, session.match(number), process, records, terminal)
        except (Quit, InputEnded) as reason:
            ended_well = isinstance(reason, Quit)
    terminal.say([f"The same again: {session.command}"])
    return ended_well


def _play(
    session: Session, match: Match, process: BotProcess, records: Records, terminal: Terminal
) -> None:
    """Play one game, and show its end, even if an exception ends it."""
    label, naming, seat = session.entry.label, session.naming, match.fixture.seat
    begins = f"{shorten(label)} begins" if seat else "you begin"
    terminal.say(["", f"You against {shorten(label)}; {begins}."])
    person = PersonPlayer(terminal, label, naming)
    try:
        match.play(person, {1 - seat: process})
    finally:
        line, path = records.keep(match), quote(str(records.path))
        if match.game:
            lines = format_ending(match.game, match.state, seat, naming, person.seen_plies)
            terminal.say(["", *lines])
        if line is not None:
            what = "Recorded" if match.game else "The game is kept unfinished"
            show = f"arena show {path} --line {line}"
            terminal.say(["", f"{what}: line {line} of {path}", f"  {show}"])


def format_ending(game: Game, state: State, seat: Seat, naming: str, since: int) -> list[Line]:
    """Return the actions from a ply on, how the game ended, and the hidden cards."""
    board = Board(view(state, seat), naming, shorten(game.seats[1 - seat]))
    ending, *evidence = [*game.evidence()] or [game.ending]
    lines = board.events(since)
    lines += [Line(line, "head") for line in textwrap.wrap(f"{ending}.", WIDTH)]
    lines += [*(Line(line[:WIDTH]) for line in evidence), Line(""), *board.score(), Line("")]
    if board.hand:
        lines += format_items("you held", group(board.hand))
    if state.hands[1 - seat]:
        lines += format_items("bot held", group(board.layout.see(cards_of(state.hands[1 - seat]))))
    return lines + format_items("removed", group(board.layout.see(sorted(state.removed))))
