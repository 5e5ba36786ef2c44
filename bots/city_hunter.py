"""Goes for the three cities, and denies them to the opponent."""

from engine import CITY, TAKE, Action, Setup, View, count
from engine.cards import VALUES

GOOD_ENOUGH = 4


class CityHunter:
    """Takes the cities it can reach, and plays its own only when nobody else can take them."""

    def __init__(self, setup: Setup) -> None:
        self.rules = setup.rules

    def choose(self, view: View, /) -> Action:
        """Return the take if it is time for it, else the card that gives away least."""
        if view.legal == (TAKE,) or (TAKE in view.legal and self.wants(view)):
            return TAKE
        if CITY in view.legal and TAKE in view.legal and view.taken[view.opponent]:
            return CITY
        plays = [action for action in view.legal if action != TAKE]
        return min(plays, key=lambda kind: self.danger(view, kind))

    def wants(self, view: View) -> bool:
        """Whether the end of the row is worth the round's only take."""
        end = view.row[-self.rules.take_size :]
        if CITY not in end:
            return sum([VALUES[kind] or 1 for kind in end]) >= GOOD_ENOUGH
        in_reach = end.count(CITY)
        held = max(count(pile, CITY) for pile in view.piles)
        decides = held + in_reach >= self.rules.cities_needed
        slipping = len(view.row) >= self.rules.take_size and end[0] == CITY
        return decides or slipping or not view.taken[view.opponent]

    def danger(self, view: View, kind: Action) -> float:
        """Return what playing a kind gives away: a city most, an own take's losses least."""
        if kind == CITY:
            return 100
        return VALUES[kind] if view.taken[view.seat] else -VALUES[kind]


bot = CityHunter
