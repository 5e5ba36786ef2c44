"""Plays as `greedy` does, but likes to leave the opponent a row that would cost points.

`greedy` counts such a row as harmless: its worth is at most 0.
"""

from bots.greedy import Greedy
from engine import TAKE, Action, View


class GreedyPlus(Greedy):
    """Counts what a take would cost the opponent, too."""

    def worth(self, view: View, action: Action) -> float:
        """Return the points that an action brings, less those it leaves to the opponent."""
        if action == TAKE or view.taken[view.opponent]:
            return super().worth(view, action)
        return -self.gain(view, view.opponent, view.row + bytes((action,)))


bot = GreedyPlus
