"""Waits for the right moment: weighs this take against later ones.

Source: optimal stopping, as in Ferguson, "Who Solved the Secretary Problem?", 1989; the
weights come from a search (docs/searching.md).
"""

from typing import Any

from bots.majority import Promise
from engine import TAKE, Action, Setup, View, counts, size


class Timing:
    """Weighs what a take brings against what both seats could still do.

    While both may take, it counts what the opponent could take next, and takes only when
    that beats `patience` points for each card in either hand. When only it may take, it
    weighs this row against the next one, after a card of each seat.
    """

    def __init__(self, setup: Setup, patience: float = 2.3) -> None:
        self.promise = Promise(setup.rules)
        self.size = setup.rules.take_size
        self.patience = patience

    def choose(self, view: View, /) -> Action:
        """Return the action that promises most, the first if several tie."""
        if len(view.legal) == 1:
            return view.legal[0]
        if view.taken[view.seat]:
            return max(view.legal, key=lambda kind: self.denial(view, kind))
        worth = self.last if view.taken[view.opponent] else self.first
        return max(view.legal, key=lambda action: worth(view, action))

    def denial(self, view: View, kind: Action) -> float:
        """Return by how much a card lowers the opponent's next take."""
        return -self.promise.gain(view, view.opponent, view.row + bytes((kind,)))

    def first(self, view: View, action: Action) -> float:
        """Return the worth of an action while both may take."""
        if action != TAKE:
            return self.denial(view, action)
        mine = self.promise.gain(view, view.seat, view.row)
        left = self.promise.gain(view, view.opponent, view.row[: -self.size])
        hurry = self.patience * (size(view.hand) + view.opponent_cards)
        return 0.5 * mine - left - hurry

    def last(self, view: View, action: Action) -> float:
        """Return the worth of an action when the opponent has taken."""
        if action == TAKE:
            hurry = 1.6 * size(view.hand) - 0.4 * view.opponent_cards
            return 0.58 * self.promise.gain(view, view.seat, view.row) - 0.7 - hurry
        row = view.row + bytes((action,))
        now = self.promise.gain(view, view.seat, row)
        return 0.31 * now + 0.14 * self.next(view, row)

    def next(self, view: View, row: bytes) -> float:
        """Return what a take brings on average after one more unseen card."""
        total = 0.0
        for kind, n in enumerate(counts(view.unseen)):
            if n:  # not `sum`, which rounds otherwise from Python 3.12 on
                total += n * self.promise.gain(view, view.seat, row + bytes((kind,)))
        return total / max(1, size(view.unseen))

    def scores(self, games: Any, /) -> Any:
        """Return the worth of each action in many games (game, action)."""
        import numpy as np

        from arena.batch.beliefs import Seats

        seats, gains = Seats(games), self.promise.gains
        taken, other_taken = seats.taken
        last = other_taken & ~taken
        play = gains(*seats.piles(own=last), seats.after_play)
        play = np.where(last, 0.31 * play + 0.14 * self.nexts(seats, last), -play)
        mine = gains(seats.own, seats.other, seats.take[:, None])
        left = gains(seats.other, seats.own, seats.next_take[:, None])
        cards, rival_cards = seats.cards
        first = 0.5 * mine - left - self.patience * (cards + rival_cards)
        hurry = 1.6 * cards - 0.4 * rival_cards
        take = np.where(other_taken, 0.58 * mine - 0.7 - hurry, first)
        return np.concatenate([play, take]).T

    def nexts(self, seats: Any, last: Any) -> Any:
        """Return `next` after each card of the hands in these games (card, game), 0 elsewhere."""
        import numpy as np

        nexts = np.zeros(seats.hand.shape)
        cards, games = np.nonzero((seats.hand > 0) & last)
        unseen = seats.unseen[:, games]
        total = np.zeros(len(games))
        takes = seats.after_plays(cards, games)
        each = self.promise.gains(seats.own[:, games], seats.other[:, games], takes)
        for n, gain in zip(unseen, each, strict=True):
            total += n * gain
        nexts[cards, games] = total / unseen.sum(axis=0).clip(1)
        return nexts


bot = Timing
