"""Choose how many games a bot is asked about at once, by how long its decisions took."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from arena.games.timing import Timing
from arena.tournament.tournament import Tournament

_CHEAP = 100e-6  # seconds: a decision that takes less is timed in one pair of many only
_TIMED = 32  # every so many pairs, the decisions of cheap bots are timed
_QUICK = 2e-3  # seconds: asked about one game at a time, slower bots lose less than 5 %
_KNOWN = 100  # decisions, before anything is said of a bot
_MOST_SHARE = 0.25  # of a limit that the answers to one message may be expected to take


class Pace:
    """What a worker knows of the time that its bots take."""

    def __init__(self, tournament: Tournament) -> None:
        self.tournament = tournament
        self._known = {label: Timing() for label in tournament.labels}

    def learn(self, timings: Mapping[str, Timing]) -> None:
        """Take note of decisions, by label."""
        for label, timing in timings.items():
            self._known[label].merge(timing)

    def needs_no_clock(self, label: str, pair: int) -> bool:
        """Return whether a bot's decisions are so cheap that those of this pair are not timed."""
        known = self._known[label]
        cheap = known.decisions > _KNOWN and known.wall.mean < _CHEAP
        return cheap and pair % _TIMED > 0

    def most_games(self, label: str, most: int) -> int:
        """Return about how many games a bot may be asked about at once, of so many it can hold.

        All answers together must be in time for any one of them. A program decides by itself.
        """
        if self.tournament.by_label[label].command:
            return most
        known = self._known[label]
        seconds = known.wall.mean
        if known.decisions < _KNOWN or seconds > _QUICK:
            return 1
        limits = self.tournament.limits
        of_game = inf if limits.game is None else limits.game / self.tournament.rules.game_plies
        share = _MOST_SHARE * min(limits.decision, of_game)
        return max(1, min(most, int(share / max(seconds, 1e-9))))
