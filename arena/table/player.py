"""Player: a person at one seat, shown what a View holds and asked for an action."""

from __future__ import annotations

import textwrap

from arena.errors import counted
from arena.records.board import WIDTH, Board, Line, format_items, shorten, value_note
from arena.table.terminal import Terminal
from arena.table.typed import Command, Mistake, card_name, choices, read_input
from engine import KINDS, STANDARD, Action, Rules, View
from engine.cards import CHARS


class Quit(Exception):
    """The person wants to stop."""


class PersonPlayer:
    """A person, without a time limit; a mistake is explained, and asked again.

    `seen_plies` is the ply up to which the person knows what happened. Raises Quit, and
    InputEnded where nothing more can be read.
    """

    def __init__(self, terminal: Terminal, opponent: str, naming: str) -> None:
        self.terminal = terminal
        self.opponent = shorten(opponent)
        self.naming = naming
        self.seen_plies = 0

    def begin(self) -> None:
        """Do nothing: the person is there."""

    def choose(self, view: View, /) -> Action:
        """Return the person's action; a forced one is not asked for."""
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
    """Return the line that says what the person has to do."""
    if not board.hand:
        return "Your hand is empty, so you take."
    return f"Nothing else is possible, so you play {board.hand[0].name}."


def help_lines(naming: str, rules: Rules = STANDARD) -> list[Line]:
    """Return the signs, the commands and the rules in short, on one screen."""
    signs = [f"{CHARS[kind]} {card_name(naming, kind)}{value_note(naming, kind)}" for kind in KINDS]
    values = ", ".join(map(str, rules.majority_values))
    rounds = "the one round" if rules.rounds == 1 else f"each of the {rules.rounds} rounds"
    cities = counted(rules.cities_needed, "city", "cities")
    texts = [
        "Type a card's sign or its name to play it to the end of the row, T to take.",
        "Commands: board shows the table again, history all actions so far, quit ends the game.",
        f"In {rounds} the players act in turn: each plays {counted(rules.hand_size, 'card')} "
        f"and takes once, at any time; the player who did not begin this round begins the next. "
        f"A take brings the last {rules.take_size} cards of the row, or all if there are fewer, "
        "into one's pile; the rest stays.",
        f"The player who holds {cities} wins at once. Otherwise the points "
        f"after the last round decide: {values} points for more cards of the supports 5, 6, 7, 8 "
        f"than the other; {rules.set_bonus} for every set of the four; alliances add their "
        f"value, betrayals subtract it; cities score nothing. Equal points: more 8s win, then "
        f"7s, 6s, 5s{', cities' if rules.tiebreak == 'cities' else ''}.",
        f"{counted(rules.removed, 'card')} {'is' if rules.removed == 1 else 'are'} out of the "
        "game, and nobody knows which.",
    ]
    paragraphs = [[Line(text) for text in textwrap.wrap(part, WIDTH)] for part in texts]
    paragraphs.insert(1, format_items("  the signs", signs))
    return [line for paragraph in paragraphs for line in paragraph]
