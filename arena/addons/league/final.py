"""End the submissions to a league, and play its final: a round robin with equal games for all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from arena.addons.league.league import League
from arena.addons.league.league_games import find_entry, make_tournament
from arena.addons.league.league_settings import make_folder
from arena.addons.league.league_tables import ACTIVE, write_time
from arena.errors import InputError, arena_command
from arena.runs.run import Outcome, Playing
from arena.store.folder import REPORT_HTML
from arena.tournament.config_keys import MOST_SEED
from arena.tournament.tournament import Tournament
from engine.seeds import stream

FINALS: Final = "finals"
"""The folder of the finals, in the league's folder: a run for each time that it was frozen."""

_LEAST = 2  # bots


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
    if len(versions) < _LEAST:
        raise InputError(f"{league.folder}: a final needs two bots that play")
    settings = league.settings
    when = since[:19].replace(":", "")
    seed = stream(settings.seed, "final", since).randrange(MOST_SEED + 1)
    entries = [find_entry(league.folder, one, settings) for one in versions]
    tournament = make_tournament(settings, f"final-{when}", seed, entries, pairs=pairs)
    return tournament, league.folder / FINALS / when


def play_final(league: League, pairs: int, how: Playing) -> tuple[Outcome, Path]:
    """Play what is left of the final, and return its outcome and its report.

    Raises InputError, and what a run raises.
    """
    tournament, folder = make_final(league, pairs)
    make_folder(league.folder / FINALS)
    outcome = replace(how, out=folder).play(tournament)
    return outcome, folder / REPORT_HTML
