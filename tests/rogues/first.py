"""Plays the first legal action: an honest bot, which the harmless rogues play like."""


class First:
    """Has no state."""

    def __init__(self, _setup):
        pass

    def choose(self, view, /):
        return view.legal[0]


bot = First
