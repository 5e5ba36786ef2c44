"""Goes for the three cities, and denies them to the opponent.

Source: R11, the city win; the rest is `majority`.
"""

from typing import Any

from bots.majority import Majority, Promise
from engine import CITY, Pack, Rules, Setup, count


class Hunt(Promise):
    """The promise of piles when each city counts for `city` points more."""

    def __init__(self, rules: Rules, city: float) -> None:
        super().__init__(rules)
        self.city = city

    def pile_worth(self, pile: Pack) -> float:
        """Return the worth of a pile without regard to the other one."""
        return super().pile_worth(pile) + self.city * count(pile, CITY)

    def pile_worths(self, piles: Any) -> Any:
        """Return `pile_worth` for an array of piles (kind, ...)."""
        return super().pile_worths(piles) + self.city * piles[CITY]


class CityHunter(Majority):
    """Plays as `majority` does, with more weight on cities: its own and the opponent's.

    `city` is the points that each city is worth beyond its part in a win; `patience` is how much
    more a take must bring for every card still in the hand.
    """

    def __init__(self, setup: Setup, city: float = 3.2, patience: float = 7.2) -> None:
        super().__init__(setup, patience)
        self.promise = Hunt(setup.rules, city)


bot = CityHunter
