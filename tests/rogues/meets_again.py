"""Plays otherwise in a game whose deal its process has met before, from the same seat."""

met = set()


class MeetsAgain:
    def __init__(self, _setup):
        self.again = None

    def choose(self, view, /):
        """Return the first legal action, or the last one in a game that it has met."""
        if self.again is None:
            key = (view.seat, view.opening, view.hand)
            self.again = key in met
            met.add(key)
        return view.legal[-1 if self.again else 0]


bot = MeetsAgain
