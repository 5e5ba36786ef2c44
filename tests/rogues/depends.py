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
        return view.legal[self.depend(view) % len(view.legal)]

    def hashes(self, view):
        """Return a number that depends on the order of a set of texts."""
        names = {CHARS[action] * 3 for action in view.legal}
        return view.legal.index(CHARS.index(next(iter(names))[0]))

    def the_clock(self, _view):
        return time.time_ns() // 1000

    def the_system(self, _view):
        return os.urandom(1)[0]

    def random(self, view):
        return random.randrange(len(view.legal))

    def numpy(self, view):
        import numpy

        return int(numpy.random.randint(len(view.legal)))

    def earlier_games(self, _view):
        return self.number

    def memory(self, _view):
        global decisions
        decisions += 1
        return decisions


bot = Depends
