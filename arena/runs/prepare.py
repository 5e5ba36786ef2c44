"""Prepare: whether a tournament can be played, before the first game of it."""

from __future__ import annotations

from pathlib import Path

from arena.entries.entry import check_labels
from arena.errors import ChangedBots, InputError
from arena.lanes.probe import probe
from arena.store.glance import find_changed
from arena.tournament.keys import MOST_BOTS
from arena.tournament.tournament import Tournament


def prepare(tournament: Tournament, kept: Path | None = None) -> list[str]:
    """Return a line for each bot that does not load; all of its games are forfeits.

    `kept` is a folder whose games the run goes on from: ChangedBots is raised, before any bot is
    started, where other bots have played them. Raises InputError for a tournament of too few or
    too many bots, for two bots of one label, for parameters that a bot does not take and for a
    lane that this machine does not have. A class or function of a program that does not load is
    an error, too, with its traceback as a note.
    """
    count = len(tournament.entries)
    if count < 2:
        raise InputError(f"bots: a tournament needs two, there is {count}")
    if count > MOST_BOTS:
        raise InputError(f"bots: at most {MOST_BOTS:,}, and there are {count:,}")
    check_labels(tournament.entries)
    if kept and (changed := find_changed(kept, tournament.manifest()["bots"])):
        raise ChangedBots(kept, changed)
    problems = [*probe(tournament.entries, tournament.rules, tournament.limits)]
    for problem in problems:
        if problem.entry.is_code:
            error = InputError(str(problem))
            error.add_note(problem.fault.traceback)
            raise error
    return [str(problem) for problem in problems]
