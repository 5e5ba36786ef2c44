"""End the submissions to a league, and play its final: a round robin with equal games for all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from arena.addons.league.inbox import find_waiting
from arena.addons.league.league import League
from arena.addons.league.league_games import find_entry
from arena.addons.league.league_settings import make_folder
from arena.addons.league.league_tables import ACTIVE, Version, write_time
from arena.errors import InputError, arena_command, counted
from arena.runs.run import Outcome, Playing
from arena.store.folder import REPORT_HTML
from arena.tournament.config_keys import MOST_SEED
from arena.tournament.tournament import Tournament
from engine.seeds import stream

FINALS: Final = "finals"
"""The folder of the finals, in the league's folder: a run for each time that it was frozen."""

PAIRS: Final = 20
"""Pairs of every two bots, by default."""

_LEAST = 2  # bots


class Frozen(NamedTuple):
    """Until when submissions counted, how many bots play the final, and what does not count."""

    until: str
    bots: int
    waiting: int

    @property
    def sentence(self) -> str:
        """What it means, in words."""
        final, left = counted(self.bots, "bot"), counted(self.waiting, "submission")
        until = f"submissions counted until {write_time(self.until)}"
        return f"{until}; in the final: {final}; handed in but not counted: {left}"


def freeze(league: League) -> Frozen:
    """Let no further submission count; raises InputError if the league is frozen already."""
    at = league.now().isoformat(timespec="seconds")
    with league.ledger.changing():
        if since := league.ledger.frozen():
            raise InputError(f"{league.folder}: it is frozen since {write_time(since)}")
        league.ledger.freeze(at, f"submissions counted until {write_time(at)}")
    return Frozen(at, len(_finalists(league)), len(find_waiting(league.folder)))


def thaw(league: League) -> None:
    """Accept submissions again; raises InputError for a league that is not frozen."""
    at = league.now().isoformat(timespec="seconds")
    with league.ledger.changing():
        if not league.ledger.frozen():
            raise InputError(f"{league.folder}: it is not frozen")
        league.ledger.freeze("", f"submissions count again, from {write_time(at)}")


def _finalists(league: League) -> list[Version]:
    return league.ledger.versions("state = ?", ACTIVE)


def make_final(league: League, pairs: int) -> tuple[Tournament, Path]:
    """Return the final of a league that is frozen, and the folder of its run.

    All active bots play equally many pairs, on deals that no round has had: its seed is drawn from
    that of the league, which it does not tell. Raises InputError.
    """
    league.check_fixed()
    since = league.ledger.frozen()
    if not since:
        command = arena_command("league", ["freeze", league.folder])
        why = f"it is not frozen; `{command}` ends the submissions"
        raise InputError(f"{league.folder}: {why}")
    versions = _finalists(league)
    if len(versions) < _LEAST:
        raise InputError(f"{league.folder}: a final needs two bots that play")
    settings = league.settings
    when = since[:19].replace(":", "")
    tournament = Tournament(
        name=f"final-{when}",
        seed=stream(settings.seed, "final", since).randrange(MOST_SEED + 1),
        pairs=pairs,
        entries=[find_entry(league.folder, one, settings) for one in versions],
        rules=settings.game_rules(),
        limits=settings.limits,
        max_faults=settings.max_faults,
    )
    return tournament, league.folder / FINALS / when


def play_final(league: League, pairs: int, how: Playing) -> tuple[Outcome, Path]:
    """Play what is left of the final, and return its outcome and its report.

    Raises InputError, and what a run raises.
    """
    tournament, folder = make_final(league, pairs)
    make_folder(league.folder / FINALS)
    outcome = replace(how, out=folder).play(tournament)
    return outcome, folder / REPORT_HTML
