"""Plays a legal action at random: the floor other bots must clear.

Source: the usual floor, as the uniform random bot of OpenSpiel.
"""

from engine import Action, Setup, View


class Uniform:
    """Every legal action is as likely as every other."""

    def __init__(self, setup: Setup) -> None:
        self.random = setup.rng.random

    def choose(self, view: View, /) -> Action:
        """Return a legal action at random."""
        legal = view.legal
        return legal[int(self.random() * len(legal))]


bot = Uniform
