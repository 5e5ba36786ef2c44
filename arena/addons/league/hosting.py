"""Host a league: take what was handed in, play a round, write the pages, and begin again.

At the deadline, end the submissions, and play the final: a round robin with equal games for all.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Final, NamedTuple

from arena.addons.league.inbox import NOT_YET, find_waiting, take_all, why_waiting
from arena.addons.league.league import LEAST, League, RoundResult
from arena.addons.league.league_settings import make_folder
from arena.addons.league.league_site import write_site
from arena.addons.league.ledger import ACTIVE, Version, write_time
from arena.addons.league.sources import find_entry
from arena.entries.entry import Entry
from arena.errors import Exhausted, InputError, Unreachable, arena_command, counted, escape
from arena.executors.local import Executor
from arena.executors.log import QUIET
from arena.runs.run import Outcome, Playing
from arena.store.folder import REPORT_HTML
from arena.tournament.config_keys import MOST_SEED
from arena.tournament.tournament import Tournament
from engine.seeds import stream

FINALS: Final = "finals"
"""The folder of the finals, in the league's folder: a run for each time that it was frozen."""

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
                result = _play(league, executor, tell_new)
        except Exhausted as error:
            tell_new(f"{_NO_ROUND}: {error}")
        if result:
            played, games = played + 1, games + 2 * result.pairs
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


def _play(league: League, executor: Executor, tell: Callable[[str], object]) -> RoundResult | None:
    """Play a round, and report it, or that there is none."""
    result = league.play_round(executor, QUIET)
    if not result:
        tell(f"{_NO_ROUND}: nobody has an opponent")
        return None
    tell(f"round {result.number:,}: {2 * result.pairs:,} games")
    for line in [
        *(f"suspended: {name}" for name in result.suspended),
        *(f"{_AWAY}{why}" for why in result.away),
    ]:
        tell(line)
    return result


def _once(tell: Callable[[str], object]) -> Callable[[str], None]:
    """Return a function that reports each reason why submissions or rounds wait only once."""
    told: set[str] = set()

    def tell_new(line: str) -> None:
        if line not in told:
            tell(line)
        if line.startswith((NOT_YET, _NO_ROUND, _AWAY)):
            told.add(line)

    return tell_new


def freeze(league: League, *, undo: bool = False) -> None:
    """Let no further submission count, or all of them again; raises InputError if it is so."""
    with league.ledger.changing():
        since = league.ledger.frozen()
        if bool(since) != undo:
            state = f"frozen since {write_time(since)}" if since else "not frozen"
            raise InputError(f"{league.folder}: it is {state}")
        league.ledger.freeze("" if undo else league.desk.time())


def make_final(league: League, pairs: int) -> tuple[Tournament, Path]:
    """Return the final of a league that is frozen, and the folder of its run.

    All active bots play equally many pairs, on deals that no round has had: its seed is drawn from
    that of the league, and stays secret. Raises InputError.
    """
    since = league.ledger.frozen()
    if not since:
        command = arena_command("league", ["freeze", league.folder])
        why = f"it is not frozen; `{command}` ends the submissions"
        raise InputError(f"{league.folder}: {why}")
    versions = league.ledger.versions("state = ?", ACTIVE)
    if len(versions) < LEAST:
        raise InputError(f"{league.folder}: a final needs two bots that play")
    settings = league.settings
    when = since[:19].replace(":", "")
    seed = stream(settings.seed, "final", since).randrange(MOST_SEED + 1)
    entries = [_find_finalist(league, one) for one in versions]
    tournament = settings.tournament(f"final-{when}", seed, pairs, entries)
    return tournament, league.folder / FINALS / when


def _find_finalist(league: League, version: Version) -> Entry:
    """Return the entry of a version; raises InputError, and says how a final does without it."""
    try:
        return find_entry(league.folder, version, league.settings)
    except Unreachable as error:
        command = arena_command("league", ["withdraw", league.folder, version.name])
        raise InputError(f"{error}; `{command}` leaves it out") from None


def play_final(league: League, pairs: int, how: Playing) -> tuple[Outcome, Path]:
    """Play what is left of the final, and return its outcome and its report.

    Raises InputError, and what a run raises.
    """
    tournament, folder = make_final(league, pairs)
    make_folder(league.folder / FINALS)
    outcome = replace(how, out=folder).play(tournament)
    return outcome, folder / REPORT_HTML
