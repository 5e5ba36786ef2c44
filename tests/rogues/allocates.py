"""Allocates memory without end; here the end is 6 GB."""

MOST = 6 << 30
hoard = []


class Allocates:
    """`swallows` keeps all there is to be had, and plays on as if nothing were the matter."""

    def __init__(self, _setup, swallows: bool = False):
        self.swallows = swallows

    def choose(self, view, /):
        """Fill the memory, down to the last bytes if it swallows what stops it."""
        size = 1 << 20
        while size and len(hoard) < MOST >> 20:
            try:
                hoard.append(b"x" * size)
            except MemoryError:
                if not self.swallows:
                    raise
                size //= 16
        return view.legal[0]


bot = Allocates
