"""Holds the interpreter in one long call, so that no other thread of its process runs."""


class Holds:
    """Does so in its first decision; `mark` is a file that it makes before."""

    def __init__(self, _setup, mark: str = ""):
        self.mark = mark

    def choose(self, view, /):
        """Compute a number of 140 million digits, which takes minutes."""
        if self.mark:
            open(self.mark, "w").close()
        pow(3, 3 * 10**8)
        return view.legal[0]


bot = Holds
