"""Check before the first game that the bots of a tournament, or a person's opponent, can play."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

from arena.entries.entry import Entry, check_labels
from arena.entries.resolve import resolve
from arena.errors import ChangedBots, InputError, escape
from arena.lanes.limits import Limits
from arena.lanes.probe import find_problems, probe
from arena.store.reader import find_changed
from arena.tournament.keys import MOST_BOTS
from arena.tournament.tournament import Tournament
from engine import STANDARD, Rules


def prepare(tournament: Tournament, kept: Path | None = None) -> list[str]:
    """Return a line for each bot that does not load; it would forfeit all its games.

    `kept` is the folder of a run to continue: raises ChangedBots, before any bot is started, if
    other bots have played its games. Raises InputError for too few or too many bots, for two bots
    with the same label, for parameters that a bot does not take and for a lane that this machine
    does not have. Also raises it for a bot that is passed as a class or function and does not load,
    with its traceback as a note.
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
    """Return the advice for a command whose folder is copied only in part."""
    return (
        f"bot {escape(entry.target)!r}: only the files that it names or needs: are copied: "
        f"{entry.home or 'its folder'}: {entry.note}; give it a folder of its own"
    )


def find_opponent(
    person: str, spec: str, lane: str | None = None, rules: Rules = STANDARD
) -> Entry:
    """Return the bot of a spec, in a process of its own, so that it does not print on the board.

    Nor does Ctrl-C reach it there. Raises InputError for a bot that does not load under the rules,
    and for one with the person's label.
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
