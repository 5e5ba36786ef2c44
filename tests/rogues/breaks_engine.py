"""Breaks the engine of the process that it plays in, so that no game ends there."""

import sys


class Breaks:
    """Plays the first legal action, where it is asked at all."""

    def __init__(self, _setup):
        sys.modules["engine.state"].State.apply = lambda _state, _action: None

    def choose(self, view, /):
        """Return the first legal action."""
        return view.legal[0]


bot = Breaks
