"""Keeps from the opponent the cards that the opponent wants.

Source: what players of drafting games call hate drafting.
"""

from typing import Any

from bots.majority import Majority
from engine import TAKE, Setup, View, size


class Denier(Majority):
    """Judges an action by the take that it leaves to the opponent.

    A take is worth what it adds to the promise of its owner's pile. `greed` is how much the
    bot's own gain counts beside the opponent's loss, `patience` how much more a take must
    bring for every card still in the hand.
    """

    def __init__(self, setup: Setup, greed: float = 1.4, patience: float = 6.4) -> None:
        super().__init__(setup, patience)
        self.size = setup.rules.take_size
        self.greed = greed

    def worths(self, view: View) -> list[float]:
        """Return how little each action leaves to the opponent, in promised points."""
        seat, promise = view.seat, self.promise
        plays, left = promise.plays(view), 0.0
        if view.taken[1 - seat]:
            worths = promise.gains_of(view, seat, plays)
        else:
            plays.append(promise.take(view.row[: -self.size]))
            *losses, left = promise.gains_of(view, 1 - seat, plays)
            worths = [-loss for loss in losses]
        if TAKE in view.legal:
            (gain,) = promise.gains_of(view, seat, [promise.take(view.row)])
            worths.append(self.greed * gain - left - self.patience * size(view.hand))
        return worths

    def scores(self, games: Any, /) -> Any:
        """Return the worth of each action in many games (game, action)."""
        import numpy as np

        from arena.batch.beliefs import Seats

        seats, gains = Seats(games), self.promise.gains
        _, other_taken = seats.taken
        play = gains(*seats.piles(own=other_taken), seats.after_play)
        play = np.where(other_taken, play, -play)
        own = self.greed * gains(seats.own, seats.other, seats.take[:, None])
        left = np.where(other_taken, 0.0, gains(seats.other, seats.own, seats.next_take[:, None]))
        return np.concatenate([play, own - left - self.patience * seats.cards[0]]).T


bot = Denier
