"""Play a class or function without source in the process that has it, without workers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import replace
from types import CodeType
from typing import Any

from arena.entries.entry import HELD
from arena.entries.resolve import Code
from arena.executors.log import RunLog
from arena.executors.worker import Worker
from arena.lanes.scratch import scratch_folder
from arena.library.written import own_functions
from arena.tournament.plan import Plan, Played
from arena.tournament.tournament import Tournament
from engine import Setup, Strategy

_things: dict[str, Callable[..., Strategy]] = {}  # by name and hash


def hold(thing: Any) -> Code:
    """Return code that can play a class or function only in this process.

    The code contains a hash of the instructions, so that a different class of the same name is a
    different bot.
    """
    parts = [part for function in own_functions(thing) for part in _parts(function.__code__)]
    name: str = thing.__name__
    key = f"{name} {hashlib.sha256(repr(parts).encode()).hexdigest()}"
    _things[key] = thing
    made = "from arena.library.held import make\n\n\ndef bot(setup, **params):\n    return make"
    return Code(name, HELD + f"{made}({key!r}, setup, params)\n".encode())


def _parts(code: CodeType) -> Iterator[object]:
    """Yield the instructions, names and constants of a function and of those inside it."""
    yield code.co_code, code.co_names, code.co_varnames
    for constant in code.co_consts:
        yield from _parts(constant) if isinstance(constant, CodeType) else [constant]


def make(key: str, setup: Setup, params: dict[str, Any]) -> Strategy:
    """Return a strategy of the bot that is held under a key."""
    return _things[key](setup, **params)


def keep_here(tournament: Tournament) -> Tournament:
    """Return a tournament whose held bots play in the process that plays the games."""
    entries = [replace(one, lane="inproc") if one.is_held else one for one in tournament.entries]
    return replace(tournament, entries=entries) if entries != tournament.entries else tournament


def has_held(tournament: Tournament) -> bool:
    """Return whether a bot is held by this process."""
    return any(entry.is_held for entry in tournament.entries)


def explain_held(tournament: Tournament) -> list[str]:
    """Return a line if bots are held by this process."""
    labels = ", ".join(repr(entry.label) for entry in tournament.entries if entry.is_held)
    why = "all games are played in this process, without workers"
    return [f"bot {labels}: its source cannot be found, so {why}"] if labels else []


class Here:
    """An executor without workers: it plays in this process."""

    def __str__(self) -> str:
        return "this process"

    def play(
        self, plan: Plan, tournament: Tournament, _log: RunLog
    ) -> Generator[Played, None, None]:
        """Play every chunk of the plan, and yield each as soon as it is finished."""
        with scratch_folder() as folder, closing(Worker(tournament, folder)) as worker:
            while chunk := plan.next():
                yield worker.play(chunk)
