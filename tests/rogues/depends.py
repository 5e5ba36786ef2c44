"""Plays by something that is neither in its view nor from its generator."""

import os
import random
import time

from engine.cards import CHARS

decisions = 0
games = 0


class Depends:
    """`what` names what it depends on."""

    def __init__(self, _setup, what: str):
        global games
        games += 1
        self.depend = getattr(self, what)
        self.number = games

    def choose(self, view, /):
        """Return a legal action that depends on it."""
        return view.legal[self.depend(view) % len(view.legal)]

    def hashes(self, view):
        """Return a number that depends on the order of a set of texts."""
        names = {CHARS[action] * 3 for action in view.legal}
        return view.legal.index(CHARS.index(next(iter(names))[0]))

    def clock(self, _view):
        """Return the time of day."""
        return time.time_ns() // 1000

    def system(self, _view):
        """Return a random number of the operating system."""
        return os.urandom(1)[0]

    def random(self, view):
        """Draw from the global random numbers."""
        return random.randrange(len(view.legal))

    def numpy(self, view):
        """Draw from numpy's global random numbers."""
        import numpy

        return int(numpy.random.randint(len(view.legal)))

    def games(self, _view):
        """Return the number of this game in the process."""
        return self.number

    def memory(self, _view):
        """Return the number of this decision in the process, over all games."""
        global decisions
        decisions += 1
        return decisions


bot = Depends
