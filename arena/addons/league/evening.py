"""Host a league: take what was handed in, play a round, write the pages, and begin again."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from itertools import count
from typing import Final, NamedTuple

from arena.addons.league.inbox import NOT_YET, find_waiting, take_all, why_waiting
from arena.addons.league.league import League
from arena.addons.league.league_site import write_site
from arena.errors import Exhausted, counted, escape
from arena.executors.local import Executor
from arena.executors.log import QUIET

_NO_ROUND: Final = "no round was played"
_AWAY: Final = "did not play: "
_PAUSE = 1.0  # seconds between two looks at the inbox while no game can be played


class Hosted(NamedTuple):
    """The result of an evening: submissions answered, rounds, games, and what waits and why."""

    accepted: int
    refused: int
    rounds: int
    games: int
    waiting: list[str]

    @property
    def lines(self) -> list[str]:
        """The summary in words, after a line for each of those that wait."""
        done = f"{self.accepted:,} accepted, {self.refused:,} refused, {len(self.waiting):,} left"
        played = f"{counted(self.rounds, 'round')}, {counted(self.games, 'game')}"
        return [*self.waiting, f"{done}; {played}"]


def host(
    league: League,
    executor: Executor,
    tell: Callable[[str], object],
    *,
    rests: bool = False,
    rounds: int | None = None,
    checks: int = 1,
) -> Hosted:
    """Go on until the process is stopped, or take all that was handed in for each of the `rounds`.

    The callback receives a line for each event. With `rests`, no round is played while all ratings
    are within the target. So many `checks` run at a time. Call it inside `League.playing`.
    """
    tell_new, answers = _once(tell), Counter[str]()

    def tell_answer(line: str) -> None:
        answers[line.partition(":")[0]] += 1
        tell_new(line)

    played, games = 0, 0
    for number in count(1):
        taken, result = list[str](), None
        try:
            taken += take_all(league, tell_answer, checks=checks, whole=rounds is not None)
            if not (rests and league.number and league.is_precise()):
                result = league.play_round(executor, QUIET)
        except Exhausted as error:
            tell_new(f"{_NO_ROUND}: {error}")
        if result:
            played, games = played + 1, games + 2 * result.pairs
            tell(f"round {result.number:,}: {2 * result.pairs:,} games")
            left = [f"suspended: {name}" for name in result.suspended]
            for line in [*left, *(f"{_AWAY}{why}" for why in result.away)]:
                tell_new(line)
        if result or taken or number == 1:  # a kill may have left older pages
            write_site(league)
        if number == rounds:
            break
        if not result:
            time.sleep(_PAUSE)
    waiting = [
        f"waits: {escape(one.place.name)}: {why_waiting(league, one) or NOT_YET}"
        for one in find_waiting(league.folder)
    ]
    return Hosted(answers["accepted"], answers["refused"], played, games, waiting)


def _once(tell: Callable[[str], object]) -> Callable[[str], None]:
    """Return a function that reports each reason why submissions or rounds wait only once."""
    told: set[str] = set()

    def tell_new(line: str) -> None:
        if line not in told:
            tell(line)
        if line.startswith((NOT_YET, _NO_ROUND, _AWAY)):
            told.add(line)

    return tell_new
