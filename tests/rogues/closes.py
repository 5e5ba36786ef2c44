"""Closes its standard output or all descriptors, and plays on."""

import os
import sys


class Closes:
    """`what` is stdout or descriptors."""

    def __init__(self, _setup, what: str):
        self.what = what

    def choose(self, view, /):
        """Close them, and return the first legal action."""
        if self.what == "stdout":
            sys.stdout.close()
        else:
            os.closerange(0, 1024)
        return view.legal[0]


bot = Closes
