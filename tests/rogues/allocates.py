"""Allocates memory until an error, or up to 6 GB."""

MOST = 6 << 30
hoard = []


class Allocates:
    """With `swallows` it fills all memory, catches the errors, and plays on."""

    def __init__(self, _setup, swallows: bool = False):
        self.swallows = swallows

    def choose(self, view, /):
        """Fill the memory, to the last bytes if it catches the errors."""
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
