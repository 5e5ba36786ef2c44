"""Prints 100 MB, or `megabytes`, in every game, and plays on."""

CHUNK = "x" * 79 + "\n"
CHUNK *= 1_000_000 // len(CHUNK)


class Prints:
    """Prints before its first decision."""

    def __init__(self, _setup, megabytes: int = 100):
        self.left = megabytes

    def choose(self, view, /):
        """Print, and return the first legal action."""
        while self.left > 0:
            print(CHUNK, end="")
            self.left -= 1
        return view.legal[0]


bot = Prints
