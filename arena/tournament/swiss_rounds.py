"""Swiss rounds: opponents are chosen by score, nearer and nearer, and a bot may have the bye.

In each round the order of the bots is cut into groups, in which the upper half meets the lower
half. There are few groups at first, and many at the end. With the nearest opponents in every
round, real bots were rated 20 to 25 % further apart than in the full round robin: the likelihoods
of real results do not follow the Elo at all distances, so the distances have to be like those of a
round robin. bench/STUDIES.md has what the ratings are now.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from fractions import Fraction

from arena.errors import counted
from arena.tournament.leg import Leg
from arena.tournament.rounds import Counts
from arena.tournament.swiss_pairings import choose_bye, count_groups, match
from arena.tournament.tournament import Tournament
from engine.seeds import stream


class SwissRounds:
    """So many rounds, in each of which a pairing plays `pairs` pairs.

    The bots are in the order of their worth: the mean of what they scored in a game and of what
    their opponents did, so that neither a bye nor weak opponents count for or against a bot.
    Bots of equal worth, as all are at first, are in an order drawn from the seed, so that it does
    not matter in which order the run names them.
    """

    def __init__(self, tournament: Tournament) -> None:
        self.labels = tournament.labels
        self.pairs = tournament.pairs
        self.most = tournament.rounds
        places = {label: place for place, label in enumerate(self.labels)}
        self.numbers = [(places[two.bot], places[two.opponent]) for two in tournament.pairings]
        lots = [stream(tournament.seed, "swiss", label).random() for label in self.labels]
        self.drawn = sorted(range(len(lots)), key=lambda bot: (lots[bot], self.labels[bot]))
        self._by_two = {two: number for number, two in enumerate(self.numbers)}

    def next(self, number: int, counts: Mapping[int, Counts], out: Collection[str], /) -> list[Leg]:
        """Return the pairs of this round, none when the run is over or one bot is left."""
        playing = [bot for bot in self.drawn if self.labels[bot] not in out]
        if number >= self.most or len(playing) < 2:
            return []
        met = {self.numbers[pairing]: sum(five) // self.pairs for pairing, five in counts.items()}
        worth = self.worth(counts)
        order = sorted(playing, key=lambda bot: -worth[bot])
        rounds: Counter[int] = Counter()
        for two, times in met.items():
            rounds.update(dict.fromkeys(two, times))
        bye = choose_bye(order, {bot: number - rounds[bot] for bot in playing})
        groups = count_groups(number, self.most)
        found = match([bot for bot in order if bot != bye], met, groups)
        legs = []
        for two in found:
            pairing = self._by_two[min(two), max(two)]
            first = sum(counts.get(pairing, ()))
            legs.append(Leg(pairing, first, first + self.pairs))
        return sorted(legs)

    def worth(self, counts: Mapping[int, Counts]) -> list[Fraction]:
        """Return the worth of each bot, exactly, and so the same on every machine."""
        share = self._shares(counts)
        opponents: list[list[tuple[int, int]]] = [[] for _ in self.labels]
        for pairing, five in counts.items():
            bot, opponent = self.numbers[pairing]
            opponents[bot].append((opponent, sum(five)))
            opponents[opponent].append((bot, sum(five)))
        worth = []
        for bot, met in enumerate(opponents):
            pairs = sum(times for _, times in met)
            theirs = sum((share[other] * times for other, times in met), Fraction(0))
            worth.append((share[bot] + theirs / pairs) / 2 if pairs else Fraction(1, 2))
        return worth

    def _shares(self, counts: Mapping[int, Counts]) -> list[Fraction]:
        """Return each bot's share of the points of its games, a half before its first one."""
        points: Counter[int] = Counter()
        most: Counter[int] = Counter()
        for pairing, five in counts.items():
            bot, opponent = self.numbers[pairing]
            quarters = sum(score * count for score, count in enumerate(five))
            whole = 4 * sum(five)
            points.update({bot: quarters, opponent: whole - quarters})
            most.update({bot: whole, opponent: whole})
        return [
            Fraction(points[bot], most[bot]) if most[bot] else Fraction(1, 2)
            for bot in range(len(self.labels))
        ]

    def status(self, counts: Mapping[int, Counts], _out: Collection[str] = (), /) -> str:
        """Return how many rounds have been played."""
        played = sum(map(sum, counts.values()))
        return f"{counted(played, 'pair')} in the rounds before" if played else ""
