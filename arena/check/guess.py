"""Estimate the rating of a bot from a few games against bots of known Elo."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf

from arena.check.item import Item, fail
from arena.check.sparring import Candidate, Guilty, Sparring
from arena.entries.catalogue import ELO, place
from arena.statistics.intervals import Estimate
from arena.statistics.ratings import PairScores, fit_one
from arena.statistics.wording import write_estimate

NAME = "rating"
_REACH = 400.0  # Elo points: beyond, more than 91 % of the points go to one of the two
_NEAREST = 5  # anchors: with five, the deviation of one pairing counts little


class Climb:
    """A bot's pairs against the anchors (bots of known Elo), evenly over those in reach.

    `elos` are the anchors' ratings. `meet` plays a pair against the anchor with this number and
    returns the bot's score in it, from 0 to 2. `scores` has these scores for each anchor.
    """

    def __init__(self, elos: Mapping[str, float], meet: Callable[[int], float]) -> None:
        self.elos = elos
        self.meet = meet
        self.scores: list[list[float]] = [[] for _ in elos]

    def play(self, pairs: int) -> None:
        """Play pairs, each against one of the anchors in reach with the fewest pairs so far."""
        while pairs > 0:
            reach = self.in_reach()
            fewest = min(len(self.scores[anchor]) for anchor in reach)
            behind = [anchor for anchor in reach if len(self.scores[anchor]) == fewest]
            for anchor in behind[:pairs]:
                self.scores[anchor].append(self.meet(anchor))
            pairs -= len(behind)

    def in_reach(self) -> list[int]:
        """Return the nearest anchors, without those far stronger or far weaker than the bot.

        If no anchor is left, returns all of the nearest.
        """
        rating = self.rating().value
        far = [abs(elo - rating) for elo in self.elos.values()]
        near = sorted(range(len(far)), key=far.__getitem__)[:_NEAREST]
        return [anchor for anchor in near if far[anchor] < _REACH] or near

    def rating(self) -> Estimate:
        """Return the bot's rating; the ratings of the anchors are fixed."""
        sums = [
            PairScores(len(self.elos), anchor, len(own), sum(own), sum(score**2 for score in own))
            for anchor, own in enumerate(self.scores)
        ]
        return fit_one([*self.elos.values()], sums)

    def to_item(self) -> Item:
        """Return the item about the rating."""
        rating = self.rating()
        elo, low, high, _ = rating
        games = 2 * sum(map(len, self.scores))
        won = sum(map(sum, self.scores))
        by_anchor = {
            name: {"games": 2 * len(own), "score": sum(own)}
            for name, own in zip(self.elos, self.scores, strict=True)
        }
        figures = {"elo": elo, "low": low, "high": high, "games": games, "against": by_anchor}
        if won == games:
            message = f"{write_estimate(rating._replace(high=inf))}: won all of {games} games"
        elif won == 0:
            message = f"{write_estimate(rating._replace(low=-inf))}: won none of {games} games"
        else:
            message = f"about {write_estimate(rating, level=True)}, {place(elo)}"
            message += f": a first guess from {games} games"
        return Item(NAME, "ok", message, figures=figures)


def guess_rating(candidate: Candidate, games: int) -> Item:
    """Play games against the ladder, without the bot itself if it is on it, and rate the bot."""
    elos = {name: elo for name, elo in ELO.items() if name != candidate.entry.spec}
    sparring = Sparring(candidate, opponents=[*elos])

    def meet(anchor: int) -> float:
        return sum(game.score for game in sparring.play(anchor))

    climb = Climb(elos, meet)
    try:
        climb.play(-(-games // 2))
    except Guilty as guilty:
        where = f"at ply {guilty.ply} against {guilty.fixture.pairing.opponent}"
        return fail(NAME, guilty.fault, where, guilty.command)
    finally:
        sparring.close()
    return climb.to_item()
