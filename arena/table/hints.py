"""Hints: what the strongest bot of the ladder would do with what a person knows."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any, Final

from arena.entries.resolve import resolve
from arena.errors import ArenaError
from arena.games.thinking import asked
from arena.lanes.faults import Forfeit
from arena.records.thoughts import to_data
from engine import View

ADVISER: Final = "champion"
_LUCK = 1  # the seed of the adviser's generator: the same question has the same answer
_one_at_a_time = threading.Lock()


def find_hint(seen: View) -> dict[str, Any]:
    """Return what the adviser plays, and its chance to win after each action that it tried.

    It is asked in a process of its own, within the limits of a game, and it is told the view
    and nothing else. Raises ArenaError if it gives no answer.
    """
    entry = replace(resolve(ADVISER), lane="process")
    try:
        with _one_at_a_time, asked(entry, seen.seat, _LUCK, seen.rules) as bot:
            action = bot.choose(seen)
            thoughts = bot.thoughts(seen) or ()
    except Forfeit as forfeit:
        raise ArenaError(f"{ADVISER} gives no hint: {forfeit.fault.message}") from None
    ply = len(seen.history)
    found = [
        {**thought, "chosen": thought["action"] == action}
        for thought in to_data({ply: thoughts})[str(ply)]
    ]
    return {"by": ADVISER, "action": action, "thoughts": found}
