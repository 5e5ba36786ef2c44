"""Does in its first decision, or in `close()`, what no bot may do: answers, raises, works on."""

import os
import threading
import time

from engine import IllegalAction


class Chameleon:
    """Is equal to everything, and so also to legal actions."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0

    def __index__(self):
        return 99


class Unspeakable(Exception):
    """Cannot be converted to text."""

    def __str__(self):
        raise RuntimeError("no words")


class Untouchable(Exception):
    """Raises at every access to an attribute."""

    def __getattribute__(self, name):
        raise SystemExit(0)


class Mine(IllegalAction):
    """Looks like the referee's own exception, and cannot be converted to text."""

    def __str__(self):
        raise SystemExit(0)


ANSWERS = {
    "99": 99,
    "minus_one": -1,
    "huge": 10**5000,
    "none": None,
    "text": "T",
    "true": True,
    "chameleon": Chameleon(),
}
RAISES = {
    "boom": lambda: ValueError("boom"),
    "system_exit": lambda: SystemExit(3),
    "keyboard_interrupt": lambda: KeyboardInterrupt(),
    "unspeakable": lambda: Unspeakable(),
    "odd_syntax": lambda: SyntaxError("bad move", ("notation", 1, "a", "5T")),
    "illegal": lambda: IllegalAction("I take the blame on the other one", 7),
    "illegal_and_unspeakable": lambda: Mine("x", 3),
    "untouchable": lambda: Untouchable(),
    "shout": lambda: ValueError("\x1b[2J" + "x" * 10**6),
}


def work():
    end = time.process_time() + 1.0
    while time.process_time() < end:
        pass


class Answers:
    """`what` names the answer, the exception, or how it closes: raises, exits, sleeps, loops.

    As `works_on` it begins a thread, which goes on while it is its opponent's turn.
    """

    def __init__(self, _setup, what: str):
        self.what = what
        self.thread = threading.Thread(target=work, daemon=True)

    def choose(self, view, /):
        """Return the answer, or raise; else return the first legal action."""
        if self.what == "recursion":
            return self.choose(view)
        if self.what in RAISES:
            raise RAISES[self.what]()
        if self.what == "works_on" and self.thread.ident is None:
            self.thread.start()
        legal = view.legal[0]
        own = {"float": float(legal), "list": [legal]}
        return (ANSWERS | own).get(self.what, legal)

    def close(self):
        """Raise, end the process, or do not return, after the game, which costs no game."""
        if self.what == "closes_and_raises":
            raise RuntimeError("closes badly")
        if self.what == "closes_and_exits":
            os._exit(3)
        while self.what in ("closes_and_sleeps", "closes_and_loops"):
            if self.what == "closes_and_sleeps":
                time.sleep(0.1)


bot = Answers
