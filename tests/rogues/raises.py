"""Raises in its first decision."""

from engine import IllegalAction


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


class Raises:
    """`what` names the exception."""

    def __init__(self, _setup, what: str):
        self.what = what

    def choose(self, view, /):
        """Raise it."""
        if self.what == "recursion":
            return self.choose(view)
        raise {
            "boom": lambda: ValueError("boom"),
            "system_exit": lambda: SystemExit(3),
            "keyboard_interrupt": lambda: KeyboardInterrupt(),
            "unspeakable": lambda: Unspeakable(),
            "odd_syntax": lambda: SyntaxError("bad move", ("notation", 1, "a", "5T")),
            "illegal": lambda: IllegalAction("I take the blame on the other one", 7),
            "illegal_and_unspeakable": lambda: Mine("x", 3),
            "untouchable": lambda: Untouchable(),
            "shout": lambda: ValueError("\x1b[2J" + "x" * 10**6),
        }[self.what]()


bot = Raises
