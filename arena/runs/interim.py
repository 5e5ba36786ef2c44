"""Interim: the standings so far of a run that is under way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from arena.insight.unrated import find_unrated
from arena.statistics.counts import Counts, PairTotals
from arena.tournament.anchor import Anchor
from arena.tournament.chunk import Played
from arena.tournament.schedule import Pairing

_MOST_FITTED = 5000  # pairings: a fit of a hundred bots takes a tenth of a second


class Interim:
    """Counts games as they come; the ratings are fitted when they are asked for."""

    def __init__(self, pairings: Sequence[Pairing], anchor: Anchor | None = None) -> None:
        self.pairings = pairings
        self.anchor = anchor
        self.wins: Counter[tuple[str, str]] = Counter()  # by label and win type
        self.forfeits: Counter[str] = Counter()
        self.draws: Counter[str] = Counter()
        self.finished: Counter[int] = Counter()  # games without a fault, by pairing
        self.games: Counter[str] = Counter()
        self.totals: dict[int, PairTotals] = {}

    def begin(self, counts: Counts) -> None:
        """Count the games that an earlier run has played."""
        for tally in counts.tallies:
            self._count(tally.pairing, tally.winner, tally.win_type, tally.games)
        self.totals = {of_pairing.pairing: of_pairing for of_pairing in counts.played}

    def add(self, played: Played) -> None:
        """Count the games of a chunk, which come in the order of pair and seat."""
        number = played.chunk.pairing
        pairs, total, squares = self.totals.get(number, PairTotals(number, 0, 0.0, 0.0))[1:4]
        scores = []
        for game in played.results:
            self._count(number, game.winner, game.win_type, 1)
            scores.append(game.score)
        of_pairs = [one + two for one, two in zip(scores[::2], scores[1::2], strict=True)]
        squares += sum(score * score for score in of_pairs)
        total += sum(of_pairs)
        self.totals[number] = PairTotals(number, pairs + len(of_pairs), total, squares)

    def _count(self, number: int, winner: int | None, win_type: str, games: int) -> None:
        pairing = self.pairings[number]
        self.games.update(dict.fromkeys(pairing, games))
        self.finished[number] += games if win_type != "forfeit" else 0
        if winner is None:
            self.draws.update(dict.fromkeys(pairing, games))
            return
        self.wins[pairing[winner], win_type] += games
        if win_type == "forfeit":
            self.forfeits[pairing[1 - winner]] += games

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the standings so far, of the bots that have played, best first.

        They have the columns that `results.summary` shows. Bots without a rating, and all
        bots where there are too many to be rated in between, are in the order of their score.
        """
        unrated = find_unrated(self.pairings, self.finished)
        elo = self._rate([label for label in self.games if label not in unrated])
        rows = [self._row(label, games, elo.get(label)) for label, games in self.games.items()]
        rows.sort(key=lambda row: (row["elo"] is None, -(row["elo"] or row["score"]), row["bot"]))
        return [row | {"rank": rank} for rank, row in enumerate(rows, 1)]

    def _rate(self, labels: Sequence[str]) -> dict[str, Sequence[float | None]]:
        """Return the cells of these bots' ratings, by label."""
        if not labels or len(self.totals) > _MOST_FITTED:
            return {}
        from arena.statistics.ratings import PairScores, fit

        numbers = {label: number for number, label in enumerate(labels)}
        scores = [
            PairScores(numbers[bot], numbers[opponent], *totals[1:4])
            for totals in self.totals.values()
            for bot, opponent in [self.pairings[totals.pairing]]
            if bot in numbers and opponent in numbers
        ]
        anchor = None
        if self.anchor and self.anchor.bot in numbers:
            anchor = numbers[self.anchor.bot], self.anchor.elo
        found = fit(len(labels), scores, anchor)
        return {label: rating.cells for label, rating in zip(labels, found, strict=True)}

    def _row(self, label: str, games: int, elo: Sequence[float | None] | None) -> dict[str, Any]:
        wins = {kind: self.wins[label, kind] for kind in ("city", "points", "tiebreak", "forfeit")}
        rating, low, high = elo or (None, None, None)
        return {
            "bot": label,
            "elo": rating,
            "elo_low": low,
            "elo_high": high,
            "games": games,
            "score": (sum(wins.values()) + self.draws[label] / 2) / games,
            "forfeits": self.forfeits[label],
            **{f"{kind}_wins": count for kind, count in wins.items()},
        }
