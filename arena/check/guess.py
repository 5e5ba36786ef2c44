"""Guess: a first rating, from games against the bots of the ladder."""

from __future__ import annotations

import time
from collections import Counter

from arena.check.item import Item, failed
from arena.check.table import Candidate, Guilty, Table
from arena.entries.entry import installed
from arena.entries.ladder import ELO, between
from arena.statistics.ratings import PairScores, Rating, fit_one
from arena.tournament.chunk import Played

NAME = "rating"
_TOO_FAR = 100.0  # Elo points above the bot's interval: the strong anchors are slow
_FREE_SECONDS = 0.5  # added to each anchor's time, so that the first games decide little


class Ladder:
    """A table at which the bots of the ladder sit; what the bot has scored against each."""

    def __init__(self, candidate: Candidate) -> None:
        there = {name for name, _ in installed()}
        self.names = [name for name in ELO if name in there]
        self.table = Table(candidate, opponents=self.names)
        self.scores = [PairScores(len(self.names), n, 0, 0.0, 0.0) for n in range(len(self.names))]
        self.seconds = [_FREE_SECONDS for _ in self.names]

    def play(self, anchor: int) -> None:
        """Play some pairs against one of them."""
        begun = time.monotonic()
        self._count(anchor, self.table.play(anchor, self._pairs(anchor)))
        self.seconds[anchor] += time.monotonic() - begun

    def _pairs(self, anchor: int) -> int:
        """Return how many pairs take half a second; one where nothing is known of an anchor."""
        known = self.scores[anchor].pairs
        return min(self.table.pairs_at_once(), max(1, int(known / 2 / self.seconds[anchor])))

    def _count(self, anchor: int, played: Played) -> None:
        by_pair: Counter[int] = Counter()  # in half points
        for pair, _, winner, *_ in played.results:
            by_pair[pair] += 1 if winner is None else 2 * (winner == 0)
        scores = [half / 2 for half in by_pair.values()]
        _, opponent, pairs, total, squares = self.scores[anchor]
        self.scores[anchor] = PairScores(
            len(self.names),
            opponent,
            pairs + len(scores),
            total + sum(scores),
            squares + sum(score**2 for score in scores),
        )

    def rating(self) -> Rating:
        """Return the bot's rating, the others' being what they are."""
        met = [score for score in self.scores if score.pairs]
        return fit_one([ELO[name] for name in self.names], met)

    def in_reach(self, anchor: int) -> bool:
        """Return whether games against an anchor would tell anything: not if all is lost."""
        played = any(score.pairs for score in self.scores)
        return not played or self.rating().high + _TOO_FAR > ELO[self.names[anchor]]

    def next(self) -> int:
        """Return whose games tell most for the time they take."""
        elo = self.rating().elo

        def worth(anchor: int) -> float:
            share = 1 / (1 + 10 ** ((ELO[self.names[anchor]] - elo) / 400))
            return share * (1 - share) / self.seconds[anchor]

        return max(range(len(self.names)), key=worth)

    def told(self) -> Item:
        """Return the item."""
        elo, low, high = self.rating()
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
            message = f"about {elo:.0f} ({low:.0f}..{high:.0f}), {between(elo)}"
            message += f": a first guess from {games} games"
        return Item(NAME, "ok", message, figures=figures)


def guessed(candidate: Candidate, games: int, seconds: float) -> Item:
    """Play games against the ladder, about so many or until the time is up, and rate the bot."""
    ladder = Ladder(candidate)
    deadline = time.monotonic() + seconds
    try:
        for anchor in range(len(ladder.names)):
            if anchor == 0 or (time.monotonic() < deadline and ladder.in_reach(anchor)):
                ladder.play(anchor)
        while len(ladder.table.actions) < games and time.monotonic() < deadline:
            ladder.play(ladder.next())
    except Guilty as guilty:
        where = f"at ply {guilty.fault.ply} against {ladder.names[guilty.number.opponent]}"
        return failed(NAME, guilty.fault, where, guilty.command)
    finally:
        ladder.table.close()
    return ladder.told()
