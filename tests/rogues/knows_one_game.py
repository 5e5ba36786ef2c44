"""Can play only the published game, and no variant of it."""

WORTH = {5: 1.0, 6: 1.2, 7: 1.4, 8: 1.6}


class KnowsOneGame:
    """Raises KeyError at rules with other majority values."""

    def __init__(self, setup):
        self.worth = [WORTH[value] for value in setup.rules.majority_values]

    def choose(self, view, /):
        """Return the first legal action."""
        return view.legal[0]


bot = KnowsOneGame
