"""Breaks the engine of the process that it plays in, so that no game ends there."""

from engine import State


class Breaks:
    """Plays the first legal action, again and again."""

    def __init__(self, _setup):
        State.apply = lambda _state, _action: None

    def choose(self, view, /):
        """Return the first legal action."""
        return view.legal[0]


bot = Breaks
