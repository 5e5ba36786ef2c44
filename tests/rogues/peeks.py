"""Looks at the opponent's hand where it can, says nothing, and plays by it."""

import gc
import sys


def frames():
    """The states among the variables of its callers."""
    frame = sys._getframe()
    while frame is not None:
        yield from (value for value in frame.f_locals.values() if is_state(value))
        frame = frame.f_back


def objects():
    """The states among everything that there is."""
    return (thing for thing in gc.get_objects() if is_state(thing))


def is_state(thing):
    """Whether it is the whole truth of a game."""
    return type(thing).__name__ == "State" and hasattr(type(thing), "deck")


class Peeks:
    """`where` says where it looks."""

    def __init__(self, _setup, where: str = "frames"):
        self.look = frames if where == "frames" else objects

    def choose(self, view, /):
        """Return an action by the other hand, the first one where it is not to be seen."""
        for state in self.look():
            return view.legal[state.hands[view.opponent] % 997 % len(view.legal)]
        return view.legal[0]


bot = Peeks
