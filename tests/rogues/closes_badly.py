"""Fails in `close()`, after its game, which costs no game."""

import os
import time


class ClosesBadly:
    """`how` is raises, exits, sleeps or loops."""

    def __init__(self, _setup, how: str):
        self.how = how

    def choose(self, view, /):
        """Return the first legal action."""
        return view.legal[0]

    def close(self):
        """Raise, end the process, or do not return."""
        if self.how == "raises":
            raise RuntimeError("closes badly")
        if self.how == "exits":
            os._exit(3)
        while True:
            if self.how == "sleeps":
                time.sleep(0.1)


bot = ClosesBadly
