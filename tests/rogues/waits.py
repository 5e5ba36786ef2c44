"""Does not answer in time."""

import time


class Waits:
    """`how` names what it does instead."""

    def __init__(self, setup, how: str):
        self.how = how
        self.limit = setup.clock.decision or 1.0

    def choose(self, view, /):
        """Answer late or never, but not in the first decision, which has the limit of a start."""
        if len(view.history) < 2:
            return view.legal[0]
        return getattr(self, self.how)(view)

    def late(self, view):
        """Work a little longer than the limit."""
        end = time.process_time() + self.limit + 0.1
        while time.process_time() < end:
            pass
        return view.legal[0]

    def loops(self, _view):
        """Loop forever."""
        while True:
            pass

    def sleeps(self, _view):
        """Sleep for days."""
        time.sleep(10**6)

    def naps(self, view):
        """Sleep for a second, and answer."""
        time.sleep(1)
        return view.legal[0]

    def swallows(self, _view):
        """Loop forever, also after exceptions."""
        while True:
            try:
                while True:
                    pass
            except BaseException:
                continue


bot = Waits
