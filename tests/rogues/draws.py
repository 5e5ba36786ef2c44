"""Draws from the global random numbers of a module."""

import random


class Draws:
    """`where` is the module, random or numpy."""

    def __init__(self, _setup, where: str = "random"):
        if where == "numpy":
            import numpy

            self.choice = numpy.random.choice
        else:
            self.choice = random.choice

    def choose(self, view, /):
        """Return a legal action at random."""
        return int(self.choice(view.legal))


bot = Draws
