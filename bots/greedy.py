"""Weighs what a take brings now, and leaves little to the opponent.

Source: the score itself (R12 to R15), one action ahead.
"""

from typing import Any

from engine import CITY, TAKE, Action, Pack, Setup, View, points, size
from engine.cards import UNIT, newest

CITY_WIN = 100


class Greedy:
    """Counts points as they stand after one action; a city win counts as 100.

    `patience` is how many points more a take must bring for every card still in the hand:
    there is one take a round, and waiting for a better one costs nothing yet.
    """

    def __init__(self, setup: Setup, patience: float = 9.5) -> None:
        self.rules = setup.rules
        self.patience = patience

    def choose(self, view: View, /) -> Action:
        """Return the action of the highest worth, the first if several tie."""
        legal = view.legal
        if len(legal) == 1 or view.taken == (True, True):
            return legal[0]
        worths = self.worths(view)
        return legal[worths.index(max(worths))]

    def worths(self, view: View) -> list[float]:
        """Return the points that each action brings, less those it leaves to the opponent.

        One of the seats has not taken: if it is the opponent, cards are for its take.
        """
        seat, row, most = view.seat, view.row, self.rules.take_size
        mine, theirs = view.piles[seat], view.piles[1 - seat]
        lead = self.lead(mine, theirs)
        last = newest(row, most - 1)
        plays = [last + UNIT[kind] for kind in view.legal if kind != TAKE]
        worths: list[float]
        if view.taken[1 - seat]:
            worths = [self.gain(mine, theirs, cards, lead) for cards in plays]
        else:
            worths = [min(0, -self.gain(theirs, mine, cards, -lead)) for cards in plays]
        if TAKE in view.legal:
            gain = self.gain(mine, theirs, newest(row, most), lead)
            worths.append(gain - self.patience * size(view.hand))
        return worths

    def gain(self, mine: Pack, theirs: Pack, cards: Pack, lead: int) -> int:
        """Return how much a take of these cards adds to the lead of the first pile."""
        more = mine + cards
        if more >= self.rules.city_pack:
            return CITY_WIN
        return self.lead(more, theirs) - lead

    def lead(self, mine: Pack, theirs: Pack) -> int:
        """Return the points of one pile less those of the other."""
        first, second = points((mine, theirs), self.rules)
        return first - second

    def scores(self, games: Any, /) -> Any:
        """Return the worth of each action in many games (game, action).

        Until then the arrays have a column for each game: piles are (kind, game). Only what a card
        changes is counted, and not the points of all piles with it: 0.3 us a game instead of 0.9.
        """
        import numpy as np

        from arena.batch.beliefs import Seats
        from arena.batch.learner import find_gains, number_of
        from arena.batch.replay import find_take_gains

        seats, rules = Seats(games), self.rules
        taken, other_taken = seats.taken
        number = number_of(rules)
        own, other = seats.own, seats.other
        mine, theirs = seats.piles(own=other_taken)
        cards = np.array([seats.take, seats.newest(rules.take_size - 1)], number)
        owned, facing = np.array([own, mine], number), np.array([other, theirs], number)
        take, before = find_take_gains(owned, facing, cards, rules)
        owned += cards
        play = find_gains(owned[1], facing[1], rules) + before
        take_wins, play_wins = owned[:, CITY] >= rules.cities_needed
        take[take_wins] = CITY_WIN
        play[:, play_wins] = CITY_WIN
        play[CITY, owned[1, CITY] + 1 >= rules.cities_needed] = CITY_WIN
        play = np.where(other_taken, np.where(taken, 0, play), np.minimum(0, -play))
        return np.concatenate([play, [take - self.patience * seats.cards[0]]], dtype=np.float64).T


bot = Greedy
