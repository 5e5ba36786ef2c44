"""Opponent: the bot that a person plays against: it loads, and it has a process of its own."""

from __future__ import annotations

from dataclasses import replace

from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.lanes.limits import Limits
from arena.lanes.probe import find_problems
from engine import STANDARD


def find_opponent(person: str, spec: str, lane: str | None = None) -> Entry:
    """Return the bot of a spec, in a process of its own: it must not print on the board.

    Ctrl-C does not reach it there, either. Raises InputError for a bot that does not load, and
    for one with the person's label.
    """
    if lane == "inproc":
        raise InputError("--lane inproc: against a person a bot plays in a process or a jail")
    entry = resolve(spec, lane=lane)
    if entry.label == person:
        raise InputError(
            f"bot {spec!r}: has the person's label {person!r}; name one of them, as in Ann=human"
        )
    return start_apart(entry)


def start_apart(entry: Entry) -> Entry:
    """Return a bot in a process of its own; raises InputError if it does not load."""
    if entry.lane == "inproc":
        entry = replace(entry, lane="process")
    for problem in find_problems([entry], STANDARD, Limits()):
        raise InputError(problem)
    return entry
