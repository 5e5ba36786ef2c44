"""Goes for the three cities, and denies them to the opponent.

Source: R11, the city win; the rest is `majority`.
"""

from bots.majority import Majority, Promise
from engine import Setup


class CityHunter(Majority):
    """Plays as `majority` does, with more weight on cities: its own and the opponent's.

    `city` is the points that each city is worth beyond its part in a win; `patience` is how much
    more a take must bring for every card still in the hand.
    """

    def __init__(self, setup: Setup, city: float = 3.2, patience: float = 7.2) -> None:
        super().__init__(setup, patience)
        self.promise = Promise(setup.rules, city)


bot = CityHunter
