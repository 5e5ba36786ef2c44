"""Report a run that is under way: the standings so far, and each bot's first fault."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from arena.entries.beside import explain_missing
from arena.executors.log import logger
from arena.games.match import GameResult
from arena.insight.unrated import find_unrated
from arena.statistics.counts import Counts, PairTotals
from arena.store.command import replay_commands
from arena.tournament.chunk import Played
from arena.tournament.schedule import Fixture, Pairing
from arena.tournament.tournament import Anchor, Tournament


class FirstFaults:
    """Tells the first fault of each bot in this run: what, where, and how to see it again."""

    def __init__(self, tournament: Tournament) -> None:
        self.pairings = tournament.pairings
        self.targets = {entry.label: entry.target for entry in tournament.entries}
        self.command = replay_commands(tournament)
        self._told: set[str] = set()

    def tell(self, pairing: int, result: GameResult) -> None:
        """Log a game of this pairing that a fault has ended, if its bot had none before."""
        label = self.pairings[pairing][result.winner == 0]
        if label in self._told or result.fault is None:
            return
        self._told.add(label)
        kind, message, traceback, _ = result.fault
        message += explain_missing(self.targets[label], message)
        logger.warning("%s forfeits a game (%s, ply %d): %s", label, kind, result.plies, message)
        if place := find_place(traceback):
            logger.warning("  %s", place)
        fixture = Fixture(self.pairings[pairing], result.pair, result.seat)
        logger.warning("  to see it again: %s", self.command(fixture))


def find_place(traceback: str) -> str:
    """Return the place of a traceback's last frame, with its line of code; "" without one.

    >>> lines = ["Traceback (most recent call last):", '  File "x.py", line 3, in choose']
    >>> find_place("\\n".join([*lines, "    return {}[1]", "           ~~^^^", "KeyError: 1"]))
    'File "x.py", line 3, in choose: return {}[1]'
    """
    lines = traceback.splitlines()
    places = [number for number, line in enumerate(lines) if line.startswith('  File "')]
    if not places:
        return ""
    place, *rest = lines[places[-1] :]
    code = f": {rest[0].strip()}" if rest and rest[0].startswith("    ") else ""
    return place.strip() + code


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
