"""Does not answer in time."""

import time


class Waits:
    """`how` says what it does instead."""

    def __init__(self, setup, how: str):
        self.how = how
        self.limit = setup.clock.decision or 1.0

    def choose(self, view, /):
        """Answer late or never."""
        return getattr(self, self.how)(view)

    def late(self, view):
        """Answer a little late: within the grace."""
        time.sleep(self.limit + 0.1)
        return view.legal[0]

    def loops(self, _view):
        """Count for ever."""
        while True:
            pass

    def sleeps(self, _view):
        """Sleep for ever."""
        time.sleep(10**6)

    def swallows(self, _view):
        """Loop for ever, and let no exception end it."""
        while True:
            try:
                while True:
                    pass
            except BaseException:
                continue


bot = Waits
