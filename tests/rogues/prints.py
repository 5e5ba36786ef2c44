"""Prints 100 MB in every game, and plays on."""

CHUNK = "x" * 79 + "\n"
CHUNK *= 1_000_000 // len(CHUNK)


class Prints:
    """Prints before its first decision."""

    def __init__(self, _setup):
        self.printed = False

    def choose(self, view, /):
        """Print, and return the first legal action."""
        for _ in range(0 if self.printed else 100):
            print(CHUNK, end="")
        self.printed = True
        return view.legal[0]


bot = Prints
