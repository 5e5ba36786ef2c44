"""Looks for the opponent's hand, and silently plays by it."""

import gc
import sys


def frames():
    """Yield the States among the variables of its callers."""
    frame = sys._getframe()
    while frame is not None:
        yield from (value for value in frame.f_locals.values() if is_state(value))
        frame = frame.f_back


def objects():
    """Return the States among all objects."""
    return (thing for thing in gc.get_objects() if is_state(thing))


def is_state(thing):
    """Return whether an object is the State of a game."""
    return type(thing).__name__ == "State" and hasattr(type(thing), "deck")


class Peeks:
    """`where` is frames or gc, the place where it looks."""

    def __init__(self, _setup, where: str = "frames"):
        self.look = frames if where == "frames" else objects

    def choose(self, view, /):
        """Return an action that depends on the other hand, the first one if no State is found."""
        for state in self.look():
            return view.legal[state.hands[view.opponent] % 997 % len(view.legal)]
        return view.legal[0]


bot = Peeks
