"""Plays the first legal action: no rogue, but what the harmless ones play like."""


class First:
    """Every decision is the same one."""

    def __init__(self, _setup):
        pass

    def choose(self, view, /):
        """Return the first legal action."""
        return view.legal[0]


bot = First
