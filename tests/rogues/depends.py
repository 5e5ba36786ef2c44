"""Plays by something that is neither in its view nor its own luck."""

import os
import time

from engine.cards import CHARS

decisions = 0
games = 0


class Depends:
    """`what` says by what."""

    def __init__(self, _setup, what: str):
        global games
        games += 1
        self.what = what
        self.number = games

    def choose(self, view, /):
        """Return a legal action by it."""
        return view.legal[getattr(self, self.what)(view) % len(view.legal)]

    def hashes(self, view):
        """The order of a set of texts."""
        names = {CHARS[action] * 3 for action in view.legal}
        return view.legal.index(CHARS.index(next(iter(names))[0]))

    def clock(self, _view):
        """The time of day."""
        return time.time_ns() // 1000

    def system(self, _view):
        """The operating system's random numbers."""
        return os.urandom(1)[0]

    def games(self, _view):
        """How many games there were before."""
        return self.number

    def memory(self, _view):
        """How many decisions there were before, in all games."""
        global decisions
        decisions += 1
        return decisions


bot = Depends
