"""Decide whose fault it was where a bot's process ended, which may have come from outside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from arena.executors.log import logger
from arena.games.match import Finished
from arena.tournament.schedule import Fixture

_SURE = 2  # ends at one decision, the first of them perhaps with other games in play
_SURE_IF_KILLED = 4  # as many kills from outside hardly hit one decision, or one start
_TRIALS = 6  # times that a game is played whose process ends at another decision each time
_MOST_ENDED = 20  # times that the end of a bot's process may come from outside, in one worker


class Doubts:
    """Decides whether the end of a process was its bot's fault; counts the ends of each bot."""

    def __init__(self) -> None:
        self._ended = Counter[str]()

    def settle(
        self, fixture: Fixture, before: Finished | None, again: Callable[[], Finished]
    ) -> Finished:
        """Return the end of a game that is played until it is clear whose fault it was.

        It is the bot's fault if its process ends again at the same decision. `before` is how the
        game ended at first, None where that is not known; `again` plays it once more.
        """
        ends = Counter[bytes]()
        for _ in range(_TRIALS):
            if before is not None:
                ends[bytes(before.state.history)] += 1
                if not self._is_forgiven(fixture, before):
                    return before
            finished = again()
            sure = ends[bytes(finished.state.history)] + 1 >= _wanted(finished)
            if not finished.ended or sure:
                return _blame(finished)
            before = finished
        assert before is not None
        return _blame(before)

    def _is_forgiven(self, fixture: Fixture, end: Finished) -> bool:
        """Return whether a process may have been ended from outside once more."""
        label = fixture.labels[end.guilty or 0]
        self._ended[label] += 1
        if self._ended[label] == 1:
            logger.warning("the process of %s has ended; its game is played again", label)
        return self._ended[label] <= _MOST_ENDED


def _wanted(finished: Finished) -> int:
    """Return how many ends at this decision make it the bot's fault."""
    return _SURE_IF_KILLED if finished.ended and finished.ended.killed else _SURE


def _blame(finished: Finished) -> Finished:
    """Return the end of a game with the guilty bot: who was asked while the other one ended."""
    state, fault, guilty, ended = finished
    if fault is None or guilty is None or ended is None or ended.how != "waiting":
        return finished
    message = f"while it was asked, the process of its opponent {fault.message}"
    return Finished(state, fault._replace(message=message, output=""), 1 - guilty)
