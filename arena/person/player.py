"""Human: a person at one seat, who is shown what a View holds and asked for an action."""

from __future__ import annotations

import textwrap

from arena.games.match import Play
from arena.person.answer import Command, Mistake, card_name, choices, understood
from arena.person.board import WIDTH, Board, Line, listed, short, worth
from arena.person.terminal import Terminal
from engine import KINDS, STANDARD, Action, Rules, View
from engine.cards import CHARS


class Quit(Exception):
    """The person wants to stop."""


class HumanPlayer:
    """A person, who has all the time there is; mistakes are answered, and asked again.

    Raises Quit, and Ended where there is nothing more to read.
    """

    def __init__(self, terminal: Terminal, opponent: str, naming: str) -> None:
        self.terminal = terminal
        self.opponent = short(opponent)
        self.naming = naming
        self.told = 0
        """The ply up to which the person knows what happened."""

    def begin(self) -> Play[None]:
        """Do nothing: the person is there."""
        return
        yield

    def choose(self, seen: View) -> Play[Action]:
        """Return the person's action; where there is but one, it is not asked for."""
        board = Board(seen, self.naming, self.opponent)
        if len(seen.legal) > 1:
            action = self._asked(board)
        else:
            action = seen.legal[0]
            self.terminal.say(["", *board.events(self.told), _forced(board)])
        self.told = len(seen.history)
        self.terminal.wait(f"{self.opponent} is thinking ...")
        return action
        yield

    def end(self) -> Play[None]:
        """Do nothing: the session tells how it ended."""
        return
        yield

    def _asked(self, board: Board) -> Action:
        seen = board.seen
        self.terminal.say(["", *board.lines(self.told)])
        prompt = question = f"{choices(seen).removesuffix('.')}; ? for help > "
        while True:
            try:
                meant = understood(self.terminal.ask(question), seen, self.naming)
            except Mistake as mistake:
                lines = textwrap.wrap(str(mistake), WIDTH)
                self.terminal.say(Line(line, "wrong") for line in lines)
                question = "Your turn > "
                continue
            if isinstance(meant, int):
                return meant
            self._obey(meant, board)
            question = prompt

    def _obey(self, command: Command, board: Board) -> None:
        if command == "quit":
            raise Quit
        answers = {
            "help": lambda: help_lines(self.naming, board.seen.rules),
            "board": board.lines,
            "history": board.history,
        }
        self.terminal.say(answers[command]())


def _forced(board: Board) -> str:
    """Return the line that says what the person has to do."""
    if not board.hand:
        return "Your hand is empty, and so you take."
    return f"There is nothing else to do, and so you play {board.hand[0].name}."


def help_lines(naming: str, rules: Rules = STANDARD) -> list[Line]:
    """Return the signs, the commands and the rules in short, on one screen."""
    signs = [f"{CHARS[kind]} {card_name(naming, kind)}{worth(naming, kind)}" for kind in KINDS]
    values = ", ".join(map(str, rules.majority_values))
    told = [
        "Type a card's sign or its name to play it to the end of the row, T to take.",
        "Commands: board shows the table again, history all actions so far, quit ends the game.",
        f"In each of the {rules.rounds} rounds both play their {rules.hand_size} cards and take "
        f"once, by turns, whenever they like; who did not begin this round begins the next. A "
        f"take brings the last {rules.take_size} cards of the row, or all if there are fewer, "
        f"into one's pile; the rest stays.",
        f"Who holds {rules.cities_needed} cities wins at once. Otherwise the points after the "
        f"last round decide: {values} points for more cards of the supports 5, 6, 7, 8 than the "
        f"other; {rules.set_bonus} for every set of the four; alliances add their value, "
        f"betrayals subtract it; cities score nothing. Equal points: more 8s win, then 7s, 6s, "
        f"5s{', cities' if rules.tiebreak == 'cities' else ''}.",
        f"{rules.removed} cards are out of the game, and nobody knows which.",
    ]
    paragraphs = [[Line(text) for text in textwrap.wrap(part, WIDTH)] for part in told]
    paragraphs.insert(1, listed("  the signs", signs))
    return [line for paragraph in paragraphs for line in paragraph]
