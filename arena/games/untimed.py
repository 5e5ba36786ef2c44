"""Untimed: a game between bots of this process, with one reading of the clock."""

from __future__ import annotations

from collections.abc import Sequence

from arena.entries.entry import Entry
from engine.play import Draw, play, setup
from engine.state import State
from engine.strategy import Clock, Spent


def play_untimed(
    state: State, entries: Sequence[Entry], draw: Draw, clock: Clock
) -> tuple[Spent, bool]:
    """Play a game to its end, in place; return the time spent, and whether all went well in time.

    The entries are in the order of the seats. What a bot raises is not told.
    """
    clock.start()
    went_well = True
    try:
        strategies = [
            entry.create(setup(luck, seat, state.rules, clock))
            for seat, entry, luck in zip((0, 1), entries, draw.lucks, strict=True)
        ]
        play(state, strategies)
    except BaseException:  # a bot may raise anything, SystemExit too
        went_well = False
    spent, in_time = clock.stop()
    return spent, went_well and in_time
