"""Hints: what the strongest bot of the ladder would do with what a person knows."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, Final

from arena.entries.resolve import resolve
from arena.errors import ArenaError
from arena.games.players import RemotePlayer
from arena.games.timing import Timing
from arena.lanes.faults import Forfeit
from arena.lanes.limits import Limits
from arena.lanes.messages import Answer, Chance, Choose, Message
from arena.lanes.process import BotProcess, bot_process
from arena.runs.opponent import start_apart
from engine import TAKE, View
from engine.cards import CHARS, UNIT

ADVISER: Final = "champion"
_LUCK = 1  # the seed of the adviser's generators: the same question has the same answer
_FIELDS = [name for name in Choose.__struct_fields__ if name not in ("id", "type")]
_one_at_a_time = threading.Lock()


def find_hint(seen: View, folder: Path) -> dict[str, Any]:
    """Return what the adviser plays, and its chance to win after each action.

    It is asked in a process of its own, in this new folder, within the limits of a game, and
    it is told the view and nothing else. Raises ArenaError if it gives no answer.
    """
    entry = start_apart(resolve(ADVISER))
    limits = Limits()
    with (
        _one_at_a_time,
        bot_process(entry, seen.rules, limits, folder) as process,
    ):
        try:
            process.start()
            player = RemotePlayer(process, 0, seen.seat, _LUCK, limits.clock(), Timing())
            _ask(process, player.begin_message())
            action = _ask(process, player.choose_message(seen)).action
            chances = {
                CHARS[legal]: _chance(process, player, view_after(seen, legal))
                for legal in seen.legal
            }
        except Forfeit as forfeit:
            raise ArenaError(f"{ADVISER} gives no hint: {forfeit.fault.message}") from None
    return {"by": ADVISER, "action": action, "chances": chances}


def view_after(seen: View, action: int) -> View:
    """Return the view after an action of its seat that does not end the round.

    An action that ends a round is forced, and nobody asks about it: its successor holds cards
    that are not known yet.

    >>> seen = View.from_text("0 5678C xy")
    >>> view_after(seen, 0).to_text()
    '0 678C xy 5'
    """
    hand = seen.hand if action == TAKE else seen.hand - UNIT[action]
    before = seen._replace(hand=hand).to_text().split(" ")
    actions = "".join(before[3:]) + CHARS[action]
    return View.from_text(" ".join([*before[:3], actions]), seen.rules)


def _chance(process: BotProcess, player: RemotePlayer, seen: View) -> float | None:
    asked = player.choose_message(seen)
    return _ask(process, Chance(**{name: getattr(asked, name) for name in _FIELDS})).chance


def _ask(process: BotProcess, message: Message) -> Answer:
    (answer,), _ = process.ask([message], Limits().longest)
    if isinstance(answer, Forfeit):
        raise answer
    return answer
