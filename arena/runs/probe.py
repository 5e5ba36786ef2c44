"""Probe: whether bots load and take their parameters, before a run begins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from arena.entries.entry import Entry
from arena.entries.signature import problem
from arena.errors import InputError
from arena.lanes.faults import Forfeit, raised
from arena.lanes.launch import hello, launch
from arena.lanes.limits import Limits
from arena.lanes.process import BotProcess
from arena.lanes.scratch import scratch
from engine import Rules


def problems(entries: Sequence[Entry], rules: Rules, limits: Limits) -> Iterator[str]:
    """Yield a line for each bot that does not load; the run can do without it.

    Strangers' code is not run in this process. Raises InputError for parameters that a bot
    does not take, and for a lane that is not to be had.
    """
    for entry in entries:
        try:
            if entry.lane == "inproc" and entry.is_ours:
                _check_here(entry)
            else:
                _check_in_process(entry, rules, limits)
        except Forfeit as forfeit:
            if forfeit.kind == "params":
                raise InputError(f"bot {entry.target!r}: {forfeit.message}") from None
            yield f"bot {entry.target!r}: does not start: {forfeit.message}"


def _check_here(entry: Entry) -> None:
    try:
        bot = entry.bot
    except Exception as error:
        raise raised(error, kind="import") from None
    if said := problem(bot, entry.params):
        raise Forfeit("params", said)


def _check_in_process(entry: Entry, rules: Rules, limits: Limits) -> None:
    with scratch() as folder:
        lane = "process" if entry.lane == "inproc" else entry.lane
        started = launch(replace(entry, lane=lane), limits, folder)
        process = BotProcess(started, hello(entry, rules, check=True), limits, lambda: None)
        try:
            process.start()
        finally:
            process.kill()
