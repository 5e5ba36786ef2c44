"""Prepare: whether a tournament can be played, before the first game of it."""

from __future__ import annotations

from arena.entries.entry import check_labels
from arena.errors import InputError
from arena.lanes.probe import probe
from arena.tournament.bounds import MOST_BOTS
from arena.tournament.tournament import Tournament


def prepare(tournament: Tournament) -> list[str]:
    """Return a line for each bot that does not load; all of its games are forfeits.

    Raises InputError for a tournament of too few or too many bots, for two bots of one label,
    for parameters that a bot does not take and for a lane that this machine does not have. A
    class or function of a program that does not load is an error, too, with its traceback as
    a note.
    """
    count = len(tournament.entries)
    if count < 2:
        raise InputError(f"bots: a tournament needs two, there is {count}")
    if count > MOST_BOTS:
        raise InputError(f"bots: at most {MOST_BOTS:,}, and there are {count:,}")
    check_labels(tournament.entries)
    problems = [*probe(tournament.entries, tournament.rules, tournament.limits)]
    for problem in problems:
        if problem.entry.is_code:
            error = InputError(str(problem))
            error.add_note(problem.fault.traceback)
            raise error
    return [str(problem) for problem in problems]
