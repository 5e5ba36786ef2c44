"""Waits for the right moment: weighs this take against later ones.

Source: optimal stopping, as in Ferguson, "Who Solved the Secretary Problem?", 1989; the
weights come from a search (docs/searching.md).
"""

from typing import Any

from bots.majority import Promise
from engine import KINDS, TAKE, Action, Setup, View, counts, size
from engine.cards import UNIT, newest


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
        legal, seat = view.legal, view.seat
        if len(legal) == 1:
            return legal[0]
        last = view.taken[1 - seat] and not view.taken[seat]
        worths = self.last(view) if last else self.first(view)
        return legal[worths.index(max(worths))]

    def first(self, view: View) -> list[float]:
        """Return the worth of each action while the opponent may take, or nobody.

        A card is worth what it keeps from the opponent's next take.
        """
        seat, promise = view.seat, self.promise
        plays = [*promise.plays(view), promise.take(view.row[: -self.size])]
        *losses, left = promise.gains_of(view, 1 - seat, plays)
        worths = [-loss for loss in losses]
        if TAKE in view.legal:
            (mine,) = promise.gains_of(view, seat, [promise.take(view.row)])
            hurry = self.patience * (size(view.hand) + view.opponent_cards)
            worths.append(0.5 * mine - left - hurry)
        return worths

    def last(self, view: View) -> list[float]:
        """Return the worth of each action when only this seat may take."""
        plays = [*self.promise.plays(view), self.promise.take(view.row)]
        *gains, now = self.promise.gains_of(view, view.seat, plays)
        worths = [
            0.31 * gain + 0.14 * self.next(view, view.row + bytes((kind,)))
            for kind, gain in zip(view.legal, gains, strict=False)
        ]
        if TAKE in view.legal:
            hurry = 1.6 * size(view.hand) - 0.4 * view.opponent_cards
            worths.append(0.58 * now - 0.7 - hurry)
        return worths

    def next(self, view: View, row: bytes) -> float:
        """Return what a take brings on average after one more unseen card."""
        unseen = counts(view.unseen)
        last = newest(row, self.size - 1)
        takes = [last + UNIT[kind] for kind in KINDS if unseen[kind]]
        gains = self.promise.gains_of(view, view.seat, takes)
        total = 0.0
        for n, gain in zip(filter(None, unseen), gains, strict=True):
            total += n * gain  # not `sum`, which rounds otherwise from Python 3.12 on
        return total / max(1, sum(unseen))

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
