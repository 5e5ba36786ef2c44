"""Prepare: whether a tournament can be played, before the first game of it."""

from __future__ import annotations

from arena.entries.entry import check_labels
from arena.errors import InputError
from arena.lanes.probe import find_problems
from arena.tournament.bounds import MOST_BOTS
from arena.tournament.tournament import Tournament


def prepare(tournament: Tournament) -> list[str]:
    """Return a line for each bot that does not load; all of its games are forfeits.

    Raises InputError for a tournament of too few or too many bots, for two bots of one label,
    for parameters that a bot does not take and for a lane that this machine does not have.
    """
    count = len(tournament.entries)
    if count < 2:
        raise InputError(f"bots: a tournament needs two, there is {count}")
    if count > MOST_BOTS:
        raise InputError(f"bots: at most {MOST_BOTS:,}, and there are {count:,}")
    check_labels(tournament.entries)
    return list(find_problems(tournament.entries, tournament.rules, tournament.limits))
