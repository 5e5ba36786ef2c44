"""Run a league until it is stopped: take submissions, play a round, write the pages, repeat."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from arena.executors.contract import Executor
from arena.executors.log import QUIET
from arena.leagues.inbox import take_all
from arena.leagues.league import League
from arena.leagues.league_site import write_site

_PAUSE = 1.0  # seconds between two checks of the inbox while no game can be played


def serve(
    league: League,
    executor: Executor,
    tell: Callable[[str], object],
    *,
    rests: bool = False,
    rounds: int | None = None,
) -> None:
    """Play until the process is stopped, or for a number of `rounds`.

    The callback receives a line for each event. With `rests`, no round is played while all ratings
    are within the target. Call it inside `League.playing`.
    """
    names = _of_last_round(league)
    while rounds is None or rounds > 0:
        names = {*names, *take_all(league, tell)}
        result = None
        if not (rests and league.number and league.is_precise()):
            result = league.play_round(executor, shown=QUIET)
        if result:
            tell(f"round {result.number:,}: {2 * result.pairs:,} games")
            for name in result.suspended:
                tell(f"suspended: {name}")
            names = {*names, *_of_last_round(league), *result.suspended}
        if result or names:
            write_site(league, _known(league, names))
            names = set()
        if not result:
            time.sleep(_PAUSE)
        rounds = None if rounds is None else rounds - 1


def _of_last_round(league: League) -> set[str]:
    """Return the names that played in the last finished round."""
    if not league.number:
        return set()
    return {name for meeting in league.ledger.plan(league.number).meetings for name in meeting[:2]}


def _known(league: League, names: Iterable[str]) -> list[str]:
    """Return the names that have a version, sorted."""
    there = {version.name for version in league.ledger.versions()}
    return sorted(there & {*names})
