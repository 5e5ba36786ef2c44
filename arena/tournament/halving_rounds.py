"""Halve the settings of a bot, round by round, until one is left.

Source: Karnin, Koren and Somekh, Almost Optimal Exploration in Multi-Armed Bandits, 2013.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from arena.errors import counted
from arena.tournament.rounds import Counts, Rounds
from arena.tournament.schedule import PairRange
from arena.tournament.stop import Halving
from arena.tournament.tournament import Tournament


def count_halvings(settings: int) -> int:
    """Return how often so many settings are halved until one is left.

    >>> [count_halvings(settings) for settings in (2, 21, 32, 33)]
    [1, 5, 5, 6]
    """
    return (settings - 1).bit_length()


class HalvingRounds(Rounds):
    """The rounds of a paired gauntlet whose challengers are settings and, last, the bot as it is.

    Those that are left, and the bot as it is, meet the panel on the same new deals; the better half
    by all games so far, without the bots that are out, stays. Every round has about as many pairs.
    """

    def __init__(self, tournament: Tournament, stop: Halving) -> None:
        self.tournament = tournament
        self.settings = len(tournament.entries) - tournament.panel - 1
        self.most = count_halvings(self.settings)
        self.deals = stop.budget // tournament.panel // self.most

    def next(
        self, number: int, counts: Mapping[int, Counts], out: Collection[str]
    ) -> list[PairRange]:
        """Return the pairs of the next round, none if one setting is left."""
        left = self._find_left(counts, out)
        if not left or (number and len(left) == 1):
            return []
        as_it_is = self.settings
        first = self._count(as_it_is, counts)
        end = first + max(1, self.deals // (len(left) + 1))
        pairings = [one for bot in sorted([*left, as_it_is]) for one in self._pairings(bot)]
        return [PairRange(one, first, end) for one in pairings]

    def status(self, counts: Mapping[int, Counts], out: Collection[str] = ()) -> str:
        """Return how many settings are left."""
        return f"{counted(len(self._find_left(counts, out)), 'setting')} left"

    def _find_left(self, counts: Mapping[int, Counts], out: Collection[str]) -> list[int]:
        """Return the numbers of the settings that stay after the rounds so far, the best first."""
        labels, pairings = self.tournament.labels, self.tournament.pairings
        played = {bot: self._count(bot, counts) for bot in range(self.settings)}
        most = max(played.values())
        left = [bot for bot in played if played[bot] == most]
        sound = [bot for bot in left if labels[bot] not in out]
        if not most:
            return sound
        scores = {
            bot: sum(
                place * pairs
                for pairing in self._pairings(bot)
                if pairings[pairing].opponent not in out
                for place, pairs in enumerate(counts[pairing])
            )
            for bot in sound
        }
        return sorted(sound, key=lambda bot: (-scores[bot], bot))[: (len(left) + 1) // 2]

    def _pairings(self, bot: int) -> range:
        panel = self.tournament.panel
        return range(panel * bot, panel * (bot + 1))

    def _count(self, bot: int, counts: Mapping[int, Counts]) -> int:
        """Return how many pairs a challenger has played against each opponent."""
        return sum(counts.get(self._pairings(bot).start, ()))
