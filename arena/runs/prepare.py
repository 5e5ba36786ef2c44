"""Check before the first game that the bots of a tournament, or of a person, can play."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

from arena.entries.entry import Entry, check_labels
from arena.entries.resolve import resolve
from arena.errors import ChangedBots, InputError, escape
from arena.lanes.limits import Limits
from arena.lanes.probe import find_problems, probe
from arena.store.glance import find_changed
from arena.tournament.keys import MOST_BOTS
from arena.tournament.tournament import Tournament
from engine import STANDARD, Rules


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
    for entry in tournament.entries:
        if entry.note:
            logging.getLogger("arena").warning("warning: %s", describe_note(entry))
    entries = [entry for entry in tournament.entries if not entry.is_held]
    problems = [*probe(entries, tournament.rules, tournament.limits)]
    for problem in problems:
        if problem.entry.is_code:
            error = InputError(str(problem))
            error.add_note(problem.fault.traceback)
            raise error
    return [str(problem) for problem in problems]


def describe_note(entry: Entry) -> str:
    """Return what to do about a command of whose folder only parts are copied."""
    return (
        f"bot {escape(entry.target)!r}: only the files that it names or needs: are copied: "
        f"{entry.home or 'its folder'}: {entry.note}; give it a folder of its own"
    )


def find_opponent(
    person: str, spec: str, lane: str | None = None, rules: Rules = STANDARD
) -> Entry:
    """Return the bot of a spec, in a process of its own: it must not print on the board.

    Ctrl-C does not reach it there, either. Raises InputError for a bot that does not load under
    the rules, and for one with the person's label.
    """
    if lane == "inproc":
        raise InputError("--lane inproc: against a person a bot plays in a process or a jail")
    entry = resolve(spec, lane=lane)
    if entry.label == person:
        raise InputError(
            f"bot {spec!r}: has the person's label {person!r}; name one of them, as in Ann=human"
        )
    return start_apart(entry, rules)


def start_apart(entry: Entry, rules: Rules = STANDARD) -> Entry:
    """Return a bot in a process of its own; raises InputError if it does not load."""
    if entry.lane == "inproc":
        entry = replace(entry, lane="process")
    for problem in find_problems([entry], rules, Limits()):
        raise InputError(problem)
    return entry
