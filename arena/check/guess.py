"""Estimate a bot's rating from games against bots of known Elo."""

from __future__ import annotations

from collections import Counter

from arena.check.item import Item, fail
from arena.check.sparring import MOST_PAIRS, Candidate, Guilty, Sparring
from arena.entries.catalogue import ELO, place
from arena.entries.resolve import installed
from arena.statistics.intervals import Estimate
from arena.statistics.ratings import PairScores, fit_one
from arena.statistics.spread import USUAL

NAME = "rating"
_TOO_FAR = 100.0  # Elo points above the bot's interval: all games would be lost


class Climb:
    """The bot's games against the bots of the ladder, and its score against each of them."""

    def __init__(self, candidate: Candidate) -> None:
        present = {name for name, _ in installed()}
        self.names = [name for name in ELO if name in present]
        self.sparring = Sparring(candidate, opponents=self.names)
        self.scores = [PairScores(len(self.names), n, 0, 0.0, 0.0) for n in range(len(self.names))]

    def play(self, anchor: int, pairs: int = 1) -> None:
        """Play some pairs against one of them."""
        halves: Counter[int] = Counter()  # half points, by pair
        for result in self.sparring.play(anchor, pairs):
            halves[result.pair] += 1 if result.winner is None else 2 * (result.winner == 0)
        scores = [half / 2 for half in halves.values()]
        _, opponent, before, total, squares = self.scores[anchor]
        self.scores[anchor] = PairScores(
            len(self.names),
            opponent,
            before + len(scores),
            total + sum(scores),
            squares + sum(score**2 for score in scores),
        )

    def missing(self, games: int) -> int:
        """Return how many pairs are missing to so many games."""
        return -(-(games - len(self.sparring.actions)) // 2)

    def rating(self) -> Estimate:
        """Return the bot's rating, with the others' ratings as they are."""
        met = [score for score in self.scores if score.pairs]
        return fit_one([ELO[name] for name in self.names], met, USUAL)

    def in_reach(self, anchor: int) -> bool:
        """Return whether games against an anchor would tell anything, and not all be lost."""
        played = any(score.pairs for score in self.scores)
        return not played or self.rating().high + _TOO_FAR > ELO[self.names[anchor]]

    def next(self) -> int:
        """Return the anchor whose games tell most."""
        elo = self.rating().value

        def worth(anchor: int) -> float:
            share = 1 / (1 + 10 ** ((ELO[self.names[anchor]] - elo) / 400))
            return share * (1 - share)

        return max(range(len(self.names)), key=worth)

    def to_item(self) -> Item:
        """Return the item."""
        elo, low, high, _ = self.rating()
        games = 2 * sum(score.pairs for score in self.scores)
        won = sum(score.total for score in self.scores)
        by_anchor = {
            name: {"games": 2 * score.pairs, "score": score.total}
            for name, score in zip(self.names, self.scores, strict=True)
        }
        figures = {"elo": elo, "low": low, "high": high, "games": games, "against": by_anchor}
        if won == games:
            message = f"above {low:.0f}: won all of {games} games"
        elif won == 0:
            message = f"below {high:.0f}: won none of {games} games"
        else:
            message = f"about {elo:.0f} ({low:.0f}..{high:.0f}), {place(elo)}"
            message += f": a first guess from {games} games"
        return Item(NAME, "ok", message, figures=figures)


def guess_rating(candidate: Candidate, games: int) -> Item:
    """Play so many games against the ladder, and rate the bot."""
    climb = Climb(candidate)
    try:
        for anchor in range(len(climb.names)):
            if climb.missing(games) and climb.in_reach(anchor):
                climb.play(anchor)
        while missing := climb.missing(games):
            climb.play(climb.next(), min(missing, MOST_PAIRS))
    except Guilty as guilty:
        where = f"at ply {guilty.ply} against {guilty.fixture.pairing.opponent}"
        return fail(NAME, guilty.fault, where, guilty.command)
    finally:
        climb.sparring.close()
    return climb.to_item()
